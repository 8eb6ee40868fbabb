// A build that fails in one way, and the diagnosis that is expected for it.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {

// The bytes of a small shared library, compiled by the C compiler of this machine.
std::string compile_library(const std::string& source, const std::vector<std::string>& flags = {});

// The plugin of the build with more DT_NEEDED entries (and, if given, a DT_RUNPATH), written by patchelf.
std::string plugin_that_needs(const std::vector<std::string>& names, const std::string& runpath = {});

// The same library for another machine (e_machine is set).
std::string for_machine(std::string library, unsigned char machine);

// A build ranked before good_build() whose flavor, "testing", can be required. Its first file is the plugin.
TestBuild faulty_build(std::vector<ViewFile> files);

// The plugin and one library in "lib" that it needs; more files of the view may follow.
TestBuild with_library(const std::string& name, std::string bytes, std::vector<ViewFile> more = {});

struct Fault {
  TestBuild build;
  std::string code;                        // "EH-L01"
  std::vector<std::string> must_be_named;  // texts that the diagnosis must hold
  RunOptions run{};
};

// Opens twice. The first open reports the failing build with that code and opens the good one in the same
// call. The second requires the failing build and ends with the exit status that the catalog gives.
void expect_fault(const Fault& fault);

// As expect_fault, for a build that is whole but meets a rule of its surroundings. The build is fetched
// first, so that the launcher can be given the folder of its view; each of the two opens has its own
// workplace. `fault.run.launcher` is replaced.
using LauncherFor = std::function<std::vector<std::string>(const std::filesystem::path& view)>;
void expect_fault_where(const Fault& fault, const LauncherFor& launcher);

// A launcher under which a system call on that file fails with that error ("mmap", "EPERM"), and whether this
// machine allows tracing.
std::vector<std::string> with_failing_call(const std::string& call, const std::string& error,
                                           const std::filesystem::path& file);
bool can_trace();

// A launcher that sets a rule of tests/faults/confine.c, and whether this kernel knows the rule.
std::vector<std::string> confined(const std::string& rule);
bool can_confine(const std::string& rule);

// Runs a tool. Its failure ends the test with its output.
void run_tool(std::vector<std::string> argv);

// The exit status that `engine-info --code` prints.
int exit_status_of(const std::string& code);

}  // namespace enginehost::test
