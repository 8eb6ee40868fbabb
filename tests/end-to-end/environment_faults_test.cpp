// Effects of the environment on an open: LD_LIBRARY_PATH and LD_PRELOAD of a shell, privileges of a program,
// names of the cache's folder.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/end-to-end/fault.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string named(const std::string& soname, const std::string& function) {
  return compile_library("int " + function + "(void) { return 1; }\n", {"-Wl,-soname," + soname});
}

// A repository of one build whose library LD_LIBRARY_PATH offers too.
class EnvironmentFaults : public testing::Test {
 protected:
  Ended open(std::vector<std::string> environment, std::vector<std::string> launcher = {}) const {
    RunOptions options;
    options.environment = std::move(environment);
    options.launcher = std::move(launcher);
    return workplace.info({"reference", "--repository", repository.root().native(), "--json"}, options);
  }
  void publish(const TestBuild& build) {
    repository.add(build);
    repository.write();
  }
  fs::path elsewhere(const std::string& name, const std::string& bytes) const {
    const fs::path file = workplace.folder() / "elsewhere" / name;
    write_text(file, bytes);
    return file;
  }
  static const Json* loaded(const Ended& run, const std::string& soname) {
    for (const Json& library : run.outcome()["loaded"].as_array())
      if (library["soname"].as_string() == soname) return &library;
    return nullptr;
  }

  Workplace workplace;
  TestRepository repository{workplace.folder() / "repository"};
};

TEST_F(EnvironmentFaults, L11Case07AForeignLibraryOfTheSameNameNeverWins) {
  publish(with_library("libcudart.so.12", named("libcudart.so.12", "ours")));
  const fs::path foreign = elsewhere("libcudart.so.12", named("libcudart.so.12", "theirs"));
  const Ended run = open({"LD_LIBRARY_PATH=" + foreign.parent_path().native()});
  ASSERT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-faulty");
  const Json* library = loaded(run, "libcudart.so.12");
  ASSERT_NE(library, nullptr) << run.said();
  EXPECT_EQ((*library)["origin"].as_string(), "cache");
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("EH-L11"));
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr(foreign.native()));
}

// The variable disturbs other programs too.
TEST_F(EnvironmentFaults, WhatTheVariableHidesIsPrinted) {
  publish(with_library("libcudart.so.12", named("libcudart.so.12", "ours")));
  const fs::path foreign = elsewhere("libcudart.so.12", named("libcudart.so.12", "theirs"));
  RunOptions options;
  options.environment = {"LD_LIBRARY_PATH=" + foreign.parent_path().native()};
  EXPECT_THAT(workplace.info({"reference", "--repository", repository.root().native()}, options).error,
              HasSubstr("EH-L11"));
}

// The system has a library of the same name. EngineHost opens the build's own one first.
TEST_F(EnvironmentFaults, AHarmlessLibraryOfTheSystemIsADetail) {
  const char* name = "libgomp.so.1";
  void* const handle = dlopen(name, RTLD_LAZY);
  if (handle == nullptr) GTEST_SKIP() << "skipped: " << dlerror();
  dlclose(handle);
  TestBuild build = with_library(name, named(name, "ours"));
  build.files.front().bytes = plugin_that_needs({name}, "");  // without a search path of its own
  publish(build);
  const std::vector<std::string> plain = {"reference", "--repository", repository.root().native()};
  EXPECT_EQ(workplace.info(plain).error.find("EH-L11"), std::string::npos);
  const auto elsewhere_with = [&](const char* flag) {
    std::vector<std::string> arguments = plain;
    arguments.push_back(flag);
    return Workplace().info(arguments);
  };
  EXPECT_THAT(elsewhere_with("--verbose").error, HasSubstr("EH-L11"));
  EXPECT_THAT(elsewhere_with("--json").document["warnings"].dump(), HasSubstr("EH-L11"));
}

