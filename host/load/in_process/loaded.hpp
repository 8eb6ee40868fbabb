// What is mapped into this process: where each library was really loaded from.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/load/in_process/load.hpp"

namespace enginehost::load {

// Every shared object of the process, in load order, with its SONAME read from memory, without the program
// itself and the kernel's vDSO. Origins are not filled in. Any thread.
std::vector<Library> mapped_libraries();

// Fills in where each came from: below the view, a folder of LD_LIBRARY_PATH, or the system.
void find_origins(std::vector<Library>& libraries, const std::filesystem::path& view);

// EH-L11 for each file of `wanted` (name: absolute path) for which the process holds another file of that
// SONAME.
std::vector<Diagnosis> substituted(const std::vector<Library>& loaded,
                                   const std::vector<std::filesystem::path>& wanted);

// The audit after loading. EH-L11 for each library that came with an engine from elsewhere although a file of that name
// lies in one of its own folders ("library", "path", "wanted"), or that came from a folder of LD_LIBRARY_PATH ("library",
// "path", "from_environment"). The GPU driver's own libraries are nobody's but the driver's and never a hijack. `came`:
// with origins filled in. Any thread.
std::vector<Diagnosis> hijacked(const std::vector<Library>& came, const std::vector<std::filesystem::path>& own_folders);

}  // namespace enginehost::load
