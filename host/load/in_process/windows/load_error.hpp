// What a number of LoadLibraryEx stands for, said with what the files show. Only in programs of Windows.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/diagnosis.hpp"

namespace enginehost::load {

// Why `file` was not opened: the loader's own number says that something is missing, too long or forbidden,
// but not what; the files, looked at again by this process's search and `added_folders` (AddDllDirectory),
// do. Always has "file", "error_number" and, where Windows has words for it, "os_said". Any thread; reads
// files, loads nothing.
Diagnosis diagnose_load_error(const std::filesystem::path& file, std::uint32_t error,
                              std::vector<std::string> added_folders = {});

}  // namespace enginehost::load
