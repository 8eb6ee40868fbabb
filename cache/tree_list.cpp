#include "cache/tree_list.hpp"

#include <algorithm>
#include <filesystem>

#include "base/paths.hpp"
#include "base/record.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace enginehost::cache {
namespace {

constexpr std::size_t path_limit = 1024;
constexpr std::size_t depth_limit = 64;

std::string line_of(const TreeEntry& entry) {
  std::string line(1, static_cast<char>(entry.kind));
  line += ' ';
  line += std::to_string(entry.size);
  line += ' ';
  line += entry.identity;
  line += ' ';
  line += entry.path;
  line += '\n';
  return line;
}

tl::unexpected<Diagnosis> no_list(std::string_view name, std::string_view problem, std::string_view line) {
  return fail(diagnose(Code::file_damaged)
                  .with(Key::file, name)
                  .with(Key::problem, problem)
                  .with(Key::line, line.substr(0, 200)));
}

Result<TreeEntry> read_line(std::string_view line, std::string_view name) {
  TreeEntry entry;
  if (line.size() < 4 || line[1] != ' ') return no_list(name, "malformed line", line);
  if (line[0] != 'F' && line[0] != 'X' && line[0] != 'L') return no_list(name, "unknown kind of entry", line);
  entry.kind = static_cast<TreeEntry::Kind>(line[0]);
  std::string_view rest = line.substr(2);
  if (!take_number(rest, entry.size)) return no_list(name, "malformed size", line);
  // A link's size is the length of its target, so that a target with a space is unambiguous.
  const std::size_t identity_length = entry.kind == TreeEntry::Kind::link ? std::size_t{entry.size} : 64;
  if (identity_length >= rest.size() || rest[identity_length] != ' ')
    return no_list(name, "malformed identity", line);
  entry.identity = rest.substr(0, identity_length);
  entry.path = rest.substr(identity_length + 1);
  if (entry.kind != TreeEntry::Kind::link && !is_sha256_hex(entry.identity))
    return no_list(name, "malformed digest", line);
  if (const auto problem = path_problem(entry.path); !problem.empty()) return no_list(name, problem, line);
  if (entry.kind == TreeEntry::Kind::link)
    if (const auto problem = link_problem(entry.path, entry.identity); !problem.empty())
      return no_list(name, problem, line);
  return entry;
}

}  // namespace

std::string TreeList::text() const {
  std::vector<std::string> lines;
  lines.reserve(entries.size());
  for (const TreeEntry& entry : entries) lines.push_back(line_of(entry));
  std::sort(lines.begin(), lines.end());
  return join(lines, "");
}

std::string TreeList::id() const { return sha256_hex(text()); }

std::uint64_t TreeList::size() const {
  std::uint64_t sum = 0;
  for (const TreeEntry& entry : entries)
    if (entry.kind != TreeEntry::Kind::link) sum += entry.size;
  return sum;
}

const TreeEntry* TreeList::find(std::string_view path) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const TreeEntry& entry) { return entry.path == path; });
  return found == entries.end() ? nullptr : &*found;
}

Result<TreeList> read_tree_list(std::string_view text, std::string_view name) {
  TreeList list;
  std::string_view before;
  std::vector<std::string_view> paths;
  while (const auto taken = take_line(text)) {
    const std::string_view line = *taken;
    if (!before.empty() && line <= before) return no_list(name, "not sorted", line);
    TRY_ASSIGN(TreeEntry entry, read_line(line, name));
    list.entries.push_back(std::move(entry));
    before = line;
  }
  if (!text.empty()) return no_list(name, "the last line is cut", text);
  for (const TreeEntry& entry : list.entries) paths.push_back(entry.path);
  std::sort(paths.begin(), paths.end());
  if (const auto twice = std::adjacent_find(paths.begin(), paths.end()); twice != paths.end())
    return no_list(name, "a path is listed twice", *twice);
  return list;
}

std::string_view path_problem(std::string_view path) {
  if (path.empty()) return "empty";
  if (path.front() == '/') return "absolute";
  if (path.size() > path_limit) return "too long";
  std::size_t depth = 0;
  for (const char character : path) {
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) return "control character";
    if (character == '\\') return "backslash";
    if (character == '/') ++depth;
  }
  if (depth >= depth_limit) return "too deep";
  for (const std::string& part : split(path, '/')) {
    if (part.empty()) return "empty part";
    if (part == "..") return "climbs out";
    if (part == ".") return "a part is \".\"";
    if (part.size() > 255) return "too long";
  }
  return {};
}

std::string_view link_problem(std::string_view path, std::string_view target) {
  if (target.empty()) return "link without target";
  if (target.front() == '/') return "absolute link";
  if (target.size() > path_limit) return "too long";
  for (const char character : target)
    if (static_cast<unsigned char>(character) < 0x20 || character == '\\') return "control character";
  const auto folder = path_of(path).parent_path();
  bool went_down = false;
  std::size_t depth = folder.empty() ? 0 : split(generic_text(folder), '/').size();
  for (const std::string& part : split(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      went_down = true;
    } else if (went_down) {
      // "a/.." is the folder above a, unless a is a link, which may lead anywhere.
      return "link climbs after going down";
    } else if (depth-- == 0) {
      return "link points out of the folder";
    }
  }
  return {};
}

std::string digest_of_trees(std::vector<std::string> tree_ids) {
  std::sort(tree_ids.begin(), tree_ids.end());
  std::string text;
  for (const std::string& id : tree_ids) text += id + '\n';
  return sha256_hex(text);
}

}  // namespace enginehost::cache
