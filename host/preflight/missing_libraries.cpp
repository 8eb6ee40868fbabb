// Where a missing library is after all: in a folder that the loader does not search, under another name, or
// in another release.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/refusals.hpp"
#include "host/linker/search.hpp"
#include "host/preflight/judgments.hpp"

namespace enginehost::preflight {
namespace {

bool is_stand_in(const ViewIndex& index, const std::string& path) {
  const auto& info = index.reader.read(path);
  return info && info->stand_in;
}

// Finds the library under another name, as where its links were lost: libstdc++.so.6.0.34 for libstdc++.so.6.
void name_unlinked(const ViewIndex& index, const std::vector<std::string>& folders,
                   const std::string& library, Diagnosis& diagnosis) {
  const std::size_t at = library.find(".so");
  if (at == std::string::npos || library.find('/') != std::string::npos) return;
  const std::string stem = library.substr(0, at + 3), needed(diagnosis.value(Key::needs));
  const auto has_version = [&](const binary::BinaryInfo& info) {
    const auto& versions = info.version_definitions;
    return needed.empty() || std::find(versions.begin(), versions.end(), needed) != versions.end();
  };
  for (const std::string& folder : folders)
    for (const std::string& name : index.reader.names_in(folder)) {
      const std::string path = folder + "/" + name;
      if (!name.starts_with(stem) || name == library || !index.reader.file_exists(path)) continue;
      const auto& info = index.reader.read(path);
      if (!info || info->soname != library || info->stand_in || !has_version(*info) ||
          linker::refusal_of(index.spec.machine, *info, path, false))
        continue;
      diagnosis.with(Key::unlinked, path).with(Key::linked_as, folder + "/" + library);
      return;
    }
}

// Returns folders into which installers put libraries for which the loader must be configured: the wheels and
// the environment around the file, the active conda environment, toolkits and /usr/local.
std::vector<std::string> installation_folders(const ViewIndex& index, const std::string& file) {
  std::vector<std::string> folders;
  const auto add_each = [&](const std::string& parent, std::string_view prefix, const std::string& ending) {
    for (const std::string& name : index.reader.names_in(parent))
      if (name.starts_with(prefix)) folders.push_back(parent + "/" + name + ending);
  };
  for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
    const std::size_t at = file.rfind(packages);
    if (at == std::string::npos) continue;
    const std::string root = file.substr(0, at + packages.size() - 1);
    add_each(root + "/nvidia", "", "/lib");
    folders.push_back(root + "/torch/lib");
    add_each(root, "tensorrt_", "");
    folders.push_back(path_text(path_of(root).parent_path().parent_path()));  // lib/python3.11/site-packages
  }
  const platform::Platform* const platform = index.spec.platform;
  if (platform != nullptr && platform->conda.is_known())
    folders.push_back(platform->conda.value().prefix + "/lib");
  for (const char* folder : {"/usr/local/lib", "/usr/local/lib64"}) folders.emplace_back(folder);
  for (const char* ending : {"/lib64", "/lib"}) add_each("/usr/local", "cuda", ending);
  add_each("/opt", "rocm", "/lib");
  add_each("/opt/intel/oneapi", "", "/latest/lib");
  return folders;
}

void name_elsewhere(const ViewIndex& index, const std::vector<std::string>& folders, Diagnosis& diagnosis) {
  std::vector<std::string> found;
  for (const std::string& library : diagnosis.values(Key::library))
    for (const std::string& folder : folders) {
      const std::string path = folder + "/" + library;
      if (library.find('/') != std::string::npos || !index.reader.file_exists(path)) continue;
      const auto& info = index.reader.read(path);
      if (!info || info->stand_in || linker::refusal_of(index.spec.machine, *info, path, false)) continue;
      diagnosis.with(Key::elsewhere, path);
      if (std::find(found.begin(), found.end(), folder) == found.end()) found.push_back(folder);
      break;
    }
  if (found.empty()) return;
  const std::string& before = index.spec.machine.library_path_text.value_or("");
  diagnosis.with(Key::library_path, join(found, ":") + (before.empty() ? "" : ":$LD_LIBRARY_PATH"));
  if (found.front().starts_with("/usr/local/") || found.front().starts_with("/opt/"))
    diagnosis.with(Key::ldconfig, found.front());
}

}  // namespace

void explain_missing_libraries(const ViewIndex& index, std::vector<Diagnosis>& diagnoses) {
  for (Diagnosis& diagnosis : diagnoses) {
    if ((diagnosis.code == Code::cpp_runtime_too_old || diagnosis.code == Code::symbol_version_missing) &&
        !diagnosis.value(Key::needs).empty())
      name_unlinked(index, folders_searched(index, std::string(diagnosis.value(Key::required_by))),
                    std::string(diagnosis.value(Key::library)), diagnosis);
    if (diagnosis.code != Code::library_missing && diagnosis.code != Code::library_missing_indirectly)
      continue;
    const std::string needer(diagnosis.value(Key::needed_by));
    std::vector<std::string> folders = diagnosis.values(Key::searched);
    folders.emplace_back(linker::folder_of_file(needer));
    const std::vector<std::string> names = diagnosis.values(Key::library);
    for (const std::string& library : names)
      if (diagnosis.value(Key::unlinked).empty()) name_unlinked(index, folders, library, diagnosis);
    if (!index.spec.machine.recorded) {
      const std::vector<std::string> others = installation_folders(index, needer);
      name_elsewhere(index, others, diagnosis);
      folders.insert(folders.end(), others.begin(), others.end());
    }
    // NixOS has no folder of libraries, and its loader has no cache.
    const platform::Platform* const platform = index.spec.platform;
    if (platform != nullptr && platform->distribution.value().id == "nixos")
      diagnosis.with(Key::distribution, "nixos", platform->distribution.source());
    if (!diagnosis.value(Key::unlinked).empty() || !diagnosis.value(Key::elsewhere).empty()) continue;
    std::set<std::string> reported;
    for (const std::string& library : names) {
      const std::size_t at = library.find(".so.");
      if (at == std::string::npos) continue;
      const std::string stem = library.substr(0, at + 4);
      for (const std::string& folder : folders)
        for (const std::string& name : index.reader.names_in(folder))
          // The name with the fewest numbers is the SONAME: libavutil.so.57, not libavutil.so.57.28.100.
          if (name.starts_with(stem) && name.find('.', stem.size()) == std::string::npos &&
              name != library.substr(0, name.size()) && !is_stand_in(index, folder + "/" + name) &&
              reported.insert(name).second)
            diagnosis.with(Key::other_release, folder + "/" + name);
    }
  }
}

}  // namespace enginehost::preflight
