#include "host/settings/places.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/sha256.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

// A folder of the XDG base directory specification: a relative value must be ignored, it says.
Place xdg_folder(const Environment& environment, const char* variable, const char* below_home) {
  const std::string* value = environment.find(variable);
  if (value != nullptr && fs::path(*value).is_absolute()) return {fs::path(*value) / "enginehost", variable};
  if (environment.home.empty()) return {};
  return {environment.home / below_home / "enginehost", "default"};
}

// The prefixes that the SDK may stand in: its own folder is bin, lib, lib/<architecture> or
// libexec/enginehost.
std::vector<fs::path> prefixes(const Environment& environment) {
  std::vector<fs::path> found;
  for (const fs::path& folder : {environment.library_folder, environment.executable_folder})
    for (fs::path prefix = folder.parent_path(); !folder.empty(); prefix = prefix.parent_path()) {
      if (std::find(found.begin(), found.end(), prefix) == found.end()) found.push_back(prefix);
      if (folder.parent_path().parent_path() == prefix || prefix == prefix.parent_path()) break;
    }
  return found;
}

bool may_be_swapped(const struct stat& file, const struct stat& sdk, std::string& why) {
  if (file.st_uid != sdk.st_uid && file.st_uid != 0) {
    why = "it belongs to user " + std::to_string(file.st_uid) + ", the SDK to user " +
          std::to_string(sdk.st_uid);
    return true;
  }
  if ((file.st_mode & S_IWOTH) != 0) {
    why = "anyone may write it";
    return true;
  }
  // A group that may write the SDK's own folder gains nothing by writing the repository (a umask of 002 makes
  // a build tree like that).
  const bool same_group_writes_sdk = (sdk.st_mode & S_IWGRP) != 0 && sdk.st_gid == file.st_gid;
  if ((file.st_mode & S_IWGRP) != 0 && !same_group_writes_sdk) {
    why = "group " + std::to_string(file.st_gid) + " may write it";
    return true;
  }
  return false;
}

// Empty when everything that decides what the repository offers is as safe as the SDK itself.
std::string why_untrusted(const fs::path& repository, const fs::path& sdk_folder) {
  struct stat sdk {};
  if (stat(sdk_folder.c_str(), &sdk) != 0) return "the owner of " + sdk_folder.string() + " cannot be read";
  std::error_code error;
  std::vector<fs::path> deciding{repository};
  for (const auto& entry : fs::directory_iterator(repository, error))
    if (entry.path().extension() == ".json" || entry.is_directory(error)) deciding.push_back(entry.path());
  if (error) return "its folder cannot be read";
  for (const fs::path& path : deciding) {
    struct stat file {};
    std::string why;
    if (stat(path.c_str(), &file) != 0) return path.string() + " cannot be read";
    if (may_be_swapped(file, sdk, why)) return path.string() + ": " + why;
  }
  return {};
}

}  // namespace

Place default_cache(const Environment& environment) {
#ifdef __APPLE__
  return xdg_folder(environment, "XDG_CACHE_HOME", "Library/Caches");
#else
  return xdg_folder(environment, "XDG_CACHE_HOME", ".cache");
#endif
}

fs::path user_config_file(const Environment& environment) {
  const Place place = xdg_folder(environment, "XDG_CONFIG_HOME", ".config");
  return place.folder.empty() ? fs::path() : place.folder / "config.json";
}

std::string machine_name(const Environment& environment) {
  // The id is confidential (machine-id(5)): it is hashed with a name of ours, and only a part is kept.
  return sha256_hex("enginehost state of " + environment.machine).substr(0, 16);
}

bool can_be_written(const fs::path& folder) {
  for (fs::path path = folder; !path.empty(); path = path.parent_path()) {
    struct stat status {};
    if (stat(path.c_str(), &status) == 0)
      return S_ISDIR(status.st_mode) && access(path.c_str(), W_OK | X_OK) == 0;
    if (path == path.parent_path()) break;
  }
  return false;
}

Place default_state(const fs::path& cache, const Environment& environment) {
  const std::string machine = machine_name(environment);
  if (!cache.empty() && can_be_written(cache / "state" / machine))
    return {cache / "state" / machine, "cache"};
  const Place fallback = xdg_folder(environment, "XDG_STATE_HOME", ".local/state");
  if (!fallback.folder.empty() && can_be_written(fallback.folder / machine))
    return {fallback.folder / machine, fallback.source};
  return {};
}

Place default_helper(const Environment& environment) {
  for (const fs::path& prefix : prefixes(environment)) {
    const fs::path helper = prefix / "libexec" / "enginehost" / "enginehost-probe";
    if (access(helper.c_str(), X_OK) == 0) return {helper, "default"};
  }
  return {};
}

std::vector<LikelyInstallation> likely_installations(const Environment& environment) {
  std::vector<LikelyInstallation> found;
  std::error_code error;
  const auto add = [&](const fs::path& folder, const char* source) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const LikelyInstallation& one) {
      return fs::equivalent(one.folder, folder, error);
    });
    if (!known && fs::is_directory(folder, error)) found.push_back({folder, source});
  };
  for (const char* variable : {"CONDA_PREFIX", "VIRTUAL_ENV"})
    if (const std::string* folder = environment.find(variable))
      if (fs::path(*folder).is_absolute()) add(*folder, variable);
  const auto add_pythons = [&](const fs::path& above, const char* packages, const char* source) {
    std::vector<fs::path> all;
    for (fs::directory_iterator at(above, error), end; !error && at != end; at.increment(error))
      if (at->path().filename().native().starts_with("python3")) all.push_back(at->path() / packages);
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

std::optional<Place> default_repository(const Environment& environment, std::vector<std::string>& warnings) {
  for (const fs::path& prefix : prefixes(environment)) {
    const fs::path repository = prefix / "share" / "enginehost" / "repository";
    if (access((repository / "index.json").c_str(), F_OK) != 0) continue;
    const fs::path sdk = access(environment.library_folder.c_str(), F_OK) == 0
                             ? environment.library_folder
                             : environment.executable_folder;
    const std::string why = why_untrusted(repository, sdk);
    if (why.empty()) return Place{repository, "default"};
    warnings.push_back("the repository " + repository.string() + " is not used: " + why);
  }
  return std::nullopt;
}

}  // namespace enginehost::settings
