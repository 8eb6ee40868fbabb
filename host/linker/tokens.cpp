// glibc 2.36 elf/dl-load.c: is_dst, _dl_dst_substitute, is_trusted_path_normalize.
#include <algorithm>
#include <string_view>

#include "base/paths.hpp"
#include "host/linker/search.hpp"

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

}  // namespace enginehost::linker
