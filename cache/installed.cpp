#include "cache/installed.hpp"

#include <algorithm>
#include <array>

#include "base/paths.hpp"
#include "base/record.hpp"

namespace enginehost::cache {
namespace {

constexpr std::string_view first_line = "enginehost-ref 1";

struct TextMember {
  std::string_view key;
  std::string Installed::*member;
};
constexpr std::array<TextMember, 14> text_members{{{"build", &Installed::build},
                                                   {"id", &Installed::id},
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
constexpr std::array<ListMember, 6> list_members{{{"tree", &Installed::trees},
                                                  {"search", &Installed::search},
                                                  {"lazy", &Installed::lazy},
                                                  {"signer", &Installed::signers},
                                                  {"stand_in", &Installed::stand_ins},
                                                  {"optional", &Installed::optional}}};

}  // namespace

int strength_of_proof(const Installed& installed) {
  if (installed.files_by == "bundle") return 1;
  return installed.signers.empty() ? 2 : 3;
}

bool take_record_line(Installed& installed, std::string_view key, std::string_view value) {
  for (const TextMember& text : text_members)
    if (key == text.key) {
      installed.*text.member = unescaped_line(value);
      return true;
    }
  for (const ListMember& list : list_members)
    if (key == list.key) {
      (installed.*list.member).push_back(unescaped_line(value));
      return true;
    }
  if (key == "installed_at") return take_number(value, installed.installed_at);
  if (key == "size") return take_number(value, installed.size);
  if (key == "option") {
    const std::size_t middle = value.find('=');
    if (middle == std::string_view::npos) return false;
    installed.options.emplace_back(unescaped_line(value.substr(0, middle)),
                                   unescaped_line(value.substr(middle + 1)));
    return true;
  }
  if (key == "file") {
    LoadableFile file;
    if (!take_number(value, file.size) || !take_number(value, file.modified_ns) ||
        !take_number(value, file.inode))
      return false;
    file.path = unescaped_line(value);
    installed.files.push_back(std::move(file));
  }
  return true;
}

std::string record_lines(const Installed& installed) {
  std::string text;
  const auto line = [&](std::string_view key, std::string_view value) {
    add_key_and_value(text, key, value);
  };
  for (const TextMember& member : text_members)
    // The manifest comes last; those behind "plugin" are empty for many builds.
    if (member.key != "manifest" &&
        !(member.member != &Installed::plugin && (installed.*member.member).empty()))
      line(member.key, escaped_line(installed.*member.member));
  line("installed_at", std::to_string(installed.installed_at));
  line("size", std::to_string(installed.size));
  for (const ListMember& list : list_members)
    for (const std::string& value : installed.*list.member) line(list.key, escaped_line(value));
  // '=' separates name and value. The name contains none, because it is a JSON member that the schema
  // restricts.
  for (const auto& [name, value] : installed.options)
    line("option", escaped_line(name) + '=' + escaped_line(value));
  for (const LoadableFile& file : installed.files)
    line("file", std::to_string(file.size) + ' ' + std::to_string(file.modified_ns) + ' ' +
                     std::to_string(file.inode) + ' ' + escaped_line(file.path));
  return text;
}

std::string write_record(const Installed& installed) {
  std::string text(first_line);
  text += '\n';
  text += record_lines(installed);
  add_key_and_value(text, "manifest", escaped_line(installed.manifest));
  text += "end\n";
  return text;
}

Result<Installed> read_record(std::string_view text, std::string_view name, bool summary) {
  const auto no_record = [&](std::string_view problem) {
    return fail(diagnose(Code::file_damaged).with(Key::file, name).with(Key::problem, problem));
  };
  if (text.empty()) return fail(diagnose(Code::file_empty).with(Key::file, name).with(Key::size, "0"));
  if (text.substr(0, text.find('\n')) != first_line)
    return no_record(text.starts_with("enginehost-ref ") ? "a newer program wrote this record"
                                                         : "not a record");
  Installed installed;
  bool ended = false;
  text.remove_prefix(std::min(text.size(), first_line.size() + 1));
  while (!ended) {
    const auto line = take_key_and_value(text);
    if (!line) break;
    ended = line->key == "end" || (summary && (line->key == "file" || line->key == "manifest"));
    if (ended) continue;
    if (!take_record_line(installed, line->key, line->value)) return no_record("malformed line");
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
