// What this process was told of its libraries when it began, as Linux' loaders take it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct dl_phdr_info;

namespace enginehost::linker {

// The environment as it was then, each NAME=value with a zero byte behind it. What setenv() did since is not
// in it, and not seen by the loader. Absent where it cannot be read (not Linux; /proc is not there) or where
// the program has written something else over it, as those do that set a title for themselves. Any thread.
std::optional<std::string> environment_at_start();
// Whether these bytes may be an environment: names before a "=", and nothing else.
bool is_environment(std::string_view bytes);
std::optional<std::string> variable_in(std::string_view environment, std::string_view name);

// A variable as it was then, or, where that is not to be had, as it is now. Absent = not set. Reads
// /proc/self/environ each time. Any thread.
std::optional<std::string> variable_at_start(std::string_view name);

// library_path_folders() of this process, without all else that describe_this_machine() looks at. Any thread.
std::vector<std::string> library_path_folders_at_start();

// What a tag of a shared object of this process names, as DT_SONAME does; "" = it has none. From the mapped
// dynamic section, which the loader has checked. Any thread.
std::string text_of_tag(const dl_phdr_info& library, std::int64_t tag);

// Where a shared object of this process begins, and the file that is mapped there: its path even if the
// loader was given one from a folder that is no longer the current one. "" = not to be told. Reads
// /proc/self/maps. Any thread.
std::uintptr_t first_address(const dl_phdr_info& library);
std::string file_mapped_at(std::uintptr_t address);

}  // namespace enginehost::linker
