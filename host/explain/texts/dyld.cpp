// dyld's texts (dyld 4: dyld/Loader.cpp, dyld/DyldRuntimeState.cpp, mach_o/Error.cpp). They have several
// lines; the last lists every file that was tried and why it was refused.
#include <algorithm>

#include "base/text.hpp"
#include "host/explain/texts/reading.hpp"

namespace enginehost::explain::texts {
namespace {

constexpr std::size_t most_tried = 64;

// '/a/libx.dylib' (no such file), '/b/libx.dylib' (mach-o file, but is an incompatible architecture (have …))
std::vector<LoaderHint::TriedPath> read_tried(std::string_view list) {
  std::vector<LoaderHint::TriedPath> tried;
  while (tried.size() < most_tried) {
    const std::size_t open = list.find('\'');
    const std::size_t close = open == std::string_view::npos ? open : list.find("' (", open + 1);
    if (close == std::string_view::npos) break;
    std::size_t end = close + 3;
    for (int depth = 1; end < list.size(); ++end) {
      depth += list[end] == '(' ? 1 : list[end] == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    tried.push_back({std::string(list.substr(open + 1, close - open - 1)),
                     std::string(list.substr(close + 3, end - close - 3))});
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return tried;
}

// no suitable image found.  Did find:
//     /a/libx.dylib: mach-o, but wrong architecture
std::vector<LoaderHint::TriedPath> read_found(std::string_view list) {
  std::vector<LoaderHint::TriedPath> tried;
  for (const std::string& line : split(list, '\n')) {
    const std::string_view entry = trim(line);
    const std::size_t at = entry.find(": ");
    if (entry.starts_with('/') && at != std::string_view::npos && tried.size() < most_tried)
      tried.push_back({std::string(entry.substr(0, at)), std::string(entry.substr(at + 2))});
  }
  return tried;
}

constexpr Phrase reasons[] = {
    {"incompatible architecture", Code::macos_library_for_other_processor},
    {"wrong architecture", Code::macos_library_for_other_processor},  // dyld 3 and before
    {"not a mach-o file", Code::not_a_mach_o_file},
    {"slice is not valid mach-o file", Code::not_a_mach_o_file},
    {"truncated", Code::not_a_mach_o_file},
    {"file too short", Code::not_a_mach_o_file},
    {"load commands exceed length of file", Code::not_a_mach_o_file},
    {"segment '", Code::not_a_mach_o_file},
    {"library load disallowed by system policy", Code::quarantined_by_macos},
    {"library load denied by system policy", Code::quarantined_by_macos},
    {"code signature ", Code::code_signature_refused},
    {"code signing blocked mmap()", Code::code_signature_refused},
    {"not valid for use in process", Code::code_signature_refused},
    {"code signature invalid", Code::code_signature_refused},
    {"file system sandbox blocked", Code::blocked_by_sandbox},
    {"blocked by sandbox", Code::blocked_by_sandbox},
    {"relative path not allowed in hardened program", Code::blocked_by_sandbox},
    {"not allowed in hardened program", Code::blocked_by_sandbox},
    {"cannot dlopen a main executable", Code::not_for_this_apple_platform},
    {"wrong platform to load into process", Code::not_for_this_apple_platform},
    {"which is newer than running OS", Code::macos_too_old},
};

Code class_of(std::string_view reason) {
  const Phrase* const known = find_phrase(reason, reasons);
  return known != nullptr ? known->code : Code::none;
}

// <8E2D…-…> /path/of/file(…): removes the identifier, and dyld's addition in parentheses.
std::string file_of(std::string text) {
  text = until(text, "\n");
  if (text.starts_with('<')) text = after(text, "> ");
  if (const std::size_t at = text.find(" (built for"); at != std::string::npos) text.resize(at);
  return text;
}

// (have 'arm64', need 'x86_64')
void take_processors(std::string_view reason, LoaderHint& hint) {
  const bool bare = contains(reason, "have (");  // some releases write (have (arm64), need (x86_64))
  hint.found = bare ? between(reason, "have (", ")") : between(reason, "have '", "'");
  hint.required = bare ? between(reason, "need (", ")") : between(reason, "need '", "'");
}

// A reason other than "no such file" decides: a file that exists and was refused is the cause.
void judge_tried(LoaderHint& hint, Code otherwise) {
  hint.code = otherwise;
  for (const LoaderHint::TriedPath& one : hint.tried)
    if (const Code code = class_of(one.reason); code != Code::none) {
      hint.code = code;
      hint.subject = one.path;
      take_processors(one.reason, hint);
      return;
    }
}

}  // namespace

std::optional<LoaderHint> read_dyld(std::string_view text) {
  LoaderHint hint;
  hint.tried = read_tried(after(text, "tried: "));
  if (hint.tried.empty()) hint.tried = read_found(after(text, "Did find:"));
  if (contains(text, "Library not loaded: ")) {
    hint.subject = until(after(text, "Library not loaded: "), "\n");
    hint.required_by = file_of(after(text, "Referenced from: "));
    judge_tried(hint, Code::macos_library_missing);
    return hint;
  }
  if (contains(text, "Symbol not found: ")) {
    const std::string rest = after(text, "Symbol not found: ");
    hint.symbol = until(until(rest, "\n"), " ");
    hint.required_by = file_of(after(rest, "Referenced from: "));
    hint.subject = file_of(after(rest, "Expected in: "));
    hint.code = Code::symbol_missing;
    if (constexpr std::string_view newer = " which is newer than running OS"; contains(rest, newer)) {
      hint.required = between(rest, "built for macOS ", newer);
      hint.code = Code::macos_too_old;
    }
    return hint;
  }
  hint.subject = until(between(text, "dlopen(", ")"), ", 0x");
  if (contains(text, "dlopen(") && !hint.tried.empty()) {
    judge_tried(hint, Code::file_not_readable);
    return hint;
  }
  hint.code = class_of(text);
  if (hint.code == Code::none || !(contains(text, "dlopen(") || contains(text, "dyld"))) return std::nullopt;
  take_processors(text, hint);
  return hint;
}

}  // namespace enginehost::explain::texts
