#include "host/settings/settings_key.hpp"

#ifdef __linux__
#include <sys/auxv.h>
#endif
#include <sys/utsname.h>
#include <unistd.h>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/process.hpp"

namespace enginehost::settings {
namespace {

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
bool add_program(inside::KeyBuilder& text) {
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
  inside::KeyBuilder text;
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
