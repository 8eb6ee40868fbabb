// pip on this system: its commands and the places of its configuration files.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace enginehost::transfer {

// Each a command and its first arguments, the most likely first.
const std::vector<std::vector<std::string>>& pip_commands();

// The files that pip reads for every Python, in its order: a later one wins. Most do not exist. Relative
// folders in variables are left out, because nothing is read from the current folder.
struct PipFiles {
  std::vector<std::filesystem::path> global, user;
};
PipFiles pip_files();

inline constexpr const char* pip_file_name =
    std::filesystem::path::preferred_separator == '\\' ? "pip.ini" : "pip.conf";
// PIP_CONFIG_FILE with this value: pip reads no file at all.
inline constexpr const char* null_device =
    std::filesystem::path::preferred_separator == '\\' ? "nul" : "/dev/null";

// Returns the user's home folder; empty if there is none.
std::filesystem::path home_folder();

// Returns the Python's sys.prefix, in which pip looks for a file of its own. Returns nothing if the program's
// place does not show it: a script that starts one of several Pythons (pyenv), a launcher, or PYTHONHOME is
// set.
std::optional<std::filesystem::path> prefix_of(const std::filesystem::path& python);

}  // namespace enginehost::transfer
