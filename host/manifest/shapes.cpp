#include "host/manifest/shapes.hpp"

#include <algorithm>

#include "base/sha256.hpp"

namespace enginehost::manifest {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
bool is_id_character(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '+' || c == '-'; }

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool is_path_character(char c) {
  // Refuses backslash and colon, which have another meaning on Windows.
  return static_cast<unsigned char>(c) >= 0x20 && c != '\\' && c != ':' && c != 0x7f;
}

bool is_number(std::string_view text, std::size_t most) {
  return !text.empty() && text.size() <= most && std::all_of(text.begin(), text.end(), is_digit);
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

bool is_text(std::string_view text) { return !text.empty() && text.find('\0') == std::string_view::npos; }

bool is_id(std::string_view text) {
  if (text.empty() || text.size() > 128 || !(is_letter(text[0]) || is_digit(text[0]))) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inner_dot = text[i] == '.' && i + 1 < text.size() && text[i + 1] != '.';
    if (!is_id_character(text[i]) && !inner_dot) return false;
  }
  return true;
}

bool is_lower_id(std::string_view text) {
  return is_id(text) && std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
    return is_lower(c) || is_digit(c) || c == '_' || c == '.' || c == '-';
  });
}

bool is_digest(std::string_view text) { return is_sha256_hex(text); }

bool is_time(std::string_view text) {
  constexpr std::string_view model = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != model.size()) return false;
  for (std::size_t i = 0; i < model.size(); ++i)
    if (model[i] == 'd' ? !is_digit(text[i]) : text[i] != model[i]) return false;
  const auto within = [&](std::size_t at, std::string_view least, std::string_view most) {
    return text.substr(at, 2) >= least && text.substr(at, 2) <= most;
  };
  return within(5, "01", "12") && within(8, "01", "31") && within(11, "00", "23") && within(14, "00", "59") &&
         within(17, "00", "59");
}

bool is_version_bound(std::string_view text) {
  if (text.size() > 1024) return false;
  for (;;) {
    const std::size_t comma = text.find(',');
    std::string_view one = without_blanks(text.substr(0, comma));
    for (const std::string_view comparison : {">=", "<=", "==", ">", "<"})
      if (one.starts_with(comparison)) {
        one = without_blanks(one.substr(comparison.size()));
        break;
      }
    if (one.empty() || !is_digit(one[0])) return false;
    if (!std::all_of(one.begin(), one.end(), [](char c) { return is_id_character(c) || c == '.'; }))
      return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

bool is_short_version(std::string_view text) {
  const std::size_t dot = text.find('.');
  return dot != std::string_view::npos && is_number(text.substr(0, dot), 2) &&
         is_number(text.substr(dot + 1), 2);
}

bool is_capability(std::string_view text) {
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  const std::size_t dot = text.find('.');
  return dot != std::string_view::npos && is_number(text.substr(0, dot), 2) &&
         is_number(text.substr(dot + 1), 1);
}

bool is_view_path(std::string_view text) {
  if (text.empty() || text.size() > 1024 || !std::all_of(text.begin(), text.end(), is_path_character))
    return false;
  for (;;) {
    const std::size_t slash = text.find('/');
    const std::string_view element = text.substr(0, slash);
    if (element.empty() || element == "." || element == "..") return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

bool is_view_folder(std::string_view text) { return text == "." || is_view_path(text); }

bool is_file_name(std::string_view text) {
  return is_view_path(text) && text.find('/') == std::string_view::npos;
}

bool is_url_text(std::string_view text) {
  const std::size_t begin = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
  return begin != 0 && text.size() > begin && std::all_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
         });
}

bool is_gfx(std::string_view text) {
  return text.starts_with("gfx") && text.size() > 3 && text.size() <= 12 &&
         std::all_of(text.begin() + 3, text.end(),
                     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_key_id(std::string_view text) {
  return text.size() == 16 && text.find_first_not_of("0123456789ABCDEF") == std::string_view::npos;
}

bool is_archive(std::string_view text) {
  return one_of(text, {"zip", "tar", "tar.gz", "tar.xz", "tar.zst", "none"});
}
bool is_consent(std::string_view text) { return one_of(text, {"explicit", "implicit"}); }
bool is_redistribution(std::string_view text) { return one_of(text, {"yes", "no", "ask"}); }

std::string_view describe(Shape shape) {
  if (shape == is_id) return "letters, digits, \"_\", \"+\", \"-\" and single dots between them, 128 at most";
  if (shape == is_lower_id)
    return "lower-case letters, digits, \"_\", \"+\", \"-\" and single dots between them";
  if (shape == is_word) return "lower-case letters, digits, \"_\", \".\", \"-\", 32 at most";
  if (shape == is_digest) return "64 lower-case hexadecimal digits";
  if (shape == is_time) return "a time like 2026-11-20T00:00:00Z";
  if (shape == is_version_bound) return "a version bound like \">=2.17\", of 1024 characters at most";
  if (shape == is_short_version) return "a version like \"11.8\"";
  if (shape == is_capability) return "a compute capability like \"8.6\"";
  if (shape == is_view_path) return "a relative path without \".\", \"..\", \"\\\" and \":\"";
  if (shape == is_view_folder) return "a relative folder without \"..\", \"\\\" and \":\", or \".\"";
  if (shape == is_file_name) return "a file name without a folder";
  if (shape == is_url_text) return "an http or https URL";
  if (shape == is_gfx) return "a name like \"gfx1100\"";
  if (shape == is_key_id) return "16 upper-case hexadecimal digits";
  if (shape == is_archive) return "one of zip, tar, tar.gz, tar.xz, tar.zst, none";
  if (shape == is_consent) return "\"explicit\" or \"implicit\"";
  if (shape == is_redistribution) return "\"yes\", \"no\" or \"ask\"";
  return "text that is not empty and holds no NUL";
}

}  // namespace enginehost::manifest
