// Programs that are found by name: python3, pip, gnuplot.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"

namespace enginehost {

struct FoundProgram {
  std::filesystem::path file;        // absolute; empty: none
  std::vector<std::string> skipped;  // "ENTRY: why it was not used", for each entry of PATH that holds such a program
};

// Looks the program up in `path`, the value of PATH. Skips relative and empty entries, because the program would then
// depend on the current folder. Skips programs that another user could have put there (base/ownership.hpp). On Windows
// ".exe" is added to a name without an extension.
FoundProgram find_program(std::string_view name, std::string_view path);

// Runs the program argv[0] names, looked up in this process's PATH. It starts in the root folder, and Python programs
// take no module from the current folder (PYTHONSAFEPATH). A folder that somebody else prepared therefore runs no code.
// Errors: EH-P20 with "program", and "skipped" for each skipped entry; those of run_child().
Result<ChildOutcome> run_by_name(ChildRequest request);

}  // namespace enginehost
