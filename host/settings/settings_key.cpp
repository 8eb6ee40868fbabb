#include "host/settings/settings_key.hpp"

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::settings::inside {
namespace {

bool is_absolute(const std::string& folder) { return path_of(folder).is_absolute(); }

}  // namespace

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
  const auto add_all = [&](const std::vector<std::string>& values) {
    for (const std::string& value : values) add(value);
    text_.push_back('\n');
  };
  for (const std::vector<std::string>* folders : {&flags.repositories, &flags.installations}) {
    add_all(*folders);
    for (const std::string& folder : *folders)
      if (!is_absolute(folder) && !is_url(folder)) return false;
  }
  for (const std::optional<std::string>* folder : {&flags.cache, &flags.helper})
    if (*folder && !is_absolute(**folder)) return false;
  for (const std::optional<std::string>* flag : {&flags.cache, &flags.helper, &flags.flavor, &flags.device,
                                                 &flags.log, &flags.force, &flags.package_index}) {
    text_.push_back(*flag ? '+' : '-');  // distinguishes "" from no value
    if (*flag) add(**flag);
  }
  add(flags.offline ? (*flags.offline ? "offline" : "online") : "");
  add(flags.allow_unsigned ? "unsigned" : "");
  add(flags.probe_launcher ? "launcher" : "");
  if (flags.probe_launcher) add_all(*flags.probe_launcher);
  add_all(flags.accept_licenses);
  return true;
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
