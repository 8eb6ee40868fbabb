#include "tools/follow/requires.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "tools/publish/requirements.hpp"

namespace enginehost::follow {
namespace {

Json joined_list(const Json& read, const Json& written) {
  Json list = written;
  for (const Json& one : read.as_array())
    if (std::ranges::find(written.as_array(), one) == written.as_array().end()) list.push(one);
  return list;
}

Json joined_object(const Json& read, const Json& written) {
  Json object = read;
  for (const auto& [name, value] : written.as_object()) object.set(name, value);
  return object;
}

// ">=2.27" and ">=2.17" give ">=2.27"; other bounds are joined.
Json joined_bound(const std::string& read, const std::string& written) {
  const std::string_view least = ">=";
  if (!read.starts_with(least)) return written;
  if (publish::is_at_least(written, std::string(trim(std::string_view(read).substr(2))))) return written;
  const bool is_least = written.starts_with(least) && written.find(',') == std::string::npos;
  return is_least ? read : written + "," + read;
}

}  // namespace

Json joined_requirements(const Json& read, const Json& written) {
  Json result = Json::object();
  for (const auto& [name, value] : written.as_object()) {
    const Json* other = read.find(name);
    if (other == nullptr)
      result.set(name, value);
    else if (value.is_array())
      result.set(name, joined_list(*other, value));
    else if (value.is_object())
      result.set(name, joined_object(*other, value));
    else if (value.is_string() && other->is_string())
      result.set(name, joined_bound(other->as_string(), value.as_string()));
    else
      result.set(name, value);
  }
  for (const auto& [name, value] : read.as_object())
    if (written.find(name) == nullptr) result.set(name, value);
  return result;
}

}  // namespace enginehost::follow
