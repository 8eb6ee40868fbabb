#include "base/posix/local_accounts.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"

namespace enginehost {
namespace {

constexpr std::uint64_t longest_file = 8u << 20;

// Returns the fields of the first line whose third field is that number; passwd(5), group(5).
std::vector<std::string> line_of(const char* file, std::uint64_t number, std::size_t fields) {
  const std::string wanted = std::to_string(number);
  if (const auto text = read_file(file, longest_file))
    for (const std::string& line : split(*text, '\n'))
      if (auto parts = split(line, ':'); parts.size() == fields && parts[2] == wanted) return parts;
  return {};
}

}  // namespace

std::optional<LocalUser> local_user(std::uint64_t uid) {
  const std::vector<std::string> fields = line_of("/etc/passwd", uid, 7);
  if (fields.empty()) return {};
  const auto group = parse_integer(fields[3]);
  return LocalUser{fields[0], fields[5],
                   group && *group >= 0 ? static_cast<std::uint64_t>(*group) : UINT64_MAX};
}

std::optional<LocalGroup> local_group(std::uint64_t gid) {
  const std::vector<std::string> fields = line_of("/etc/group", gid, 4);
  if (fields.empty()) return {};
  LocalGroup group{fields[0], split(fields[3], ',')};
  std::erase(group.members, "");
  return group;
}

}  // namespace enginehost
