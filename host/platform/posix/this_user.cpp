#include <unistd.h>

#include <cstdlib>

#include "base/posix/local_accounts.hpp"
#include "host/platform/anonymous.hpp"

namespace enginehost::platform {

Identity this_user() {
  Identity identity;
  if (const char* home = std::getenv("HOME"); home != nullptr && std::string_view(home) != "/")
    identity.home = home;
  if (const auto user = local_user(::getuid())) identity.user = user->name;
  // Who is known to a directory service only (on macOS everyone is) is not asked for there: that would take
  // a socket.
  for (const char* variable : {"LOGNAME", "USER"})
    if (const char* name = std::getenv(variable); name != nullptr && identity.user.empty())
      identity.user = name;
  // An account of the system names nobody, and its name is an element of many paths.
  if (::getuid() < 1000 || identity.user == "nobody") identity.user.clear();
  return identity;
}

}  // namespace enginehost::platform
