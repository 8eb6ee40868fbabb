// A build that fails in one way, and what has to be said of it.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {

// The bytes of a small shared library, compiled here and now with the C compiler.
std::string compile_library(const std::string& source, const std::vector<std::string>& flags = {});

// The plugin of the build with more DT_NEEDED entries (and, if given, a DT_RUNPATH), written by patchelf.
std::string plugin_that_needs(const std::vector<std::string>& names, const std::string& runpath = {});

// The same library for another machine (e_machine is set).
std::string for_machine(std::string library, unsigned char machine);

// A build ranked before good_build() whose flavor, "testing", can be required. Its first file is the plugin.
TestBuild faulty_build(std::vector<ViewFile> files);

// The plugin with one library beside it, in "lib", that it needs; more files of the view may follow.
TestBuild with_library(const std::string& name, std::string bytes, std::vector<ViewFile> more = {});

struct Fault {
  TestBuild build;
  std::string code;                        // "EH-L01"
  std::vector<std::string> must_be_named;  // texts that the diagnosis must hold
  RunOptions run{};
};

// Two openings: one where the build fails, is reported with that code, and the good one is opened in the same
// call; and one that requires it, which ends with the exit status that the catalog of codes gives.
void expect_fault(const Fault& fault);

// A build that is whole but meets a rule of its surroundings: it is fetched first, so that the launcher can
// be told the folder of its view; then expect_fault's two openings, each in a place of its own.
// `fault.run.launcher` is replaced.
using LauncherFor = std::function<std::vector<std::string>(const std::filesystem::path& view)>;
void expect_fault_where(const Fault& fault, const LauncherFor& launcher);

// A launcher under which a system call on that file answers with that error ("mmap", "EPERM"), and whether
// this machine lets one process look into another.
std::vector<std::string> with_failing_call(const std::string& call, const std::string& error,
                                           const std::filesystem::path& file);
bool can_trace();

// A launcher that sets a rule of tests/faults/confine.c, and whether this kernel knows the rule.
std::vector<std::string> confined(const std::string& rule);
bool can_confine(const std::string& rule);

// Runs a tool; its failure ends the test with what it said.
void run_tool(std::vector<std::string> argv);

// The exit status that `engine-info --code` tells.
int exit_status_of(const std::string& code);

}  // namespace enginehost::test
