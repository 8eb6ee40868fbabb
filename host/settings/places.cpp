#include "host/settings/places.hpp"

#include <algorithm>
#include <cerrno>

#include "base/file_calls.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/system_errors.hpp"
#include "cache/layer_trust.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

// Returns the prefixes in which the SDK may be installed. Its own folder is bin, lib, lib/<architecture> or
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

std::vector<fs::path> below_prefixes(const Environment& environment, const fs::path& path) {
  std::vector<fs::path> places = prefixes(environment);
  for (fs::path& place : places) place /= path;
  return places;
}

// Returns the repository, its documents and its folders. A user who may write one of them decides what is
// installed. `problem`: why they cannot be listed.
Result<std::vector<fs::path>> paths_of_repository(const fs::path& repository, std::string& problem) {
  std::error_code error;
  std::vector<fs::path> paths{repository.parent_path(), repository};
  for (fs::directory_iterator at(repository, error), end; !error && at != end; at.increment(error))
    if (std::error_code unknown; at->path().extension() == ".json" || at->is_directory(unknown) || unknown)
      paths.push_back(at->path());
  if (error && is_transient(error.value()))
    return fail(diagnose_errno(Code::file_not_readable, error.value())
                    .with(Key::file, path_text(repository))
                    .with(Key::place, "repository"));
  if (error) problem = "its folder cannot be read (" + error.message() + ")";
  return paths;
}

// Returns why these paths are less protected than the SDK; empty if they are not. Records them as inputs.
Result<std::string> less_protected(const std::vector<fs::path>& paths, const Environment& environment,
                                   Inputs* inputs) {
  const fs::path sdk = sdk_folder(environment);
  if (inputs != nullptr) {
    inputs->files.push_back(path_text(sdk));
    for (const fs::path& path : paths) inputs->files.push_back(path_text(path));
  }
  return why_untrusted(paths, sdk);
}

// Returns the cache that takes the place of the usual one, if it can be written.
fs::path cache_below_state(const Environment& environment) {
  const SettingsPlace state = state_folder(environment);
  return state.folder.empty() || !can_be_written(state.folder / "cache") ? fs::path()
                                                                         : state.folder / "cache";
}

}  // namespace

fs::path sdk_folder(const Environment& environment) {
  return calls::access(environment.library_folder.c_str(), F_OK) == 0 ? environment.library_folder
                                                                      : environment.executable_folder;
}

std::vector<fs::path> places_of_repository(const Environment& environment) {
  return below_prefixes(environment, fs::path("share") / "enginehost" / "repository");
}

std::vector<fs::path> places_of_helper(const Environment& environment) {
  return below_prefixes(environment, fs::path("libexec") / "enginehost" / helper_name());
}

std::string machine_name(const Environment& environment) {
  // The id is confidential (machine-id(5)); it is hashed together with a text of ours, and only a part is
  // kept.
  return sha256_hex("enginehost state of " + environment.machine).substr(0, 16);
}

bool can_be_written(const fs::path& folder) {
  for (fs::path path = folder; !path.empty(); path = path.parent_path()) {
    calls::Status status{};
    if (calls::stat(path.c_str(), &status) == 0) {
      if (!S_ISDIR(status.st_mode)) return false;
      if (calls::access(path.c_str(), W_OK | X_OK) == 0) return true;
      // Only a permission error counts as not writable. After a temporary disk error, records in another
      // folder would never be found again; the later write reports the error instead.
      if (errno != ENOENT) return errno != EACCES && errno != EROFS && errno != EPERM;
    } else if (is_transient(errno)) {
      return true;
    }
    if (path == path.parent_path()) break;
  }
  return false;
}

