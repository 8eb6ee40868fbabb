#include "cache/installed.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace enginehost::cache {
namespace {

constexpr std::string_view first_line = "enginehost-ref 1";

// A value is one line, but a manifest may put any text into an option.
std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char character : text) {
    if (character == '\\')
      result += "\\\\";
    else if (character == '\n')
      result += "\\n";
    else if (character == '\r')
      result += "\\r";
    else
      result += character;
  }
  return result;
}

std::string unescaped(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return std::string(text);
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('\\'), text.size());
    result.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    // A trailing "\" stands for itself.
    const char next = text.size() > 1 ? text[1] : '\\';
    result += next == 'n' ? '\n' : next == 'r' ? '\r' : next;
    text.remove_prefix(std::min<std::size_t>(2, text.size()));
  }
  return result;
}

template <class Number>
bool take_number(std::string_view& text, Number& value) {
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(after - text.data()));
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return true;
}

struct TextMember {
  std::string_view key;
  std::string Installed::*member;
};
constexpr std::array<TextMember, 13> text_members{{{"build", &Installed::build},
                                                   {"engine", &Installed::engine},
                                                   {"version", &Installed::version},
                                                   {"flavor", &Installed::flavor},
                                                   {"digest", &Installed::digest},
                                                   {"artifacts", &Installed::artifacts_digest},
                                                   {"plugin", &Installed::plugin},
                                                   {"in_place", &Installed::in_place},
                                                   {"root", &Installed::root},
                                                   {"origin", &Installed::origin},
                                                   {"files_by", &Installed::files_by},
                                                   {"only_for", &Installed::only_for},
                                                   {"manifest", &Installed::manifest}}};
struct ListMember {
  std::string_view key;
  std::vector<std::string> Installed::*member;
};
constexpr std::array<ListMember, 5> list_members{{{"tree", &Installed::trees},
                                                  {"search", &Installed::search},
                                                  {"lazy", &Installed::lazy},
                                                  {"signer", &Installed::signers},
                                                  {"optional", &Installed::optional}}};

void add_line(std::string& text, std::string_view key, std::string_view value) {
  text += key;
  text += ' ';
  text += value;
  text += '\n';
}

}  // namespace

int strength_of_proof(const Installed& installed) {
  if (installed.files_by == "bundle") return 1;
  return installed.signers.empty() ? 2 : 3;
}

bool take_record_line(Installed& installed, std::string_view key, std::string_view value) {
  for (const TextMember& text : text_members)
    if (key == text.key) {
      installed.*text.member = unescaped(value);
      return true;
    }
  for (const ListMember& list : list_members)
    if (key == list.key) {
      (installed.*list.member).push_back(unescaped(value));
      return true;
    }
  if (key == "installed_at") return take_number(value, installed.installed_at);
  if (key == "size") return take_number(value, installed.size);
  if (key == "option") {
    const std::size_t middle = value.find('=');
    if (middle == std::string_view::npos) return false;
    installed.options.emplace_back(unescaped(value.substr(0, middle)), unescaped(value.substr(middle + 1)));
    return true;
  }
  if (key == "file") {
    LoadableFile file;
    if (!take_number(value, file.size) || !take_number(value, file.modified_ns) ||
        !take_number(value, file.inode))
      return false;
    file.path = unescaped(value);
    installed.files.push_back(std::move(file));
  }
  return true;
}

std::string record_lines(const Installed& installed) {
  std::string text;
  const auto line = [&](std::string_view key, std::string_view value) { add_line(text, key, value); };
  for (const TextMember& member : text_members)
    // The manifest comes last; those behind "plugin" are empty for many builds.
    if (member.key != "manifest" &&
        !(member.member != &Installed::plugin && (installed.*member.member).empty()))
      line(member.key, escaped(installed.*member.member));
  line("installed_at", std::to_string(installed.installed_at));
  line("size", std::to_string(installed.size));
  for (const ListMember& list : list_members)
    for (const std::string& value : installed.*list.member) line(list.key, escaped(value));
  // '=' separates name and value. The name contains none, because it is a JSON member that the schema
  // restricts.
  for (const auto& [name, value] : installed.options) line("option", escaped(name) + '=' + escaped(value));
  for (const LoadableFile& file : installed.files)
    line("file", std::to_string(file.size) + ' ' + std::to_string(file.modified_ns) + ' ' +
                     std::to_string(file.inode) + ' ' + escaped(file.path));
  return text;
}

std::string write_record(const Installed& installed) {
  std::string text(first_line);
  text += '\n';
  text += record_lines(installed);
  add_line(text, "manifest", escaped(installed.manifest));
  text += "end\n";
  return text;
}

Result<Installed> read_record(std::string_view text, std::string_view name, bool summary) {
  const auto no_record = [&](std::string_view problem) {
    return fail(diagnose("EH-F08").with("file", name).with("problem", problem));
  };
  if (text.empty()) return fail(diagnose("EH-F02").with("file", name).with("size", "0"));
  if (text.substr(0, text.find('\n')) != first_line)
    return no_record(text.starts_with("enginehost-ref ") ? "a newer program wrote this record"
                                                         : "not a record");
  Installed installed;
  bool ended = false;
  text.remove_prefix(std::min(text.size(), first_line.size() + 1));
  while (!text.empty() && !ended) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const std::size_t space = line.find(' ');
    const std::string_view key = line.substr(0, space);
    ended = key == "end" || (summary && (key == "file" || key == "manifest"));
    if (ended || space == std::string_view::npos) continue;
    if (!take_record_line(installed, key, line.substr(space + 1))) return no_record("malformed line");
  }
  if (!ended && !summary) return no_record("cut off");
  if (installed.build.empty() || installed.digest.empty()) return no_record("incomplete");
  return installed;
}

std::string rebase_into_view(const std::string& recorded, const Installed& installed) {
  const std::string view = "/views/" + installed.digest + "/";
  const std::string path(generic_text(path_of(recorded)));
  const std::size_t at = path.find(view);
  if (at == std::string::npos) return recorded;
  return std::string(path_text(installed.folder / path_of(path.substr(at + view.size()))));
}

}  // namespace enginehost::cache
