#include "host/linker/posix/loader_folders.hpp"

#include <dlfcn.h>
#ifdef __GLIBC__
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#endif

#include <algorithm>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/search.hpp"
#include "host/linker/this_linux.hpp"

namespace enginehost::linker {
namespace {

using Folders = std::vector<std::string>;

#ifdef __GLIBC__
std::string text_of_program(std::int64_t tag) {
  struct Asked {
    std::int64_t tag;
    std::string text;
  } asked{tag, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* into) {
        auto& question = *static_cast<Asked*>(into);
        question.text = text_of_tag(*program, question.tag);
        return 1;  // the first object is the program
      },
      &asked);
  return std::move(asked.text);
}

Folders folders_of_tag(const Machine& machine, std::int64_t tag) {
  const std::string path = text_of_program(tag);
  return path.empty() ? Folders() : as_listed(machine, split(path, ':'));
}
#endif

// Returns false if they are present but not all in front.
bool drop_front(Folders& folders, const Folders& front) {
  if (front.size() <= folders.size() && std::equal(front.begin(), front.end(), folders.begin())) {
    folders.erase(folders.begin(), folders.begin() + static_cast<std::ptrdiff_t>(front.size()));
    return true;
  }
  return std::find_first_of(folders.begin(), folders.end(), front.begin(), front.end()) == folders.end();
}

bool drop_back(Folders& folders, const Folders& back) {
  if (back.size() > folders.size() || !std::equal(back.rbegin(), back.rend(), folders.rbegin())) return false;
  folders.resize(folders.size() - back.size());
  return true;
}

}  // namespace

namespace {

// Calls action(folder) for each folder, in the loader's order.
template <class Action>
void for_each_searched([[maybe_unused]] Action action) {
#ifdef __GLIBC__
  const std::unique_ptr<void, int (*)(void*)> program(::dlopen(nullptr, RTLD_LAZY), &::dlclose);
  // dlinfo(3): first the size, then a buffer of that size for everything. glibc sets no flags that
  // distinguish the folders.
  Dl_serinfo size{};
  if (program == nullptr || ::dlinfo(program.get(), RTLD_DI_SERINFOSIZE, &size) != 0) return;
  const std::unique_ptr<std::byte[]> room(new std::byte[size.dls_size]);
  auto* const all = reinterpret_cast<Dl_serinfo*>(room.get());
  *all = size;
  if (::dlinfo(program.get(), RTLD_DI_SERINFO, all) != 0) return;
  for (unsigned i = 0; i < all->dls_cnt; ++i) action(all->dls_serpath[i].dls_name);
#endif
}

}  // namespace

std::vector<std::string> searched_by_loader() {
  Folders folders;
  for_each_searched([&](const char* folder) { folders.emplace_back(folder); });
  return folders;
}

std::string loader_folders_at_start() {
  std::string folders;  // one text, because every open needs it
  for_each_searched([&](const char* folder) { folders.append(folder).push_back(':'); });
  return folders.empty() ? library_path_at_start().value_or("") : folders;
}

ListedFolders listed_folders([[maybe_unused]] const Machine& machine) {
  ListedFolders folders;
  folders.all = searched_by_loader();
#ifdef __GLIBC__
  folders.runpath = folders_of_tag(machine, DT_RUNPATH);
  if (folders.runpath.empty()) folders.rpath = folders_of_tag(machine, DT_RPATH);
#endif
  return folders;
}

std::vector<std::string> as_listed(const Machine& machine, const std::vector<std::string>& elements) {
  Folders folders;
  const std::string program = path_text(machine.program);
  const Speaker speaker{program.empty() ? std::string_view() : folder_of_file(program), true};
  for (const std::string& element : elements) {
    std::string folder = element.empty() ? "." : expand_tokens(machine, element, speaker);
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(std::move(folder));
  }
  return folders;
}

std::vector<std::string> compiled_in(const ListedFolders& folders,
                                     const std::vector<std::string>& library_path) {
  Folders rest = folders.all;
  const bool understood = drop_front(rest, folders.rpath) && drop_front(rest, library_path) &&
                          drop_front(rest, folders.runpath) &&
                          std::all_of(rest.begin(), rest.end(),
                                      [](const std::string& folder) { return folder.starts_with('/'); });
  return understood ? rest : Folders();
}

std::optional<std::vector<std::string>> reported_by_environment(const ListedFolders& folders,
                                                                const std::vector<std::string>& compiled_in) {
  Folders rest = folders.all;
  if (compiled_in.empty() || !drop_back(rest, compiled_in)) return std::nullopt;
  drop_back(rest, folders.runpath);
  drop_front(rest, folders.rpath);
  return rest;
}

}  // namespace enginehost::linker
