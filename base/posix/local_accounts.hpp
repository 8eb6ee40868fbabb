// The users and groups that this machine's own files tell of. Opens no socket, which getpwuid() and
// getgrgid() may do to ask a daemon; who is known to a directory service only is not found.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace enginehost {

struct LocalUser {
  std::string name, home;
  std::uint64_t group = 0;  // the user's own
};
struct LocalGroup {
  std::string name;
  std::vector<std::string> members;  // whose own group it is not
};

// Of /etc/passwd and /etc/group; any thread.
std::optional<LocalUser> local_user(std::uint64_t uid);
std::optional<LocalGroup> local_group(std::uint64_t gid);

}  // namespace enginehost
