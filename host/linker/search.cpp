// glibc 2.36 elf/dl-load.c: is_dst, _dl_dst_substitute, is_trusted_path_normalize.
#include "host/linker/search.hpp"

#include <algorithm>
#include <string_view>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/linker/machine.hpp"

namespace enginehost::linker {
namespace {

bool continues_a_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns the length of that token after the '$'; 0 = another text.
std::size_t length_of_token(std::string_view after_dollar, std::string_view name) {
  const bool braces = after_dollar.starts_with('{');
  const std::string_view text = after_dollar.substr(braces ? 1 : 0);
  if (!text.starts_with(name)) return 0;
  const std::string_view rest = text.substr(name.size());
  if (braces) return rest.starts_with('}') ? name.size() + 2 : 0;
  return !rest.empty() && continues_a_name(rest.front()) ? 0 : name.size();
}

// Returns whether the folder is one of the loader's compiled-in folders, or below one, after removing "." and
// ".." from the text.
bool is_trusted(const Machine& machine, const std::string& folder) {
  const std::string normal = path_text((path_of(folder) / "").lexically_normal());
  return std::any_of(machine.default_directories.begin(), machine.default_directories.end(),
                     [&](const std::string& trusted) { return normal.starts_with(trusted + "/"); });
}

}  // namespace

std::string_view folder_of_file(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

std::string expand_tokens(const Machine& machine, std::string_view text, const Speaker& speaker) {
  struct Token {
    std::string_view name, value;
  };
  const Token tokens[] = {{"ORIGIN", speaker.folder}, {"PLATFORM", machine.platform}, {"LIB", machine.lib}};
  const Token& origin = tokens[0];
  bool from_program = false;
  std::string out;
  out.reserve(text.size() + speaker.folder.size());
  for (std::size_t i = 0; i < text.size();) {
    const Token* match = nullptr;
    std::size_t length = 0;
    if (text[i] == '$')
      for (const Token& token : tokens)
        if (match == nullptr && (length = length_of_token(text.substr(i + 1), token.name)) != 0)
          match = &token;
    if (match == nullptr) {
      out += text[i++];
      continue;
    }
    const std::size_t end = i + 1 + length;
    if (match == &origin && machine.secure) {
      // A user who starts the program can choose its folder (a hard link), but not the rest of the path. With
      // raised rights $ORIGIN must therefore come first and alone, and the result must be a system folder.
      if (i != 0 || (end < text.size() && text[end] != '/')) return {};
      from_program = speaker.is_program;
    }
    if (match->value.empty()) return {};
    out += match->value;
    i = end;
  }
  return from_program && !is_trusted(machine, out) ? std::string() : out;
}

std::string folder_of_element(const Machine& machine, const std::string& element, const Speaker& speaker) {
  // An empty element is the current folder.
  if (element.empty()) return path_text(machine.current_directory);
  std::string folder = expand_tokens(machine, element, speaker);
  if (folder.empty()) return {};
  if (folder.front() != '/') folder = path_text(machine.current_directory / path_of(folder));
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

namespace {

std::vector<std::string> folders_of(const Machine& machine, const std::vector<std::string>& elements) {
  std::vector<std::string> folders;
  if (elements.empty()) return folders;  // the usual case; asked for each library
  // _dl_init_paths expands the variable for the main map. musl's path_open expands no tokens and skips empty
  // elements.
  const bool glibc = machine.libc == Libc::glibc;
  const std::string program = path_text(machine.program);
  const Speaker speaker{program.empty() ? std::string_view() : folder_of_file(program), true};
  for (const std::string& element : elements) {
    std::string folder;
    if (glibc)
      folder = folder_of_element(machine, element, speaker);
    else if (!element.empty())
      folder = element.front() == '/' ? element : path_text(machine.current_directory / path_of(element));
    if (!folder.empty()) folders.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace

std::vector<std::string> split_library_path(std::string_view text) {
  std::string unified(text);
  for (char& c : unified)
    if (c == ';') c = ':';
  return unified.empty() ? std::vector<std::string>{} : split(unified, ':');
}

std::vector<std::string> split_musl_path(std::string_view text) {
  std::vector<std::string> folders;
  for (const std::string& line : split(text, '\n'))
    for (std::string& folder : split(line, ':'))
      if (!folder.empty()) folders.push_back(std::move(folder));
  return folders;
}

std::vector<std::string> musl_default_directories(const std::optional<std::string>& path_file) {
  return split_musl_path(path_file ? *path_file : std::string("/lib:/usr/local/lib:/usr/lib"));
}

std::vector<std::string> glibc_hwcaps_of_x86_64(std::string_view libc_version, std::uint32_t isa) {
  std::vector<std::string> folders;
  if (!libc_version.empty() && compare_versions(libc_version, "2.33") < 0) return folders;
  if ((isa & 8) != 0) folders.emplace_back("x86-64-v4");
  if ((isa & 4) != 0) folders.emplace_back("x86-64-v3");
  if ((isa & 2) != 0) folders.emplace_back("x86-64-v2");
  return folders;
}

std::vector<std::string> library_path_folders(const Machine& machine) {
  return machine.secure ? std::vector<std::string>() : folders_of(machine, machine.library_path);
}

std::vector<std::string> library_path_folders(const Machine& machine, std::string_view text) {
  return folders_of(machine, machine.libc == Libc::musl ? split_musl_path(text) : split_library_path(text));
}

namespace {

void add_elements(const Machine& machine, const std::vector<std::string>& elements, const Needer& owner,
                  const char* tag, std::vector<SearchPlace>& places) {
  // decompose_rpath: an empty path counts as no path.
  if (elements.size() == 1 && elements.front().empty()) return;
  const Speaker speaker{folder_of_file(owner.path), owner.is_program};
  for (const std::string& element : elements)
    if (std::string folder = folder_of_element(machine, element, speaker); !folder.empty())
      places.push_back({SearchPlace::Kind::folder, std::move(folder), tag, std::string(owner.path), false});
}

}  // namespace

std::string SearchPlace::why() const {
  return owner.empty() ? rule : rule + " of " + owner.substr(owner.rfind('/') + 1);
}

std::string SearchPlace::found_by() const { return owner.empty() ? rule : rule + " of " + owner; }

std::vector<SearchPlace> glibc_own_places(const Machine& machine, const std::vector<Needer>& chain) {
  std::vector<SearchPlace> places;
  const binary::BinaryInfo* needer = chain.empty() ? nullptr : chain.front().info;
  const bool has_runpath = needer != nullptr && needer->has_runpath;
  if (!has_runpath)
    for (const Needer& owner : chain)
      // A library's RPATH is ignored if it has a RUNPATH (elf/get-dynamic-info.h).
      if (owner.info != nullptr && owner.info->has_rpath && !owner.info->has_runpath)
        add_elements(machine, owner.info->rpath, owner, "RPATH", places);
  const std::string& variable = machine.library_path_source;
  for (std::string& folder : library_path_folders(machine))
    places.push_back({SearchPlace::Kind::folder, std::move(folder), variable, {}, false});
  if (has_runpath) add_elements(machine, needer->runpath, chain.front(), "RUNPATH", places);
  return places;
}

std::vector<SearchPlace> glibc_shared_places(const Machine& machine) {
  std::vector<SearchPlace> places;
  if (!machine.cache.empty())
    places.push_back({SearchPlace::Kind::cache, machine.cache_file, "ld.so.cache", {}, false});
  for (const std::string& folder : machine.default_directories)
    places.push_back({SearchPlace::Kind::folder, folder, "default", {}, true});
  return places;
}

// musl 1.2.3 ldso/dynlink.c: load_library, path_open, fixup_rpath, decode_dyn.

namespace {

// fixup_rpath: $ORIGIN is the folder of the name that the library was opened by. A path with any other token
// is ignored, including its other elements.
std::optional<std::string> expand_origin(std::string_view text, std::string_view origin) {
  std::string out;
  while (true) {
    const std::size_t dollar = text.find('$');
    out += text.substr(0, dollar);
    if (dollar == std::string_view::npos) return out;
    text.remove_prefix(dollar);
    // "$ORIGINAL" counts as "$ORIGIN" followed by "AL", because only the beginning is compared.
    if (text.starts_with("$ORIGIN"))
      text.remove_prefix(7);
    else if (text.starts_with("${ORIGIN}"))
      text.remove_prefix(9);
    else
      return std::nullopt;
    out += origin;
  }
}

}  // namespace

bool served_by_musl(std::string_view name) {
  if (!name.starts_with("lib")) return false;
  name.remove_prefix(3);
  for (std::string_view reserved : {"c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet."})
    if (name.starts_with(reserved)) return true;
  return false;
}

std::vector<SearchPlace> musl_places(const Machine& machine, const std::vector<Needer>& chain) {
  std::vector<SearchPlace> places;
  const std::string& variable = machine.library_path_source;
  for (std::string& folder : library_path_folders(machine))
    places.push_back({SearchPlace::Kind::folder, std::move(folder), variable, {}, false});
  for (const Needer& owner : chain) {
    if (owner.info == nullptr) continue;
    // decode_dyn: DT_RUNPATH replaces DT_RPATH; both are inherited.
    const bool runpath = owner.info->has_runpath;
    const std::size_t slash = owner.path.rfind('/');
    const std::string_view origin = slash == std::string_view::npos ? "." : owner.path.substr(0, slash);
    const std::string written = join(runpath ? owner.info->runpath : owner.info->rpath, ":");
    // With raised rights, the caller chooses the program's folder.
    if (owner.is_program && machine.secure && written.find('$') != std::string::npos) continue;
    if (const std::optional<std::string> path = expand_origin(written, origin))
      for (std::string& folder : split_musl_path(*path))
        places.push_back({SearchPlace::Kind::folder, std::move(folder), runpath ? "RUNPATH" : "RPATH",
                          std::string(owner.path), false});
  }
  for (const std::string& folder : machine.default_directories)
    places.push_back({SearchPlace::Kind::folder, folder, "default", {}, true});
  for (SearchPlace& place : places)
    if (place.directory.front() != '/')
      place.directory = path_text(machine.current_directory / path_of(place.directory));
  return places;
}

}  // namespace enginehost::linker
