// Explains an error number of LoadLibraryEx with the help of the files. Only in programs of Windows.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/diagnosis.hpp"

namespace enginehost::load {

// Explains why `file` was not opened. The loader's number only shows that something is missing, too long or
// forbidden; the files show which, searched as this process does with `added_folders` (AddDllDirectory). The
// diagnosis always has "file", "error_number" and, where Windows has a text for it, "os_said". Reads files
// and loads nothing. Any thread.
Diagnosis diagnose_load_error(const std::filesystem::path& file, std::uint32_t error,
                              std::vector<std::string> added_folders = {});

}  // namespace enginehost::load
