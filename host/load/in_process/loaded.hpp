// What is mapped into this process: where each library was really loaded from.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "host/load/in_process/load.hpp"

namespace enginehost::load {

// How many objects have been loaded since the process began: while it stays, looking again shows nothing new.
// Any thread.
std::uint64_t loaded_so_far();

// Every shared object of the process, in load order, with its SONAME read from memory, without the program
// itself and the kernel's vDSO. Origins are not filled in. Any thread.
std::vector<Library> mapped_libraries();

// Those of them that are not among `before`, which was such a list. Any thread.
std::vector<Library> mapped_since(const std::vector<Library>& before);

// Where the environment lets libraries be found: the folders of LD_LIBRARY_PATH; on Windows those of PATH,
// without Windows' own. Any thread.
std::vector<std::filesystem::path> folders_of_environment();

// Fills in where each came from: below the view ("cache"), a folder of LD_LIBRARY_PATH or a file of
// LD_PRELOAD
// ("environment"), or the system.
void find_origins(std::vector<Library>& libraries, const std::filesystem::path& view);

// True for what LD_PRELOAD names, by path or by file name.
bool is_preloaded_by_environment(const std::filesystem::path& library);

// EH-L11 for each file of `wanted` (name: absolute path) for which the process holds another file of that
// SONAME.
std::vector<Diagnosis> substituted(const std::vector<Library>& loaded,
                                   const std::vector<std::filesystem::path>& wanted);

}  // namespace enginehost::load
