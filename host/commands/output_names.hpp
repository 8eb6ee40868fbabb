// File names for a model's outputs.
#pragma once
#include <string>
#include <vector>

namespace enginehost::commands {

// Returns one name per output, without an extension. Characters other than letters, digits, '.', '-' and '_'
// become
// '_', and long names are cut. Names differ even if case is ignored. If two outputs would share a name ("a/b"
// and "a_b"), the output with exactly that name keeps it, and the others get a number.
std::vector<std::string> file_names_of(const std::vector<std::string>& outputs);

}  // namespace enginehost::commands
