// The loader settings and libraries of this process at its start, on Linux.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace enginehost::linker
