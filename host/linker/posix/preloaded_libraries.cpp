#include <algorithm>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/binary/binary.hpp"
#include "host/linker/search.hpp"
#include "host/linker/this_linux.hpp"

namespace enginehost::linker {
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
    if (came[i]) preloaded.push_back(all[i]);
  return preloaded;
}

}  // namespace enginehost::linker
