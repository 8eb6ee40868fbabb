// Windows paths and module names as text.
#pragma once
#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "host/linker/windows.hpp"

namespace enginehost::linker {

inline std::string folder_of(const std::string& path) {
  const std::size_t at = path.find_last_of("\\/");
  return at == std::string::npos ? std::string() : path.substr(0, std::max<std::size_t>(at, 1));
}
inline std::string base_name(const std::string& path) { return path.substr(path.find_last_of("\\/") + 1); }
inline std::string joined(const std::string& folder, const std::string& name) {
  const char separator = folder.starts_with('/') ? '/' : '\\';
  return folder.back() == separator ? folder + name : folder + separator + name;
}

// Adds ".dll" to a name without an extension ("LoadLibraryExW function").
inline std::string module_name(const std::string& written) {
  const std::string name = to_lower(base_name(written));
  return name.find('.') == std::string::npos ? name + ".dll" : name;
}

// Adds the warnings EH-W06, W07, W08 and W12 to the closure's list.
void warn(const WindowsMachine& machine, WindowsClosure& closure, Reader& reader);

}  // namespace enginehost::linker
