// The folders of a search, and paths of the described machine as paths on this one.
#include <cctype>

#include "base/paths.hpp"
#include "host/linker/windows_names.hpp"

namespace enginehost::linker {
namespace {

class Places {
 public:
  void add(const std::string& directory, std::string why) {
    if (!directory.empty()) places_.push_back({directory, std::move(why)});
  }
  std::vector<WindowsPlace> take() { return std::move(places_); }

 private:
  std::vector<WindowsPlace> places_;
};

// "Search order using LOAD_LIBRARY_SEARCH flags".
void add_by_flags(const WindowsMachine& machine, std::uint32_t flags, const std::string& dll,
                  Places& places) {
  if ((flags & search_dll_load_dir) != 0) places.add(folder_of(dll), "folder of " + base_name(dll));
  if ((flags & (search_application_dir | search_default_dirs)) != 0)
    places.add(machine.application_directory, "folder of the program");
  if ((flags & (search_user_dirs | search_default_dirs)) != 0) {
    // Microsoft does not specify the order among added folders; in practice it is newest first.
    for (auto added = machine.added_directories.rbegin(); added != machine.added_directories.rend(); ++added)
      places.add(*added, "AddDllDirectory");
    places.add(machine.dll_directory, "SetDllDirectory");
  }
  if ((flags & (search_system32 | search_default_dirs)) != 0)
    places.add(machine.system_directory, "system folder");
}

// "Standard search order for unpackaged apps", and the alternate order, with the DLL's folder instead of the
// program's.
void add_standard(const WindowsMachine& machine, std::uint32_t flags, const std::string& dll,
                  Places& places) {
  if ((flags & altered_search_path) != 0)
    places.add(folder_of(dll), "folder of " + base_name(dll));
  else
    places.add(machine.application_directory, "folder of the program");
  // SetDllDirectory removes the current folder from the search and puts its own folder in the place that the
  // current folder has without safe mode.
  const bool current = machine.dll_directory.empty();
  places.add(machine.dll_directory, "SetDllDirectory");
  if (current && !machine.safe_search) places.add(machine.current_directory, "current folder");
  places.add(machine.system_directory, "system folder");
  places.add(machine.system16_directory, "16-bit system folder");
  places.add(machine.windows_directory, "Windows folder");
  if (current && machine.safe_search) places.add(machine.current_directory, "current folder");
  for (const std::string& folder : machine.path) places.add(folder, "PATH");
}

}  // namespace

std::vector<WindowsPlace> windows_places(const WindowsMachine& machine, std::uint32_t flags,
                                         const std::string& dll) {
  constexpr std::uint32_t search_flags =
      search_dll_load_dir | search_application_dir | search_user_dirs | search_system32 | search_default_dirs;
  Places places;
  if ((flags & search_flags) != 0)
    add_by_flags(machine, flags, dll, places);
  else if (machine.default_flags != 0)
    // "SetDefaultDllDirectories function": used if no such flag is given. The altered search then only adds
    // the DLL's own folder (RtlGetSearchPath of Wine, tests/windows).
    add_by_flags(machine,
                 machine.default_flags | ((flags & altered_search_path) != 0 ? search_dll_load_dir : 0u), dll,
                 places);
  else
    add_standard(machine, flags, dll, places);
  return places.take();
}

std::filesystem::path on_disk(const WindowsMachine& machine, std::string_view path, ForeignReader& reader) {
  if (path.starts_with('/')) {
    const std::filesystem::path whole(path_of(path));
    return reader.find_ignoring_case(whole.parent_path(), path_text(whole.filename()));
  }
  if (path.starts_with("\\\\?\\")) path.remove_prefix(4);
  if (path.size() < 2 || path[1] != ':') return {};
  const auto drive =
      machine.drives.find(static_cast<char>(std::toupper(static_cast<unsigned char>(path.front()))));
  if (drive == machine.drives.end()) return {};
  std::filesystem::path at = drive->second;
  path.remove_prefix(2);
  while (!path.empty()) {
    const std::size_t end = path.find_first_of("\\/");
    const std::string_view element = path.substr(0, end);
    if (!element.empty() && element != ".") at = reader.find_ignoring_case(at, element);
    if (at.empty() || end == std::string_view::npos) return at;
    path.remove_prefix(end + 1);
  }
  return at;
}

}  // namespace enginehost::linker
