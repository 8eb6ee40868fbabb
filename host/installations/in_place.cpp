#include "host/installations/in_place.hpp"

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/binary/binary.hpp"
#include "host/installations/parts.hpp"

namespace enginehost::installations {
namespace {

using manifest::Build;
using manifest::Component;

// Returns "1.13" for "1.13.1".
std::string leading_parts(std::string_view version, int count) {
  std::size_t end = 0;
  for (int part = 0; part < count && end != std::string_view::npos; ++part)
    end = version.find('.', part == 0 ? 0 : end + 1);
  return std::string(version.substr(0, end));
}

bool is_for_cuda(std::string_view flavor) {
  return flavor.size() > 2 && flavor.starts_with("cu") && flavor[2] >= '0' && flavor[2] <= '9';
}

const Component* plugin_of(const Build& build) {
  const auto owner = build.manifest.lock();
  if (!owner) return nullptr;
  const auto found = owner->components.find(build.plugin_component);
  return found != owner->components.end() ? &found->second : nullptr;
}

bool is_at_hand(const Component& plugin) {
  return std::any_of(plugin.artifacts.begin(), plugin.artifacts.end(),
                     [](const manifest::Artifact& artifact) {
                       return !artifact.sha256.empty() && !artifact.sources.empty();
                     });
}

// Returns whether the plugin of that build works with the runtime.
bool fits(const Build& build, const Component& plugin, const Runtime& runtime) {
  if (!runtime.version.empty() && !binary::serves_version(build.capabilities, runtime.version)) return false;
  const KnownEngine* known = find_engine(runtime.engine);
  const bool by_headers = known != nullptr && !known->abi_library.empty();
  if (!by_headers)
    return leading_parts(build.version, 1) == leading_parts(runtime.version, 1) &&
           is_for_cuda(build.flavor) == is_for_cuda(runtime.flavor);
  if (leading_parts(build.version, 2) != leading_parts(runtime.version, 2)) return false;
  if (!plugin.cxx11_abi.empty() && !runtime.cxx11_abi.empty() && plugin.cxx11_abi != runtime.cxx11_abi)
    return false;
  return std::all_of(plugin.needs.begin(), plugin.needs.end(), [&](const std::string& name) {
    return std::find(runtime.names.begin(), runtime.names.end(), name) != runtime.names.end();
  });
}

std::string text_of(const Build& build, const Component& plugin) {
  std::string text = build.engine + " " + leading_parts(build.version, 2);
  if (!plugin.cxx11_abi.empty()) text += ", C++11 ABI " + plugin.cxx11_abi;
  if (!plugin.needs.empty()) text += ", with " + join(plugin.needs, " ");
  if (const std::string range = binary::served_versions(build.capabilities); !range.empty())
    text += ", for releases " + range;
  if (is_for_cuda(build.flavor)) text += ", " + build.flavor;
  if (!is_at_hand(plugin)) text += " (not compiled here)";
  return text;
}

std::string text_of(const Runtime& runtime) {
  std::string text = runtime.engine + " " + runtime.version + " " + runtime.flavor;
  if (!runtime.cxx11_abi.empty()) text += ", C++11 ABI " + runtime.cxx11_abi;
  const KnownEngine* known = find_engine(runtime.engine);
  if (known != nullptr && !known->abi_library.empty() && !runtime.names.empty())
    text += ", with " + runtime.names.front();
  return text;
}

struct Choice {
  const Build* build = nullptr;
  std::vector<std::string> others;  // plugins that do not fit, for people
};

Choice choose_plugin(const Runtime& runtime, const manifest::Catalog& catalog) {
  Choice choice;
  std::set<std::string> reported;
  for (const auto& build : catalog.builds) {
    if (build->engine != runtime.engine || build->in_place) continue;
    if (build->os != runtime.os || build->arch != runtime.arch) continue;
    const Component* plugin = plugin_of(*build);
    if (plugin == nullptr) continue;
    if (is_at_hand(*plugin) && fits(*build, *plugin, runtime)) {
      choice.build = build.get();
      return choice;
    }
    std::string text = text_of(*build, *plugin);
    if (reported.insert(text).second) choice.others.push_back(std::move(text));
  }
  return choice;
}

Diagnosis no_plugin(const Installation& installation, const Runtime& runtime, const Choice& choice) {
  Diagnosis diagnosis = diagnose(Code::no_plugin_for_installation);
  diagnosis.with(Key::path, path_text(installation.path)).with(Key::installed, text_of(runtime), "its files");
  diagnosis.with(Key::engine, runtime.engine);
  for (const std::string& other : choice.others) diagnosis.with(Key::plugin, other, "repositories");
  if (choice.others.empty()) diagnosis.with(Key::system, runtime.os + " " + runtime.arch, "its files");
  return diagnosis;
}

}  // namespace

std::string identity_of(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) {
    text += file;
    if (const auto stamp = stamp_of(path_of(file)))
      text += " " + std::to_string(stamp->size) + " " + std::to_string(stamp->modified_ns) + " " +
              std::to_string(stamp->inode);
    text += "\n";
  }
  return sha256_hex(text);
}

std::vector<std::shared_ptr<const manifest::Manifest>> manifests_of(const Installation& installation,
                                                                    const manifest::Catalog& catalog) {
  std::vector<std::shared_ptr<const manifest::Manifest>> manifests;
  for (const Runtime& runtime : installation.runtimes) {
    auto in_place = std::make_shared<manifest::InPlace>();
    in_place->path = path_text(installation.path);
    in_place->root = runtime.root;
    in_place->dependency_stamps = runtime.dependency_stamps;
    in_place->identity = identity_of(runtime.dependency_stamps);
    in_place->found = runtime.found;
    in_place->problem = runtime.problem;

    auto build = std::make_shared<Build>();
    build->engine = runtime.engine;
    build->version = runtime.version.empty() ? "0" : runtime.version;
    build->flavor = runtime.flavor;
    build->os = runtime.os;
    build->arch = runtime.arch;
    build->id = runtime.engine + "-" + build->version + "-" + runtime.flavor + "-" + runtime.os + "-" +
                runtime.arch + "-at-" + sha256_hex(path_text(installation.path)).substr(0, 8);
    build->requires_ = runtime.requirements;
    build->search = runtime.libraries;
    build->priority = priority_in_place;

    auto manifest = std::make_shared<manifest::Manifest>();
    manifest->engine = runtime.engine;
    manifest->repository = path_text(installation.path);
    manifest->name = path_text(installation.path);
    const Choice choice = choose_plugin(runtime, catalog);
    if (choice.build != nullptr) {
      const auto owner = choice.build->manifest.lock();
      const Component& plugin = *plugin_of(*choice.build);
      build->plugin_component = choice.build->plugin_component;
      build->plugin_path = choice.build->plugin_path;
      build->capabilities = choice.build->capabilities;
      build->probe_seconds = choice.build->probe_seconds;
      manifest->components.emplace(plugin.id, plugin);
      manifest->licenses = owner->licenses;
      manifest->repository = owner->repository;
      manifest->serial = owner->serial;
    } else if (!in_place->problem) {
      in_place->problem = no_plugin(installation, runtime, choice);
    }
    build->in_place = std::move(in_place);
    build->manifest = manifest;
    manifest->builds.push_back(std::move(build));
    manifests.push_back(std::move(manifest));
  }
  return manifests;
}

}  // namespace enginehost::installations
