// EH-L: the plugin is whole, but a library that it needs is missing or does not fit.
#include <gmock/gmock.h>

#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/reference_plugin.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::test {
namespace {

constexpr auto foreign = static_cast<unsigned char>(other_machine);

std::string provider(const std::string& soname) {
  return compile_library("void provided(void);\nvoid provided(void) {}\n", {"-Wl,-soname," + soname});
}

// A library that needs another one, which is not here.
std::string user_of(const std::string& soname) {
  const TemporaryFolder folder;
  write_text(folder / soname, provider(soname));
  return compile_library("void provided(void);\nvoid use(void);\nvoid use(void) { provided(); }\n",
                         {(folder / soname).native()});
}

// A library that needs a symbol version that no system has. It is linked against a stand-in for the system's
// library.
std::string needs_version(const std::string& soname, const std::string& version, const std::string& symbol) {
  const TemporaryFolder folder;
  write_text(folder / "map", version + " { global: " + symbol + "; };\n");
  write_text(folder / soname, compile_library("void " + symbol + "(void) {}\n",
                                              {"-nostdlib", "-Wl,-soname," + soname,
                                               "-Wl,--version-script=" + (folder / "map").native()}));
  return compile_library(
      "void " + symbol + "(void);\nvoid use(void);\nvoid use(void) { " + symbol + "(); }\n",
      {"-nostdlib", (folder / soname).native()});
}

TEST(LinkingFaults, ReportsL01WithTheNeedingFileAndTheSearchedFolders) {
  expect_fault({faulty_build({{plugin, plugin_that_needs({"libmissing_math.so.3"}, "$ORIGIN/lib")}}),
                "EH-L01",
                {"libmissing_math.so.3", plugin, "/lib"}});
}

// The loader finds the library in that folder, so the build is not refused on a machine that has the folder.
TEST(LinkingFaults, ReportsL01OnlyWhereTheFolderOfTheRpathIsMissing) {
  const Workplace workplace;
  const std::filesystem::path folder = workplace.folder() / "vendor", file = folder / "libvendor.so.1";
  write_text(file, provider("libvendor.so.1"));
  write_text(workplace.folder() / plugin, plugin_that_needs({"libvendor.so.1"}, folder.native()));
  const std::string repository = workplace.folder() / "repository",
                    published = workplace.folder() / "published";
  const auto manifest = [&](std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const Ended run = workplace.run("engine-manifest", arguments);
    EXPECT_EQ(run.status, 0) << run.said();
    return run;
  };
  manifest({"init", repository, "--name", "Vendor"});
  manifest({"add", repository, workplace.folder() / plugin, "--engine", "reference", "--version", "1.0",
            "--flavor", "cpu"});
  const Ended lint = manifest({"lint", repository});
  EXPECT_THAT(lint.document.dump(), testing::HasSubstr("finds libvendor.so.1 in " + folder.native()));
  manifest({"publish", repository, published});
  const std::vector<std::string> open = {"reference", "--repository", published, "--json"};
  const Ended opened = workplace.info(open);
  EXPECT_EQ(opened.status, 0) << opened.said();
  bool brought = false;
  for (const Json& library : opened.outcome()["loaded"].as_array())
    brought = brought || (library["path"].as_string() == file && library["origin"].as_string() == "system");
  EXPECT_TRUE(brought) << "its origin is reported";
  std::filesystem::remove(file);
  const Ended gone = workplace.info(open);
  EXPECT_EQ(gone.status, 6) << gone.said();
  EXPECT_EQ(gone.code(), "EH-L01") << gone.said();
  EXPECT_THAT(evidence_list(gone.diagnosis(), "searched"), testing::HasSubstr(folder.native()));
}

TEST(LinkingFaults, ReportsL01ForAllMissingLibrariesAtOnce) {
  expect_fault({faulty_build({{plugin, plugin_that_needs({"libmissing_math.so.3", "libmissing_too.so.1"})}}),
                "EH-L01",
                {"libmissing_math.so.3", "libmissing_too.so.1"}});
}

TEST(LinkingFaults, ReportsL01WithTheProviderOfAKnownLibrary) {
  expect_fault({faulty_build({{plugin, plugin_that_needs({"libcudart.so.11.0"})}}),
                "EH-L01",
                {"libcudart.so.11.0", "provided_by"}});
}

TEST(LinkingFaults, ReportsL02WithTheChainToADeeperLibrary) {
  expect_fault({with_library("libmiddle.so", user_of("libdeep_down.so.2")),
                "EH-L02",
                {"libdeep_down.so.2", "libmiddle.so", plugin}});
}

TEST(LinkingFaults, L03Case04FindsALibraryBesideItsUserWithoutRunpath) {
  const TemporaryFolder folder;
  TestBuild build = faulty_build({{plugin, plugin_that_needs({"libbranch.so"}, "$ORIGIN/lib")},
                                  {"lib/libbranch.so", user_of("libleaf.so")},
                                  {"lib/libleaf.so", provider("libleaf.so")}});
  build.search = {"lib"};
  TestRepository repository(folder / "repository");
  repository.add(build);
  repository.write();
  const Workplace workplace;
  const Ended run = workplace.info({"reference", "--repository", repository.root().native(), "--json"});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-faulty");
  bool loaded = false;
  for (const Json& library : run.outcome()["loaded"].as_array())
    loaded = loaded || (library["path"].as_string().find("/lib/libleaf.so") != std::string::npos &&
                        library["origin"].as_string() == "cache");
  EXPECT_TRUE(loaded) << run.said();
}

TEST(LinkingFaults, ReportsL04WithTheMachineOfTheBuild) {
  expect_fault({faulty_build({{plugin, for_machine(reference_plugin(), foreign)}}), "EH-L04", {plugin}});
}

TEST(LinkingFaults, ReportsL05ForAnEarlierLibraryOfAnotherMachine) {
  expect_fault({with_library("libwrong.so", for_machine(compile_library("int x;"), foreign)),
                "EH-L05",
                {"lib/libwrong.so"}});
}

TEST(LinkingFaults, ReportsL06ForALibraryOfAnotherClass) {
  // A 32-bit header and nothing that could be loaded.
  std::string small = reference_plugin();
  small[4] = 1;
  small = for_machine(std::move(small), 3);
  expect_fault({faulty_build({{plugin, small}}), "EH-L06", {plugin}});
}

TEST(LinkingFaults, ReportsL08Case16WithBothGlibcVersions) {
  expect_fault({with_library("libnewer.so", needs_version("libc.so.6", "GLIBC_2.99", "not_invented_yet")),
                "EH-L08",
                {"GLIBC_2.99", "libnewer.so"}});
}

TEST(LinkingFaults, ReportsL09Case16WithTheCxxLibraryThatWouldBeFound) {
  expect_fault(
      {with_library("libnewer.so", needs_version("libstdc++.so.6", "GLIBCXX_3.4.99", "not_invented_yet")),
       "EH-L09",
       {"GLIBCXX_3.4.99", "libnewer.so"}});
}

TEST(LinkingFaults, ReportsL12WithTheUndefinedSymbol) {
  expect_fault({with_library("libkernels.so", compile_library("void missing_kernel(void);\nvoid use(void);\n"
                                                              "void use(void) { missing_kernel(); }\n")),
                "EH-L12",
                {"missing_kernel", "libkernels.so"}});
}

TEST(LinkingFaults, ReportsL22ForACacheMountedNoexec) {
  if (!can_mount()) GTEST_SKIP() << "mounting a tmpfs needs root with CAP_SYS_ADMIN";
  const TemporaryFolder folder;
  TestRepository repository(folder / "repository");
  repository.add(good_build());
  repository.write();
  const Workplace workplace;
  std::filesystem::create_directories(workplace.cache());
  RunOptions options;
  options.launcher = with_tmpfs(workplace.cache(), "noexec,size=200m");
  const Ended run =
      workplace.info({"reference", "--repository", repository.root().native(), "--json"}, options);
  EXPECT_EQ(run.code(), "EH-L22") << run.said();
  EXPECT_EQ(run.status, exit_status_of("EH-L22"));
  EXPECT_NE(run.diagnosis().dump().find(workplace.cache().native()), std::string::npos);
}

}  // namespace
}  // namespace enginehost::test