TEST_F(EnvironmentFaults, ReportsL11Case07ForAForeignLibraryOpenedByName) {
  // Opened by name while the engine starts, so that only the environment decides which file that is.
  const std::string start = compile_library(
      "#include <dlfcn.h>\n__attribute__((constructor)) static void begin(void) {\n"
      "  dlopen(\"libhelper.so.1\", RTLD_NOW);\n}\n",
      {"-Wl,-soname,libstart.so"});
  publish(with_library("libstart.so", start, {{"lib/libhelper.so.1", named("libhelper.so.1", "ours")}}));
  const fs::path foreign = elsewhere("libhelper.so.1", named("libhelper.so.1", "theirs"));
  const Ended run = open({"LD_LIBRARY_PATH=" + foreign.parent_path().native()});
  ASSERT_EQ(run.status, 0) << run.said();
  const Json* library = loaded(run, "libhelper.so.1");
  ASSERT_NE(library, nullptr) << run.said();
  EXPECT_EQ((*library)["path"].as_string(), foreign.native());
  EXPECT_EQ((*library)["origin"].as_string(), "environment");
  bool reported = false;
  for (const Json& warning : run.document["warnings"].as_array())
    reported = reported || (warning["diagnosis"]["code"].as_string() == "EH-L11" &&
                            evidence(warning["diagnosis"], "path") == foreign.native() &&
                            evidence(warning["diagnosis"], "wanted").ends_with("/lib/libhelper.so.1"));
  EXPECT_TRUE(reported) << run.document["warnings"].dump(2);
  // A proven build is still checked.
  const Ended again = open({"LD_LIBRARY_PATH=" + foreign.parent_path().native()});
  EXPECT_THAT(again.document["warnings"].dump(), HasSubstr(foreign.native()));
}

TEST_F(EnvironmentFaults, Case07TheDriversOwnLibraryIsNoHijack) {
  const fs::path driver = elsewhere("libcuda.so.1", read_text(ENGINEHOST_FAKE_CUDA));
  publish(faulty_build({{"libengine_reference.so", plugin_that_needs({"libcuda.so.1"})}}));
  const Ended run = open({"LD_LIBRARY_PATH=" + driver.parent_path().native()});
  ASSERT_EQ(run.status, 0) << run.said();
  ASSERT_NE(loaded(run, "libcuda.so.1"), nullptr) << run.said();
  EXPECT_EQ(run.document["warnings"].dump().find("EH-L11"), std::string::npos)
      << run.document["warnings"].dump(2);
}

TEST_F(EnvironmentFaults, ReportsL17Case07ForAForeignLibraryInTheProcess) {
  publish(with_library("libcudart.so.12", named("libcudart.so.12", "ours")));
  const fs::path foreign = elsewhere("libcudart.so.12", named("libcudart.so.12", "theirs"));
  const Ended run = open({"LD_PRELOAD=" + foreign.native()});
  ASSERT_EQ(run.status, 0) << run.said();
  const std::string warnings = run.document["warnings"].dump();
  EXPECT_THAT(warnings, HasSubstr("EH-L17"));
  EXPECT_THAT(warnings, HasSubstr(foreign.native()));
}

TEST_F(EnvironmentFaults, ReportsL11WithTheVariableThatHidesTheSystemsLibrary) {
  const TemporaryFolder folder;
  write_text(folder / "map", "GOMP_99.0 { global: GOMP_invented; };\n");
  write_text(folder / "libgomp.so.1", compile_library("void GOMP_invented(void) {}\n",
                                                      {"-Wl,-soname,libgomp.so.1",
                                                       "-Wl,--version-script=" + (folder / "map").native()}));
  const fs::path old = elsewhere("libgomp.so.1", read_text(folder / "libgomp.so.1"));
  const std::string user = compile_library(
      "int omp_get_max_threads(void);\nint use(void);\nint use(void) { return omp_get_max_threads(); }\n",
      {"-lgomp", "-Wl,-soname,libuser.so"});
  publish(with_library("libuser.so", user));
  const Ended run = open({"LD_LIBRARY_PATH=" + old.parent_path().native()});
  EXPECT_EQ(run.code(), "EH-L15") << run.said();
  EXPECT_EQ(run.status, 6);
  const std::string diagnosis = run.diagnosis().dump();
  EXPECT_THAT(diagnosis, HasSubstr(old.native()));
  EXPECT_EQ(evidence(run.diagnosis(), "from_environment"), "LD_LIBRARY_PATH");
  EXPECT_EQ(open({}).status, 0) << "the system's own would do";
}

