// The loader settings and libraries of this process at its start, on Linux.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/linker/machine.hpp"

struct dl_phdr_info;

namespace enginehost::linker {

// Returns the environment at the start of the process, each NAME=value followed by a zero byte. Later
// setenv() calls are not in it, and the loader ignores them. Absent if it cannot be read (not Linux; no
// /proc) or if the program has overwritten it, for example with a process title. Thread safety: any thread.
std::optional<std::string> environment_at_start();
// Returns whether these bytes may be an environment: only names followed by "=".
bool is_environment(std::string_view bytes);
std::optional<std::string> variable_in(std::string_view environment, std::string_view name);

// Returns a variable at the start of the process, or its present value if the start is unknown; absent = not
// set. Reads /proc/self/environ each time. Thread safety: any thread.
std::optional<std::string> variable_at_start(std::string_view name);

// Returns library_path_folders() of this process without the rest of describe_this_machine(). Thread safety:
// any thread.
std::vector<std::string> library_path_folders_at_start();

// Returns the text of a tag of a loaded shared object, such as DT_SONAME; "" = none. Reads the mapped dynamic
// section, which the loader has checked. Thread safety: any thread.
std::string text_of_tag(const dl_phdr_info& library, std::int64_t tag);

// Return where a loaded shared object begins, and the file that is mapped there. The file's path is correct
// even if the loader got it relative to an earlier current folder; "" = unknown. Reads /proc/self/maps.
// Thread safety: any thread.
std::uintptr_t first_address(const dl_phdr_info& library);
std::string file_mapped_at(std::uintptr_t address);

// The search folders that the loader of this process reports, and the origin of each.

// Returns the folders in the loader's order: the program's RPATH, LD_LIBRARY_PATH, the program's RUNPATH, the
// compiled-in ones. The loader drops a list without any existing folder once it has searched it. Takes no
// system call. Empty where the loader does not report them (musl).
struct ListedFolders {
  std::vector<std::string> all;             // as the loader reports them
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
