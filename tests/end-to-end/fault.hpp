// A build that fails in one way, and what has to be said of it.
#pragma once
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

struct Fault {
  TestBuild build;
  std::string code;                        // "EH-L01"
  std::vector<std::string> must_be_named;  // texts that the diagnosis must hold
  RunOptions run{};
};

// Two openings: one where the build fails, is reported with that code, and the good one is opened in the same
// call; and one that requires it, which ends with the exit status that the catalogue of codes gives.
void expect_fault(const Fault& fault);

// The exit status that `engine-info --code` tells.
int exit_status_of(const std::string& code);

}  // namespace enginehost::test