SettingsPlace usable_cache(const Environment& environment, std::vector<std::string>& warnings) {
  SettingsPlace usual = default_cache(environment);
  if (usual.folder.empty()) return usual;
  constexpr const char* remedy = "; --cache or ENGINEHOST_CACHE names another folder";
  const Changers changers = cache::who_may_change_cache(usual.folder, Purpose::personal);
  if (!changers.other.empty() && changers.problem) {
    fs::path other = cache_below_state(environment);
    if (who_may_change(other, Purpose::personal).problem) other.clear();
    warnings.push_back("the cache " + path_text(usual.folder) +
                       " is not used: " + reason_of(*changers.problem, usual.folder) +
                       (other.empty() ? "" : ", and builds are kept in " + path_text(other)) + remedy);
    return {other, std::string(not_anothers_cache)};
  }
  // A folder that a variable names is the one to use, or to report.
  if (usual.source != "default" || can_be_written(usual.folder)) return usual;
  const fs::path other = cache_below_state(environment);
  if (other.empty()) return usual;
  warnings.push_back("the cache " + path_text(usual.folder) + " cannot be written: builds are kept in " +
                     path_text(other) + remedy);
  // Must differ from "default", because places with that source are not shown.
  return {other, std::string(not_the_usual_cache)};
}

void ask_about_cache(Settings& settings, bool named) {
  const fs::path& cache = settings.cache_folder;
  if (cache.empty()) return;
  Changers changers = cache::who_may_change_cache(cache, named ? Purpose::named : Purpose::personal);
  if (changers.problem) {
    settings.cache_problem = std::move(changers.problem->with(Key::place, "cache"));
  } else if (!changers.other.empty()) {
    settings.warnings.push_back("the cache " + path_text(cache) + " belongs to " + changers.other +
                                ", who decides which code runs from it");
    settings.cache_owner = std::move(changers.other);
  }
}

SettingsPlace default_state(const fs::path& cache, const Environment& environment, Inputs* inputs) {
  const std::string machine = machine_name(environment);
  if (const fs::path folder = cache / "state" / path_of(machine); !cache.empty() && can_be_written(folder)) {
    if (inputs != nullptr) inputs->writable.push_back(path_text(folder));
    return {folder, "cache"};
  }
  const SettingsPlace fallback = state_folder(environment);
  if (!fallback.folder.empty() && can_be_written(fallback.folder / path_of(machine)))
    return {fallback.folder / path_of(machine), fallback.source};
  return {};
}

fs::path read_only_state(const fs::path& cache, const SettingsPlace& state, const Environment& environment) {
  const fs::path folder = cache / "state" / path_of(machine_name(environment));
  return cache.empty() || folder == state.folder ? fs::path() : folder;
}

Result<SettingsPlace> default_helper(const Environment& environment, std::vector<std::string>& warnings,
                                     Inputs* inputs) {
  for (const fs::path& helper : places_of_helper(environment)) {
    const fs::path folder = helper.parent_path();
    if (inputs != nullptr) inputs->files.push_back(path_text(helper));
    if (calls::access(helper.c_str(), X_OK) != 0) continue;
    TRY_ASSIGN(const std::string why,
               less_protected({folder.parent_path(), folder, helper}, environment, inputs));
    if (!why.empty()) {
      warnings.push_back("the probe " + path_text(helper) + " is not used: " + why);
      continue;
    }
    if (inputs != nullptr) inputs->runnable.push_back(path_text(helper));
    return SettingsPlace{helper, "default"};
  }
  return SettingsPlace{};
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
      if (path_of(*folder).is_absolute()) add(path_of(*folder), variable);
  for (const LikelyInstallation& one : system_installations(environment)) add(one.folder, one.source.c_str());
  return found;
}

Result<std::optional<SettingsPlace>> default_repository(const Environment& environment,
                                                        std::vector<std::string>& warnings, Inputs* inputs) {
  for (const fs::path& repository : places_of_repository(environment)) {
    if (inputs != nullptr) inputs->files.push_back(path_text(repository / "index.json"));
    if (calls::access((repository / "index.json").c_str(), F_OK) != 0) continue;
    std::string why;
    TRY_ASSIGN(const std::vector<fs::path> paths, paths_of_repository(repository, why));
    if (why.empty()) {
      TRY_ASSIGN(why, less_protected(paths, environment, inputs));
    }
    if (why.empty()) return std::optional(SettingsPlace{repository, "default"});
    warnings.push_back("the repository " + path_text(repository) + " is not used: " + why);
  }
  return std::optional<SettingsPlace>();
}

}  // namespace enginehost::settings
