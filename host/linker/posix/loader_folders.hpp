// The search folders that the loader of this process reports, and the origin of each.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "host/linker/machine.hpp"

namespace enginehost::linker {

// Returns the folders in the loader's order: the program's RPATH, LD_LIBRARY_PATH, the program's RUNPATH, the
// compiled-in ones. The loader drops a list without any existing folder once it has searched it. Takes no
// system call. Empty where the loader does not report them (musl).
std::vector<std::string> searched_by_loader();

struct ListedFolders {
  std::vector<std::string> all;             // searched_by_loader()
  std::vector<std::string> rpath, runpath;  // the program's own
};

ListedFolders listed_folders(const Machine& machine);

// Returns the elements of a program's path, or of LD_LIBRARY_PATH, as the loader lists them: each once,
// expanded, without trailing slashes, "." for an empty one.
std::vector<std::string> as_listed(const Machine& machine, const std::vector<std::string>& elements);

// Returns the folders compiled into the loader; empty = unknown.
std::vector<std::string> compiled_in(const ListedFolders& folders,
                                     const std::vector<std::string>& library_path);

// Returns the folders of LD_LIBRARY_PATH at the start of the process, given all compiled-in ones; absent =
// unknown.
std::optional<std::vector<std::string>> reported_by_environment(const ListedFolders& folders,
                                                                const std::vector<std::string>& compiled_in);

}  // namespace enginehost::linker
