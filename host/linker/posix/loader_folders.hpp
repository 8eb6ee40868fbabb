// The folders that the loader of this process lists as those it searches, and which of them came from where.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "host/linker/machine.hpp"

namespace enginehost::linker {

// In the loader's order: the program's RPATH, LD_LIBRARY_PATH, the program's RUNPATH, what is compiled in. A
// list of which no folder exists the loader drops when it has looked there. Asked of the loader without a
// system call. Nothing where it cannot be asked (musl).
std::vector<std::string> searched_by_loader();

struct ListedFolders {
  std::vector<std::string> all;             // searched_by_loader()
  std::vector<std::string> rpath, runpath;  // the program's own
};

ListedFolders listed_folders(const Machine& machine);

// The elements of a path of the program, or of LD_LIBRARY_PATH, as the loader lists them: each once,
// expanded, without slashes at the end, "." for an empty one.
std::vector<std::string> as_listed(const Machine& machine, const std::vector<std::string>& elements);

// What is compiled into the loader; empty = not known.
std::vector<std::string> compiled_in(const ListedFolders& folders,
                                     const std::vector<std::string>& library_path);

// What LD_LIBRARY_PATH led to when the process was started, where all of these are compiled in; absent = not
// known.
std::optional<std::vector<std::string>> reported_by_environment(const ListedFolders& folders,
                                                                const std::vector<std::string>& compiled_in);

}  // namespace enginehost::linker
