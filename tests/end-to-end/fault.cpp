#include "tests/end-to-end/fault.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "base/child_process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {
namespace {

void run_tool(std::vector<std::string> argv) {
  ChildRequest request;
  request.argv = std::move(argv);
  const auto child = run_child(request);
  if (!child) throw std::runtime_error(request.argv.front() + " cannot be started");
  if (!child->succeeded()) throw std::runtime_error(request.argv.front() + " failed: " + child->error);
}

void expect_said(const Json& diagnosis, const Fault& fault, const Ended& run) {
  EXPECT_EQ(diagnosis["code"].as_string(), fault.code) << run.said();
  EXPECT_FALSE(diagnosis["title"].as_string().empty());
  EXPECT_FALSE(diagnosis["cause"].as_string().empty());
  const std::string text = diagnosis.dump();
  for (const std::string& name : fault.must_be_named) EXPECT_THAT(text, testing::HasSubstr(name));
}

}  // namespace

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

  const Workplace first;
  const Ended fallen_back =
      first.info({"reference", "--repository", repository.root().native(), "--json"}, fault.run);
  EXPECT_EQ(fallen_back.status, 0) << fallen_back.said();
  EXPECT_EQ(fallen_back.outcome()["state"].as_string(), "opened");
  EXPECT_EQ(fallen_back.outcome()["build"].as_string(), "reference-good");
  EXPECT_TRUE(fallen_back.outcome()["fallback"].as_bool());
  const Json& candidate = fallen_back.candidate(fault.build.id);
  EXPECT_EQ(candidate["verdict"].as_string(), "failed");
  expect_said(candidate["diagnosis"], fault, fallen_back);

  const Workplace second;
  const Ended required = second.info(
      {"reference", "--require", "testing", "--repository", repository.root().native(), "--json"}, fault.run);
  EXPECT_EQ(required.status, exit_status_of(fault.code)) << required.said();
  EXPECT_EQ(required.outcome()["state"].as_string(), "failed");
  expect_said(required.diagnosis(), fault, required);
}

}  // namespace enginehost::test
