#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "host/platform/anonymous.hpp"

namespace enginehost::platform {
namespace {

// Accounts of the system have folders of the system for their home ("/", "/usr/sbin"), which tell of nobody.
bool is_of_the_system(std::string_view home) {
  for (const std::string_view folder : {"/usr", "/bin", "/sbin", "/dev", "/etc", "/var", "/run", "/proc"})
    if (home.starts_with(folder)) return true;
  return home.size() < 2;
}

}  // namespace

Identity this_user() {
  Identity identity;
  if (const char* home = std::getenv("HOME"); home != nullptr && std::string_view(home) != "/")
    identity.home = home;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    identity.user = entry.pw_name;
    if (!is_of_the_system(entry.pw_dir)) identity.other_home = entry.pw_dir;
  }
  return identity;
}

}  // namespace enginehost::platform
