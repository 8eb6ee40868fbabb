#include <unistd.h>

#include <string_view>

#include "base/environment.hpp"
#include "base/posix/local_accounts.hpp"
#include "host/platform/anonymous.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

Variables process_variables() {
  Variables variables;
  for (char** entry = environment_entries(); *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

namespace {

// System accounts have system folders as their home ("/", "/usr/sbin"), which identify nobody.
bool is_of_the_system(std::string_view home) {
  for (const std::string_view folder : {"/usr", "/bin", "/sbin", "/dev", "/etc", "/var", "/run", "/proc"})
    if (home.starts_with(folder)) return true;
  return home.size() < 2;
}

}  // namespace

Identity this_user() {
  Identity identity;
  if (const auto home = environment_variable("HOME"); home && *home != "/") identity.home = *home;
  if (const auto user = local_user(::getuid())) {
    identity.user = user->name;
    if (!is_of_the_system(user->home)) identity.other_home = user->home;
  }
  // Users that only a directory service knows (all users on macOS) are not looked up there, because that
  // would need a socket.
  for (const char* variable : {"LOGNAME", "USER"})
    if (const auto name = environment_variable(variable); name && identity.user.empty())
      identity.user = *name;
  // A system account identifies nobody, and its name is an element of many paths.
  if (::getuid() < 1000 || identity.user == "nobody") identity.user.clear();
  return identity;
}

}  // namespace enginehost::platform
