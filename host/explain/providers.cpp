#include "host/explain/providers.hpp"

#include "base/text.hpp"

namespace enginehost::explain {
namespace {

bool is_windows_name(std::string_view name) { return name.ends_with(".dll"); }

bool fits(std::string_view library, std::string_view file) {
  if (library == file) return true;
  if (!library.starts_with(file)) return false;
  // "libcudart.so.12" also matches "libcudart.so.12.4.127"; a beginning matches every name that continues it.
  return file.ends_with(".so") || file.find(".so") == std::string_view::npos || library[file.size()] == '.';
}

}  // namespace

std::span<const Provider> all_providers() { return vendor::in_use().libraries; }

const Provider* provider_of(std::string_view library) {
  library.remove_prefix(library.find_last_of("/\\") + 1);
  // Names of DLLs are not case-sensitive.
  const std::string lower = to_lower(library);
  for (const Provider& row : all_providers()) {
    if (is_windows_name(lower) ? fits(lower, to_lower(row.file)) : fits(library, row.file)) return &row;
  }
  return nullptr;
}

std::string provider_text(std::string_view library) {
  const Provider* provider = provider_of(library);
  if (provider == nullptr) return {};
  library.remove_prefix(library.find_last_of("/\\") + 1);
  std::string text = provider->what;
  const char* separator = ": ";
  const auto add = [&](std::string_view where, std::string_view name) {
    if (name.empty()) return;
    text += separator;
    text += where;
    text += name;
    separator = ", ";
  };
  add("Debian package ", provider->debian);
  // A Fedora package provides each of its libraries by name; "()(64bit)" marks 64-bit ones. Names for Fedora
  // and most of conda's were not compared with the packages themselves.
  if (provider->fedora) add("probably Fedora: dnf install ", "'" + std::string(library) + "()(64bit)'");
  add(provider->conda_forge ? "conda-forge's package " : "probably conda package ", provider->conda);
  add("package index ", provider->package_index);
  add("NVIDIA's package ", provider->nvidia);
  add("", provider->other);
  return text;
}

}  // namespace enginehost::explain
