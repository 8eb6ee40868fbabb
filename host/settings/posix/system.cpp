#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/posix/local_accounts.hpp"
#include "base/process.hpp"
#include "base/system_errors.hpp"
#include "base/text.hpp"
#include "host/settings/places.hpp"
#include "host/settings/records.hpp"

namespace enginehost::settings {

namespace {

namespace fs = std::filesystem;

// A folder of the XDG base directory specification, which requires that relative values are ignored.
SettingsPlace xdg_folder(const Environment& environment, const char* variable, const char* below_home) {
  const std::string* value = environment.find(variable);
  if (value != nullptr && fs::path(*value).is_absolute()) return {fs::path(*value) / "enginehost", variable};
  if (environment.home.empty()) return {};
  return {environment.home / below_home / "enginehost", "default"};
}

}  // namespace

SettingsPlace default_cache(const Environment& environment) {
#ifdef __APPLE__
  return xdg_folder(environment, "XDG_CACHE_HOME", "Library/Caches");
#else
  return xdg_folder(environment, "XDG_CACHE_HOME", ".cache");
#endif
}

fs::path user_config_file(const Environment& environment) {
  const SettingsPlace place = xdg_folder(environment, "XDG_CONFIG_HOME", ".config");
  return place.folder.empty() ? fs::path() : place.folder / "config.json";
}

char folder_separator() { return ':'; }

SettingsPlace state_folder(const Environment& environment) {
  return xdg_folder(environment, "XDG_STATE_HOME", ".local/state");
}

const char* helper_name() { return "enginehost-probe"; }

Result<std::string> why_untrusted(const std::vector<fs::path>& paths, const fs::path& sdk_folder) {
  const auto unread = [](const fs::path& path, int number, const std::string& why) -> Result<std::string> {
    if (is_transient(number))
      return fail(diagnose_errno(Code::file_not_readable, number).with(Key::file, path_text(path)));
    return why;
  };
  calls::Status sdk{};
  if (calls::stat(sdk_folder.c_str(), &sdk) != 0)
    return unread(sdk_folder, errno, "the owner of " + path_text(sdk_folder) + " cannot be read");
  for (const fs::path& path : paths) {
    calls::Status file{};
    if (calls::stat(path.c_str(), &file) != 0)
      return unread(path, errno, path_text(path) + " cannot be read");
    if (const auto problem =
            who_may_change(path, Purpose::sdk_part, {.above = {}, .sdk = sdk_folder}).problem)
      return reason_of(*problem);
  }
  return std::string();
}

std::vector<LikelyInstallation> system_installations(const Environment& environment) {
  std::vector<LikelyInstallation> found;
  std::error_code error;
  const auto add = [&](const fs::path& folder, const char* source) { found.push_back({folder, source}); };
  const auto add_pythons = [&](const fs::path& above, const char* packages, const char* source) {
    std::vector<fs::path> all;
    for (fs::directory_iterator at(above, error), end; !error && at != end; at.increment(error))
      if (path_text(at->path().filename()).starts_with("python3")) all.push_back(at->path() / packages);
    std::sort(all.begin(), all.end());
    for (const fs::path& folder : all) add(folder, source);
  };
  if (!environment.home.empty())
    add_pythons(environment.home / ".local" / "lib", "site-packages", "the user's Python packages");
  add_pythons("/usr/local/lib", "dist-packages", "the system's Python packages");
  add_pythons("/usr/lib", "dist-packages", "the system's Python packages");
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"})
    add(folder, "the system's libraries");
  return found;
}

namespace {

// Returns the home folder in the user database. "/nonexistent" and the like do not count.
fs::path home_in_database() {
  std::error_code error;
  // Tries without the name services first, because they may open a socket, which "offline" rules out.
  if (const auto user = local_user(::getuid()))
    return fs::is_directory(user->home, error) ? fs::path(user->home) : fs::path();
  char buffer[4096];
  passwd entry{}, *found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found) != 0 || found == nullptr) return {};
  return fs::is_directory(found->pw_dir, error) ? fs::path(found->pw_dir) : fs::path();
}

// A daemon may run without HOME, and a command of sudo or su with the HOME of somebody else.
void set_home(Environment& environment) {
  // The caller's home would give code to a program that has more rights. No other home was chosen for it.
  if (has_more_rights_than_its_caller()) return;
  const std::string* const home = environment.find("HOME");
  if (home != nullptr && fs::path(*home).is_absolute()) {
    const std::string owner = who_may_change(*home, Purpose::home).other;
    if (owner.empty()) {
      environment.home = *home;
      return;
    }
    environment.foreign_home = *home;
    environment.warning = "the home folder " + *home + " belongs to " + owner + ": its files do not count";
  }
  environment.home = home_in_database();
  if (!who_may_change(environment.home, Purpose::home).other.empty()) environment.home.clear();
  if (!environment.warning.empty() && !environment.home.empty())
    environment.warning += ", and " + path_text(environment.home) + " takes its place";
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : std::string();
}

}  // namespace

Environment Environment::of_this_process() {
  Environment result = common_environment();
  set_home(result);
  // Skips invalid contents: systemd writes "uninitialized" while an image boots for the first time.
  for (const char* file : {"/etc/machine-id", "/var/lib/dbus/machine-id"}) {
    result.machine_files.emplace_back(file);
    auto text = read_file(file, 1u << 20);
    if (!text && is_transient(text.error().value(Key::errno_))) {
      result.machine_failure = std::move(text).error();
      return result;
    }
    result.machine = text ? trim(*text) : std::string_view();
    if (!result.machine.empty() && result.machine != "uninitialized") return result;
  }
  if (const std::string name = host_name(); !name.empty()) result.machine = "host:" + name;
  return result;
}

User User::of_this_process() {
  User person;
  person.uid = ::getuid();
  const auto user = local_user(person.uid);
  person.user = user ? user->name : environment_variable("LOGNAME").value_or("");
  person.host = host_name();
  person.application = path_text(fs::path(executable_path()).filename());
  person.process = calls::getpid();
  return person;
}

}  // namespace enginehost::settings
