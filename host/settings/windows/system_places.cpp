#include "host/settings/system_places.hpp"

#include <algorithm>
#include <system_error>

#include "base/ownership.hpp"
#include "base/paths.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

// %LOCALAPPDATA% belongs to this user on this machine. A roaming folder would be copied over the network at
// each logon.
SettingsPlace local_folder(const Environment& environment, const char* below) {
  const std::string* value = environment.find("LOCALAPPDATA");
  if (value != nullptr && path_of(*value).is_absolute())
    return {path_of(*value) / "EngineHost" / below, "LOCALAPPDATA"};
  if (environment.home.empty()) return {};
  return {environment.home / "AppData" / "Local" / "EngineHost" / below, "default"};
}

}  // namespace

SettingsPlace default_cache(const Environment& environment) { return local_folder(environment, "cache"); }

fs::path user_config_file(const Environment& environment) {
  const SettingsPlace place = local_folder(environment, "config.json");
  return place.folder;
}

SettingsPlace state_folder(const Environment& environment) { return local_folder(environment, "state"); }

char folder_separator() { return ';'; }

const char* helper_name() { return "enginehost-probe.exe"; }

// Users may create files and folders below %ProgramData% and may change what they created. A policy that any
// user could have written does not count.
std::string why_anybody_may_change(const fs::path& system_config) {
  const auto problem = ownership_problem(system_config);
  return problem ? "it is not the administrator's: " + std::string(problem->value("problem")) : std::string();
}

Result<std::string> why_untrusted(const std::vector<fs::path>& paths, const fs::path&) {
  for (const fs::path& path : paths)
    if (const auto problem = ownership_problem(path))
      return path_text(path) + ": " + std::string(problem->value("problem"));
  return std::string();
}

// The site-packages of Python's installers for one user and for all: <Python>\Lib\\site-packages.
std::vector<LikelyInstallation> system_installations(const Environment& environment) {
  std::vector<LikelyInstallation> found;
  const auto add_pythons = [&](const fs::path& above, const char* source) {
    std::vector<fs::path> all;
    std::error_code error;
    for (fs::directory_iterator at(above, error), end; !error && at != end; at.increment(error))
      if (path_text(at->path().filename()).starts_with("Python3"))
        all.push_back(at->path() / "Lib" / "site-packages");
    std::sort(all.begin(), all.end());
    for (const fs::path& folder : all) found.push_back({folder, source});
  };
  if (const std::string* local = environment.find("LOCALAPPDATA"))
    add_pythons(path_of(*local) / "Programs" / "Python", "the user's Python packages");
  if (const std::string* programs = environment.find("ProgramFiles"))
    add_pythons(path_of(*programs), "the system's Python packages");
  return found;
}

}  // namespace enginehost::settings
