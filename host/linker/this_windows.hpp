// The Windows machine that this process runs on, as a value. Only in programs of Windows.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/linker/windows.hpp"

namespace enginehost::linker {

// This process's folders, PATH, SetDllDirectory, drives, known DLLs and loaded modules, as they are now.
// Windows tells nobody what AddDllDirectory was called with: `added_directories` are the caller's own. What
// cannot be read is left empty. Any thread.
WindowsMachine describe_this_windows(std::vector<std::string> added_directories = {});

// The file of a module (HMODULE), without the \\?\ that long paths are opened by.
std::filesystem::path file_of_module(void* module);

// The modules of this process with their file names, the program itself first.
std::vector<LoadedLibrary> loaded_modules();

}  // namespace enginehost::linker