TEST_F(EnvironmentFaults, ReportsL30ForAProgramWithPrivileges) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving a program capabilities needs root";
  publish(with_library("libneeds.so", compile_library("int use(void);\nint use(void) { return 1; }\n")));
  const fs::path there = elsewhere("libonly_there.so.1", named("libonly_there.so.1", "there"));
  TestBuild build = faulty_build({{"libengine_reference.so", plugin_that_needs({"libonly_there.so.1"})}});
  build.id = "reference-needs-there";
  build.priority = 95;
  repository.add(build);
  repository.write();
  // A copy of the program with a capability, run by a user who has none: the kernel sets AT_SECURE.
  const fs::path program = workplace.folder() / "prefix" / "bin" / "engine-info";
  const fs::path helper = workplace.folder() / "prefix" / "libexec" / "enginehost" / "enginehost-probe";
  write_text(program, read_text(build_path("/bin/engine-info")));
  write_text(helper, read_text(build_path("/libexec/enginehost/enginehost-probe")));
  for (const fs::path& file : {program, helper}) fs::permissions(file, fs::perms(0755));
  ChildRequest give;
  give.argv = {"setcap", "cap_net_raw+ep", program.native()};
  const auto given = run_child(give);
  if (!given || !given->succeeded()) GTEST_SKIP() << "this file system keeps no capabilities";
  run_tool({"chown", "-R", "65534:65534", (workplace.folder() / "home").native(),
            (workplace.folder() / "config").native()});
  // The caller may make a cache there. The repository is root's, because nothing of the caller counts.
  fs::permissions(workplace.folder(), fs::perms(01777));
  ChildRequest request =
      workplace.request("engine-info",
                        // Nothing of the environment counts, and that user has no home.
                        {"reference", "--require", "testing", "--repository", repository.root().native(),
                         "--cache", (workplace.folder() / "own-cache").native(), "--json"});
  request.argv.front() = program.native();
  request.argv.insert(request.argv.begin(), {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
  request.environment.push_back("LD_LIBRARY_PATH=" + there.parent_path().native());
  const auto child = run_child(request);
  ASSERT_TRUE(child);
  const auto document = parse_json(child->output, "stdout");
  ASSERT_TRUE(document) << child->output << child->error;
  EXPECT_EQ((*document)["diagnosis"]["code"].as_string(), "EH-L30") << child->output << child->error;
  EXPECT_THAT((*document)["diagnosis"].dump(), HasSubstr(there.native()));
}

TEST_F(EnvironmentFaults, L32WarnsOfARelativeSearchPath) {
  TestBuild build =
      faulty_build({{"libengine_reference.so", plugin_that_needs({"libpart.so"}, "$ORIGIN/lib:")},
                    {"lib/libpart.so", named("libpart.so", "part")}});
  build.search = {"lib"};
  publish(build);
  const Ended run = open({});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("EH-L32"));
}

TEST_F(EnvironmentFaults, ReportsL34ForAPreloadThatCannotLoad) {
  publish(with_library("libneeds.so", compile_library("int x;\n", {"-Wl,-soname,libneeds.so"})));
  const Ended run = open({"LD_PRELOAD=/nowhere/libgone.so"});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("EH-L34"));
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("/nowhere/libgone.so"));
}

TEST_F(EnvironmentFaults, Case14OpensFromACacheWithSpacesAndForeignLetters) {
  publish(good_build());
  std::string cache = (workplace.folder() / "张三 [my cache]; a:b").native();
  while (cache.size() < 400) cache += "/" + std::string(60, 'd');
  const std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(),
                                              "--cache",   cache,          "--json"};
  const Ended first = workplace.info(arguments);
  EXPECT_EQ(first.status, 0) << first.said();
  EXPECT_TRUE(first.outcome()["library"].as_string().starts_with(cache)) << first.said();
  const Ended second = workplace.info(arguments);
  EXPECT_EQ(second.status, 0) << second.said();
  EXPECT_EQ(second.outcome()["download"]["bytes"].as_integer(-1), 0);
}

}  // namespace
}  // namespace enginehost::test
