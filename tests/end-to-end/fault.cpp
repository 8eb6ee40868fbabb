#include "tests/end-to-end/fault.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "base/child_process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {
namespace {

bool succeeds(std::vector<std::string> argv) {
  ChildRequest request;
  request.argv = std::move(argv);
  const auto child = run_child(request);
  return child && child->succeeded();
}

void expect_said(const Json& diagnosis, const Fault& fault, const Ended& run) {
  EXPECT_EQ(diagnosis["code"].as_string(), fault.code) << run.said();
  EXPECT_FALSE(diagnosis["title"].as_string().empty());
  EXPECT_FALSE(diagnosis["cause"].as_string().empty());
  const std::string text = diagnosis.dump();
  for (const std::string& name : fault.must_be_named) EXPECT_THAT(text, testing::HasSubstr(name));
}

void expect_fallen_back(const Ended& run, const Fault& fault) {
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["state"].as_string(), "opened");
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good");
  EXPECT_TRUE(run.outcome()["fallback"].as_bool());
  const Json& candidate = run.candidate(fault.build.id);
  EXPECT_EQ(candidate["verdict"].as_string(), "failed");
  expect_said(candidate["diagnosis"], fault, run);
}

void expect_failed(const Ended& run, const Fault& fault) {
  EXPECT_EQ(run.status, exit_status_of(fault.code)) << run.said();
  EXPECT_EQ(run.outcome()["state"].as_string(), "failed");
  expect_said(run.diagnosis(), fault, run);
}

}  // namespace

void run_tool(std::vector<std::string> argv) {
  ChildRequest request;
  request.argv = std::move(argv);
  const auto child = run_child(request);
  if (!child) throw std::runtime_error(request.argv.front() + " cannot be started");
  if (!child->succeeded()) throw std::runtime_error(request.argv.front() + " failed: " + child->error);
}

std::string compile_library(const std::string& source, const std::vector<std::string>& flags) {
  const TemporaryFolder folder;
  write_text(folder / "library.c", source);
  std::vector<std::string> argv = {"cc",
                                   "-shared",
                                   "-fPIC",
                                   "-O1",
                                   (folder / "library.c").native(),
                                   "-o",
                                   (folder / "library.so").native()};
  argv.insert(argv.end(), flags.begin(), flags.end());
  run_tool(std::move(argv));
  return read_text(folder / "library.so");
}

std::string plugin_that_needs(const std::vector<std::string>& names, const std::string& runpath) {
  const TemporaryFolder folder;
  const std::string file = (folder / "plugin.so").native();
  write_text(file, reference_plugin());
  // One change a call: patchelf 0.14 mixes up the strings of two.
  if (!runpath.empty()) run_tool({"patchelf", "--set-rpath", runpath, file});
  for (const std::string& name : names) run_tool({"patchelf", "--add-needed", name, file});
  return read_text(file);
}

std::string for_machine(std::string library, unsigned char machine) {
  library.at(18) = static_cast<char>(machine);
  library.at(19) = 0;
  return library;
}

TestBuild faulty_build(std::vector<ViewFile> files) {
  TestBuild build;
  build.id = "reference-faulty";
  build.flavor = "testing";
  build.priority = 90;
  build.plugin = files.front().path;
  build.files = std::move(files);
  return build;
}

TestBuild with_library(const std::string& name, std::string bytes, std::vector<ViewFile> more) {
  const std::string plugin = "libengine_reference.so";
  std::vector<ViewFile> files = {{plugin, plugin_that_needs({name}, "$ORIGIN/lib")},
                                 {"lib/" + name, std::move(bytes)}};
  files.insert(files.end(), more.begin(), more.end());
  TestBuild build = faulty_build(std::move(files));
  build.search = {"lib"};
  return build;
}

int exit_status_of(const std::string& code) {
  const Workplace workplace;
  return static_cast<int>(workplace.info({"--code", code, "--json"}).document["exit_status"].as_integer(-1));
}

void expect_fault(const Fault& fault) {
  SCOPED_TRACE(fault.code);
  const TemporaryFolder folder;
  TestRepository repository(folder / "repository");
  repository.add(fault.build);
  repository.add(good_build());
  repository.write();

  const std::vector<std::string> open = {"reference", "--repository", repository.root().native(), "--json"};
  std::vector<std::string> require = open;
  require.insert(require.end(), {"--require", fault.build.flavor});
  expect_fallen_back(Workplace().info(open, fault.run), fault);
  expect_failed(Workplace().info(require, fault.run), fault);
}

void expect_fault_where(const Fault& fault, const LauncherFor& launcher) {
  SCOPED_TRACE(fault.code);
  const TemporaryFolder folder;
  TestRepository repository(folder / "repository");
  repository.add(fault.build);
  repository.add(good_build());
  repository.write();
  const std::vector<std::string> open = {"reference", "--repository", repository.root().native(), "--json"};
  std::vector<std::string> require = open;
  require.insert(require.end(), {"--require", fault.build.flavor});
  for (const bool required : {false, true}) {
    const Workplace workplace;
    std::vector<std::string> fetch = {"fetch"};
    fetch.insert(fetch.end(), open.begin(), open.end());
    fetch.insert(fetch.end(), {"--flavor", fault.build.flavor});
    const Ended fetched = workplace.run("engine-cache", fetch);
    ASSERT_EQ(fetched.status, 0) << fetched.said();
    RunOptions options = fault.run;
    options.launcher = launcher(fetched.document["fetched"].as_array().front()["folder"].as_string());
    if (required)
      expect_failed(workplace.info(require, options), fault);
    else
      expect_fallen_back(workplace.info(open, options), fault);
  }
}

std::vector<std::string> with_failing_call(const std::string& call, const std::string& error,
                                           const std::filesystem::path& file) {
  return {"strace",
          "-f",
          "-qq",
          "-o",
          "/dev/null",
          "-P",
          file.native(),
          "-e",
          "trace=" + call,
          "-e",
          "inject=" + call + ":error=" + error};
}

bool can_trace() {
  static const bool can = succeeds({"strace", "-qq", "-o", "/dev/null", "true"});
  return can;
}

std::vector<std::string> confined(const std::string& rule) { return {ENGINEHOST_CONFINE, rule}; }

bool can_confine(const std::string& rule) { return succeeds({ENGINEHOST_CONFINE, rule, "true"}); }

}  // namespace enginehost::test
