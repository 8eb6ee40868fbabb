#include "host/settings/settings_key.hpp"

#ifdef __linux__
#include <sys/auxv.h>
#endif
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/posix/environment.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace enginehost::settings {
namespace {

// Gathers the text. Avoids std::filesystem because this runs at every open.
class SettingsKeyBuilder {
 public:
  SettingsKeyBuilder() { text_.reserve(512); }

  // Adds the value without passwords, because the text is stored in the cache and passwords do not affect the
  // result.
  void add(std::string_view value) {
    if (value.find('@') == std::string_view::npos)
      text_.append(value).push_back('\0');
    else
      text_.append(without_passwords(value)).push_back('\0');
  }
  void add_variable(std::string_view name, std::string_view value) {
    text_.append(name).push_back('=');
    // libcurl also accepts "user:password@proxy:3128" as a proxy.
    const std::size_t user = value.rfind('@');
    if (user != std::string_view::npos && (name.ends_with("_proxy") || name.ends_with("_PROXY")) &&
        value.find("://") == std::string_view::npos)
      value.remove_prefix(user);
    add(value);
  }
  // Returns false for a relative folder, whose meaning depends on the current folder.
  bool add_flags(const FlagValues& flags) {
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
  // Adds the name, the folder that it leads to (a file may have names in several) and the file. While they
  // are unchanged, the settings derived from the file's folder are too, and it is the same release.
  bool add_file(const std::string& file) {
    calls::Status status{};
    return calls::stat(file, &status) == 0 && add_file(file, status);
  }
  bool add_file(const std::string& file, const calls::Status& status) {
    const std::size_t slash = file.rfind('/');
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
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Points into the environment, because this runs at every open. Null also for an empty value.
const char* variable(std::string_view name) {
  for (char** entry = environment_entries(); *entry != nullptr; ++entry)
    if (const std::string_view one = *entry;
        one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return one.size() > name.size() + 1 ? *entry + name.size() + 1 : nullptr;
  return nullptr;
}

// See default_cache().
std::string cache_of(const FlagValues& flags) {
  if (flags.cache) return *flags.cache;
  if (const char* cache = variable("ENGINEHOST_CACHE")) return cache;
#ifdef __APPLE__
  constexpr const char* below_home = "/Library/Caches/enginehost";
#else
  constexpr const char* below_home = "/.cache/enginehost";
#endif
  const char* caches = variable("XDG_CACHE_HOME");
  if (caches != nullptr && *caches == '/') return std::string(caches) + "/enginehost";
  const char* home = variable("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + below_home : std::string();
}

// Adds the running program's file under a name whose last element is no link.
bool add_program(SettingsKeyBuilder& text) {
#ifdef __linux__
  // Uses the name it was started by, because executable_path() is the first use of /proc and takes longer
  // than all else here. For a script this is the script.
  const char* const started_by =
      has_more_rights_than_its_caller() ? nullptr : reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  calls::Status status{};
  if (started_by != nullptr && *started_by == '/' && calls::lstat(started_by, &status) == 0 &&
      S_ISREG(status.st_mode))
    return text.add_file(started_by, status);
#endif
  return text.add_file(executable_path());
}

}  // namespace

std::optional<SettingsKey> settings_key(const FlagValues& flags) {
  SettingsKeyBuilder text;
  if (!text.add_flags(flags)) return std::nullopt;
  // Without HOME the user database would be needed.
  const char* home = variable("HOME");
  if (home == nullptr || *home != '/') return std::nullopt;
  for (char** entry = environment_entries(); *entry != nullptr; ++entry) {
    const std::string_view one = *entry;
    const std::size_t end = one.find('=');
    if (end != std::string_view::npos && is_settings_variable(one.substr(0, end)))
      text.add_variable(one.substr(0, end), one.substr(end + 1));
  }
  text.add(std::to_string(::getuid()) + " " + std::to_string(::geteuid()));
  if (!add_program(text)) return std::nullopt;
  if (const std::string library = library_name(); !library.empty() && !text.add_file(library))
    return std::nullopt;
  // Several machines may share a home folder; Settings::inputs holds which machine this is.
  utsname machine{};
  if (::uname(&machine) != 0) return std::nullopt;
  text.add(machine.nodename);
  SettingsKey decides{text.take(), cache_of(flags)};
  if (!decides.cache.starts_with('/')) return std::nullopt;
  return decides;
}

}  // namespace enginehost::settings
