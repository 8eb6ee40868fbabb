#include "base/environment.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/platform/anonymous.hpp"

namespace enginehost::platform {

Identity this_user() {
  Identity identity;
  identity.home = environment_variable("USERPROFILE").value_or("");
  while (!identity.home.empty() && (identity.home.back() == '\\' || identity.home.back() == '/'))
    identity.home.pop_back();
  if (identity.home.size() < 3) identity.home.clear();  // a drive
  identity.user = effective_user();
  // A system account identifies nobody, and its name is an element of many paths.
  const std::string name = to_lower(identity.user);
  if (name == "system" || name == "local service" || name == "network service") identity.user.clear();
  return identity;
}

}  // namespace enginehost::platform
