#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/files.hpp"
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

bool may_be_swapped(const calls::Status& file, const calls::Status& sdk, std::string& why) {
  if (file.st_uid != sdk.st_uid && file.st_uid != 0) {
    why = "it belongs to user " + std::to_string(file.st_uid) + ", the SDK to user " +
          std::to_string(sdk.st_uid);
    return true;
  }
  if ((file.st_mode & S_IWOTH) != 0) {
    why = "anyone may write it";
    return true;
  }
  // A group that may write the SDK's own folder gains nothing by writing the repository. A umask of 002 makes
  // such build trees.
  const bool same_group_writes_sdk = (sdk.st_mode & S_IWGRP) != 0 && sdk.st_gid == file.st_gid;
  if ((file.st_mode & S_IWGRP) != 0 && !same_group_writes_sdk) {
    why = "group " + std::to_string(file.st_gid) + " may write it";
    return true;
  }
  return false;
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

std::string why_anybody_may_change(const fs::path&) { return {}; }

Result<std::string> why_untrusted(const std::vector<fs::path>& paths, const fs::path& sdk_folder) {
  const auto unread = [](const fs::path& path, int number, const std::string& why) -> Result<std::string> {
    if (is_transient(number)) return fail(diagnose_errno("EH-F01", number).with("file", path_text(path)));
    return why;
  };
  calls::Status sdk{};
  if (calls::stat(sdk_folder.c_str(), &sdk) != 0)
    return unread(sdk_folder, errno, "the owner of " + path_text(sdk_folder) + " cannot be read");
  for (const fs::path& path : paths) {
    calls::Status file{};
    std::string why;
    if (calls::stat(path.c_str(), &file) != 0)
      return unread(path, errno, path_text(path) + " cannot be read");
    if (may_be_swapped(file, sdk, why)) return path_text(path) + ": " + why;
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

// A daemon may run without HOME; its home is then in the user database. "/nonexistent" and the like do not
// count.
fs::path home_of(const std::map<std::string, std::string>& variables) {
  const auto home = variables.find("HOME");
  if (home != variables.end() && fs::path(home->second).is_absolute()) return home->second;
  std::error_code error;
  // The folder of the user whose rights the program has. A name service, which loads libraries and may open
  // sockets, is not asked with those rights.
  if (has_more_rights_than_its_caller()) {
    const auto user = local_user(::geteuid());
    return user && fs::is_directory(user->home, error) ? fs::path(user->home) : fs::path();
  }
  // Tries without the name services first, because they may open a socket, which "offline" rules out.
  if (const auto user = local_user(::getuid()))
    return fs::is_directory(user->home, error) ? fs::path(user->home) : fs::path();
  char buffer[4096];
  passwd entry{}, *found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found) != 0 || found == nullptr) return {};
  return fs::is_directory(found->pw_dir, error) ? fs::path(found->pw_dir) : fs::path();
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : std::string();
}

}  // namespace

Environment Environment::of_this_process() {
  Environment result = common_environment();
  result.home = home_of(result.variables);
  // Skips invalid contents: systemd writes "uninitialized" while an image boots for the first time.
  for (const char* file : {"/etc/machine-id", "/var/lib/dbus/machine-id"}) {
    result.machine_files.emplace_back(file);
    auto text = read_file(file, 1u << 20);
    if (!text && is_transient(text.error().value("errno"))) {
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
