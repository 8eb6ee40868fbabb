#include <elf.h>
#include <link.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/binary/binary.hpp"
#include "host/linker/dyld.hpp"
#include "host/linker/machine.hpp"
#include "host/linker/search.hpp"
#include "host/linker/this_linux.hpp"

namespace enginehost::linker {

std::vector<LoadedLibrary> loaded_libraries() {
  struct Found {
    std::vector<LoadedLibrary> libraries;
    // Positions of libraries that were opened by a relative path.
    std::vector<std::pair<std::size_t, std::uintptr_t>> relative;
  } found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* data) {
        auto& into = *static_cast<Found*>(data);
        // The program has an empty name, the vdso one without a folder.
        if (library->dlpi_name == nullptr || std::strchr(library->dlpi_name, '/') == nullptr) return 0;
        if (library->dlpi_name[0] != '/')
          into.relative.emplace_back(into.libraries.size(), first_address(*library));
        into.libraries.push_back({text_of_tag(*library, DT_SONAME), library->dlpi_name});
        return 0;
      },
      &found);
  for (const auto& [at, address] : found.relative)
    found.libraries[at].path = path_of(file_mapped_at(address));
  std::erase_if(found.libraries, [](const LoadedLibrary& library) { return library.path.empty(); });
  return std::move(found.libraries);
}

namespace {

// elf/rtld.c splits LD_PRELOAD at spaces and colons, and the file at any white space.
std::vector<std::string> names_of_preloads() {
  std::string text;
  // With raised rights, only names in the system's folders count; these are rare, so the variable is ignored.
  if (!has_more_rights_than_its_caller()) text = variable_at_start("LD_PRELOAD").value_or("");
  text += ' ' + read_file("/etc/ld.so.preload").value_or("");
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ':' || c == '\t' || c == '\n'; }, ' ');
  std::vector<std::string> names = split(text, ' ');
  std::erase(names, "");
  return names;
}

bool is_named(const LoadedLibrary& library, const std::string& name) {
  if (name.find('/') == std::string::npos) return library.soname == name || library.path.filename() == name;
  std::error_code error;
  return library.path == name || std::filesystem::equivalent(library.path, path_of(name), error);
}

}  // namespace

std::vector<LoadedLibrary> preloaded_libraries() {
  const std::vector<std::string> names = names_of_preloads();
  if (names.empty()) return {};
  const Machine machine = describe_this_machine();
  const std::vector<LoadedLibrary> all = loaded_libraries();
  std::vector<bool> came(all.size());
  std::vector<std::size_t> pending;
  const auto take = [&](auto is_wanted) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!came[i] && is_wanted(all[i])) {
        came[i] = true;
        pending.push_back(i);
      }
  };
  const std::string program = path_text(machine.program);
  for (const std::string& name : names) {
    // The loader expands tokens for the program.
    const std::string expanded =
        machine.libc == Libc::glibc ? expand_tokens(machine, name, {folder_of_file(program), true}) : name;
    take([&](const LoadedLibrary& library) { return is_named(library, expanded); });
  }
  while (!pending.empty()) {
    const auto info = binary::read_binary(all[pending.back()].path);
    pending.pop_back();
    if (!info) continue;
    take([&](const LoadedLibrary& library) {
      return !library.soname.empty() &&
             std::find(info->needed.begin(), info->needed.end(), library.soname) != info->needed.end();
    });
  }
  std::vector<LoadedLibrary> preloaded;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (came[i]) preloaded.push_back({all[i].soname, all[i].path, true});
  return preloaded;
}

std::optional<std::string> quarantine_text(const std::filesystem::path& file) {
  char text[1024];
  const ssize_t size = ::lgetxattr(file.c_str(), "user.com.apple.quarantine", text, sizeof text);
  if (size < 0) return std::nullopt;
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace enginehost::linker
