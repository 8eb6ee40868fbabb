#include "base/ownership.hpp"

#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/posix/local_accounts.hpp"
#include "base/text.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t longest_file = 8u << 20;

// Returns the fields of the first line whose third field is that number; passwd(5), group(5).
std::vector<std::string> line_of(const char* file, std::uint64_t number, std::size_t fields) {
  const std::string wanted = std::to_string(number);
  if (const auto text = read_file(file, longest_file))
    for (const std::string& line : split(*text, '\n'))
      if (auto parts = split(line, ':'); parts.size() == fields && parts[2] == wanted) return parts;
  return {};
}

Diagnosis untrusted(const fs::path& folder, std::string problem, const calls::Status& status) {
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(status.st_mode & 07777));
  return std::move(diagnose("EH-F22")
                       .with("folder", path_text(folder))
                       .with("problem", problem)
                       .with("owner", std::to_string(status.st_uid), "stat")
                       .with("mode", mode, "stat"));
}

// A group whose only member is this user (a default of many systems) adds no other writer.
bool is_private_group(gid_t group) {
  const auto user = local_user(::geteuid());
  const auto found = local_group(group);
  // The group is known only to a directory service, which is not queried because that needs a socket.
  // Services that give each user a group use the user's number for it.
  if (!user && !found) return group == ::geteuid() && group == ::getegid();
  if (!user || !found || user->group != group || found->name != user->name) return false;
  return std::ranges::all_of(found->members, [&](const std::string& member) { return member == user->name; });
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

std::optional<Diagnosis> ownership_problem(const fs::path& path) {
  calls::Status status{};
  if (calls::stat(path.c_str(), &status) != 0) return {};
  if (status.st_uid != 0 && status.st_uid != ::geteuid())
    return untrusted(
        path, "it belongs to user " + std::to_string(status.st_uid) + ", who is neither this user nor root",
        status);
  if ((status.st_mode & S_IWOTH) != 0) return untrusted(path, "everybody may write into it", status);
  return {};
}

std::optional<Diagnosis> ownership_problem_of_program(const fs::path& file) {
  auto problem = ownership_problem(file.parent_path());
  return problem ? problem : ownership_problem(file);
}

Result<std::optional<std::string>> become_owner_of(const fs::path& folder) {
  calls::Status status{};
  fs::path at = folder;
  while (calls::stat(at.c_str(), &status) != 0 && at != at.parent_path()) at = at.parent_path();
  if (::geteuid() != 0 || status.st_uid == 0) return std::optional<std::string>();
  const uid_t user = status.st_uid;
  const auto account = local_user(user);
  const gid_t group = account ? static_cast<gid_t>(account->group) : status.st_gid;
  if (::setgroups(1, &group) != 0 || ::setgid(group) != 0 || ::setuid(user) != 0 || ::geteuid() != user)
    return fail(untrusted(
        at,
        "it belongs to user " + std::to_string(user) + ", and this process of root may not become that user",
        status));
  return std::optional(std::to_string(user));
}

std::optional<Foreign> made_by_another(const fs::path& root, const fs::path& file) {
  const uid_t user = ::geteuid();
  if (user == 0) return {};
  std::optional<Foreign> found;
  calls::Status status{};
  for (fs::path at = file; at.has_relative_path(); at = at.parent_path()) {
    const bool known = calls::lstat(at.c_str(), &status) == 0;
    if (known && status.st_uid != user && (!found || at == root || !is_below(at, root)))
      found = Foreign{at, std::to_string(status.st_uid), {}};
    if (known && status.st_uid == user && (at == root || !is_below(at, root))) {
      if (found) found->within = at;
      return found;
    }
  }
  return {};
}

std::optional<Diagnosis> group_problem(const fs::path& folder) {
  calls::Status status{};
  if (calls::stat(folder.c_str(), &status) != 0 || (status.st_mode & S_IWGRP) == 0 || status.st_gid == 0 ||
      is_private_group(status.st_gid))
    return {};
  return untrusted(folder, "the members of group " + std::to_string(status.st_gid) + " may write into it",
                   status);
}

}  // namespace enginehost
