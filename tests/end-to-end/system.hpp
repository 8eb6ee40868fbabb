// The names that this system gives to the tests' files.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace enginehost::test {

extern const char* const plugin_name;           // of the reference engine's plugin
extern const char* const system_name;           // as manifests have it
extern const char* const program_ending;        // of a program's file
extern const char* const missing_library_code;  // of a missing library

// Variables that make the folder a program's user folder, and the file from which it then reads its
// configuration.
std::vector<std::string> environment_of_user(const std::filesystem::path& folder);
std::filesystem::path config_of_user(const std::filesystem::path& folder);

}  // namespace enginehost::test
