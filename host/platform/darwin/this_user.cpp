#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "host/platform/anonymous.hpp"

namespace enginehost::platform {

// macOS gives people the numbers from 501 on.
constexpr uid_t first_user = 500;

Identity this_user() {
  Identity identity;
  if (const char* home = std::getenv("HOME"); home != nullptr && std::string_view(home) != "/")
    identity.home = home;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    identity.user = entry.pw_name;
  // An account of the system names nobody, and its name is an element of many paths.
  if (::getuid() < first_user || identity.user == "nobody") identity.user.clear();
  return identity;
}

}  // namespace enginehost::platform
