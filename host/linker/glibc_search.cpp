#include <algorithm>
#include <string_view>

#include "base/paths.hpp"
#include "host/linker/search.hpp"

namespace enginehost::linker {
namespace {

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, std::max<std::size_t>(slash, 1)));
}

std::string file_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// One element of a search path as a folder; empty = the loader leaves it out.
std::string folder_of_element(const Machine& machine, const std::string& element, const std::string& origin) {
  // fillin_rpath: an empty element is the current folder.
  if (element.empty()) return path_text(machine.current_directory);
  std::string folder = expand_tokens(machine, element, origin);
  if (folder.empty()) return {};
  if (folder.front() != '/') folder = path_text(machine.current_directory / path_of(folder));
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  // A program with raised rights takes folders made from $ORIGIN only when they are the system's own.
  if (machine.secure && element.find('$') != std::string::npos &&
      std::find(machine.default_directories.begin(), machine.default_directories.end(), folder) ==
          machine.default_directories.end())
    return {};
  return folder;
}

void add_elements(const Machine& machine, const std::vector<std::string>& elements, const Needer& owner,
                  const char* tag, std::vector<Place>& places) {
  // decompose_rpath: a path that is empty as a whole is as good as none.
  if (elements.size() == 1 && elements.front().empty()) return;
  const std::string origin = folder_of(owner.path);
  const std::string why = std::string(tag) + " of " + file_name(owner.path);
  const std::string found_by = std::string(tag) + " of " + owner.path;
  for (const std::string& element : elements)
    if (std::string folder = folder_of_element(machine, element, origin); !folder.empty())
      places.push_back({Place::Kind::folder, std::move(folder), why, found_by, false});
}

}  // namespace

std::string expand_tokens(const Machine& machine, std::string_view text, std::string_view origin) {
  struct Token {
    std::string_view name;
    std::string_view value;
  };
  const Token tokens[] = {{"ORIGIN", origin}, {"LIB", machine.lib}, {"PLATFORM", machine.platform}};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      const std::size_t end = std::min(text.find('$', i), text.size());
      out += text.substr(i, end - i);
      i = end;
      continue;
    }
    std::string_view rest = text.substr(i + 1);
    const bool braces = !rest.empty() && rest.front() == '{';
    if (braces) rest.remove_prefix(1);
    const Token* match = nullptr;
    for (const Token& token : tokens)
      if (rest.substr(0, token.name.size()) == token.name &&
          (!braces || (rest.size() > token.name.size() && rest[token.name.size()] == '}')))
        match = &token;
    if (match == nullptr) {
      out += text[i++];
      continue;
    }
    if (match->value.empty()) return {};
    out += match->value;
    i += 1 + match->name.size() + (braces ? 2 : 0);
  }
  return out;
}

std::vector<Place> glibc_own_places(const Machine& machine, const std::vector<Needer>& chain) {
  std::vector<Place> places;
  const binary::BinaryInfo* needer = chain.empty() ? nullptr : chain.front().info;
  const bool has_runpath = needer != nullptr && needer->has_runpath;
  if (!has_runpath)
    for (const Needer& owner : chain)
      // A library's RPATH does not count once it has a RUNPATH (elf/get-dynamic-info.h).
      if (owner.info != nullptr && owner.info->has_rpath && !owner.info->has_runpath)
        add_elements(machine, owner.info->rpath, owner, "RPATH", places);
  if (!machine.secure)
    for (const std::string& element : machine.library_path) {
      std::string folder = folder_of_element(machine, element, path_text(machine.current_directory));
      if (!folder.empty())
        places.push_back({Place::Kind::folder, std::move(folder), machine.library_path_source,
                          machine.library_path_source, false});
    }
  if (has_runpath) add_elements(machine, needer->runpath, chain.front(), "RUNPATH", places);
  return places;
}

std::vector<Place> glibc_shared_places(const Machine& machine) {
  std::vector<Place> places;
  if (!machine.cache.empty())
    places.push_back({Place::Kind::cache, machine.cache_file, "ld.so.cache", "ld.so.cache", false});
  for (const std::string& folder : machine.default_directories)
    places.push_back({Place::Kind::folder, folder, "default", "default", true});
  return places;
}

}  // namespace enginehost::linker
