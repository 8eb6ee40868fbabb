#include "host/settings/settings_key.hpp"

#include "base/files.hpp"
#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/settings/declarations.hpp"

namespace enginehost::settings::inside {

void KeyBuilder::add(std::string_view value) {
  if (value.find('@') == std::string_view::npos)
    text_.append(value).push_back('\0');
  else
    text_.append(without_passwords(value)).push_back('\0');
}

void KeyBuilder::add_variable(std::string_view name, std::string_view value) {
  text_.append(name).push_back('=');
  // libcurl also accepts "user:password@proxy:3128" as a proxy.
  const std::size_t user = value.rfind('@');
  if (user != std::string_view::npos && (name.ends_with("_proxy") || name.ends_with("_PROXY")) &&
      value.find("://") == std::string_view::npos)
    value.remove_prefix(user);
  add(value);
}

bool KeyBuilder::add_flags(const FlagValues& flags) {
  bool absolute = true;
  const auto add_all = [&](const Json& values, bool folders) {
    for (const Json& value : values.is_array() ? values.as_array() : Json::Array{values}) {
      add(value.is_string() ? value.as_string() : value.dump());
      absolute =
          absolute && (!folders || is_url(value.as_string()) || path_of(value.as_string()).is_absolute());
    }
    text_.push_back('\n');
  };
  add_all(Json::strings(flags.repositories), true);
  add_all(Json::strings(flags.accept_licenses), false);
  add(flags.allow_unsigned ? "unsigned" : "");
  for (const Declaration& setting : declarations) {
    const Json value = setting.flag.given != nullptr ? setting.flag.given(flags) : Json();
    if (value.is_null()) continue;
    add(setting.key);
    add_all(value, setting.member.kind == Kind::path || setting.member.kind == Kind::paths);
  }
  return absolute;
}

bool KeyBuilder::add_file(const std::string& file) {
  calls::Status status{};
  return calls::stat(file, &status) == 0 && add_file(file, status);
}

bool KeyBuilder::add_file(const std::string& file, const calls::Status& status) {
  const std::size_t slash = file.find_last_of("/\\");
  calls::Status folder{};
  if (slash == std::string::npos || calls::stat(file.substr(0, slash + 1), &folder) != 0) return false;
  add(file);
  for (const std::int64_t number :
       {static_cast<std::int64_t>(folder.st_dev), static_cast<std::int64_t>(folder.st_ino),
        static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
        static_cast<std::int64_t>(status.st_size), calls::modified_ns(status), calls::changed_ns(status)})
    add(std::to_string(number));
  return true;
}

}  // namespace enginehost::settings::inside
