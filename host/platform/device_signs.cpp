#include "host/platform/device_signs.hpp"

#include <algorithm>

namespace enginehost::platform {

std::vector<std::string> sign_changes(const DeviceSigns& before, const DeviceSigns& after) {
  const auto value_in = [](const DeviceSigns& signs, const std::string& path) -> const std::string* {
    const auto found =
        std::find_if(signs.begin(), signs.end(), [&](const auto& sign) { return sign.first == path; });
    return found != signs.end() ? &found->second : nullptr;
  };
  std::vector<std::string> changes;
  for (const auto& [path, value] : before) {
    const std::string* now = value_in(after, path);
    if (now == nullptr)
      changes.push_back(path + " is gone");
    else if (*now != value)
      changes.push_back(path + " was " + value + " and is " + *now);
  }
  for (const auto& [path, value] : after)
    if (value_in(before, path) == nullptr) changes.push_back(path + " is there now");
  return changes;
}

}  // namespace enginehost::platform
