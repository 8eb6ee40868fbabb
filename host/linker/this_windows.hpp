// The Windows machine that this process runs on, as a value. Only in programs for Windows.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/linker/windows.hpp"

namespace enginehost::linker {

// Returns this process's folders, PATH, SetDllDirectory, drives, known DLLs and loaded modules, as they are
// now. Windows does not report the folders of AddDllDirectory, so the caller passes its own in
// `added_directories`. What cannot be read is left empty. Thread safety: any thread.
WindowsMachine describe_this_windows(std::vector<std::string> added_directories = {});

// Returns the file of a module (HMODULE), without the \\?\ prefix of long paths.
std::filesystem::path file_of_module(void* module);

// Returns the modules of this process with their file names, the program first.
std::vector<LoadedLibrary> loaded_modules();

}  // namespace enginehost::linker
