// Files for a model's outputs.
#pragma once
#include <string>
#include <vector>

namespace enginehost::commands {

// One name for each output, without an ending: what is not a letter, digit, '.', '-' or '_' becomes '_', and
// what is too long for a file's name is cut. No two are alike, not even where case does not count: of outputs
// that would share one, "a/b" and "a_b", the one that is called so keeps it, and the others get a number.
std::vector<std::string> file_names_of(const std::vector<std::string>& outputs);

}  // namespace enginehost::commands
