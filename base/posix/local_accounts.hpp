// Users and groups of this machine's own files. Opens no socket, unlike getpwuid() and getgrgid(), which may
// ask a daemon. Accounts of a directory service are not found.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace enginehost {

struct LocalUser {
  std::string name, home;
  std::uint64_t group = 0;  // the user's primary group
};
struct LocalGroup {
  std::string name;
  std::vector<std::string> members;  // members who have another primary group
};

// Reads /etc/passwd and /etc/group. Thread safety: any thread.
std::optional<LocalUser> local_user(std::uint64_t uid);
std::optional<LocalGroup> local_group(std::uint64_t gid);

}  // namespace enginehost
