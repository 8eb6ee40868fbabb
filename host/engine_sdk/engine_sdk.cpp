#include "host/engine_sdk/engine_sdk.hpp"

#include <algorithm>

#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/acquire/component.hpp"
#include "host/attempt/install.hpp"
#include "host/context/request.hpp"
#include "host/engine_sdk/choose.hpp"
#include "host/engine_sdk/folder.hpp"

namespace enginehost::engine_sdk {
namespace {

namespace fs = std::filesystem;

// The origin of the folder: each archive by its digest, and the tree of the files that come from it.
Json identity_of(const manifest::Build& parts) {
  Json components = Json::array();
  const auto owner = parts.manifest.lock();
  for (const manifest::Component* component : parts.all_components()) {
    const manifest::Artifact* artifact = acquire::first_usable(*component);
    const auto license = owner->licenses.find(component->license);
    Json one = Json::object().set("component", component->id).set("archive_sha256", artifact->sha256);
    if (!artifact->tree.empty()) one.set("tree", artifact->tree);
    if (license != owner->licenses.end()) one.set("license", license->second.id);
    components.push(std::move(one));
  }
  return Json::object()
      .set("format", 1)
      .set("engine", parts.engine)
      .set("version", parts.version)
      .set("build", parts.id)
      .set("components", std::move(components));
}

// The C++ ABI of the libraries is the one that the plugin shares with them.
std::string cxx11_abi_of(const manifest::Build& build) {
  const auto owner = build.manifest.lock();
  const auto plugin = owner->components.find(build.plugin_component);
  return plugin == owner->components.end() ? std::string() : plugin->second.cxx11_abi;
}

// The folder may be on another disk than the cache. Sizes that the manifest does not give count as nothing.
Result<void> check_space(const fs::path& folder, const manifest::Build& parts) {
  std::uint64_t needed = 0;
  for (const manifest::Component* component : parts.all_components()) {
    const manifest::Artifact& artifact = *acquire::first_usable(*component);
    needed += artifact.unpacked;
    for (const cache::TreeEntry& file : artifact.files) needed += file.size;
    if (artifact.archive == "none") needed += artifact.size.value_or(0);
  }
  fs::path there = folder.parent_path();
  std::error_code error;
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  const auto space = space_below(there);
  if (space && space->free < needed)
    return fail(diagnose(Code::disk_full)
                    .with(Key::folder, path_text(there))
                    .with(Key::needed, std::to_string(needed))
                    .with(Key::free, std::to_string(space->free)));
  return {};
}

}  // namespace

Result<WrittenSdk> write_sdk(open::OpenContext& context, resolve::Request request, const fs::path& given,
                             const SdkOptions& options) {
  if (auto refused = open::refused_by_policy(request, context.settings())) return fail(std::move(*refused));
  TRY_ASSIGN(const std::shared_ptr<const manifest::Build> build, choose_build(context, request));
  const Parts made_of = parts_of_sdk(*build);
  const manifest::Build& parts = made_of.build;
  const Package& package = *package_of(build->engine);
  const fs::path folder = place_of_folder(given);
  WrittenSdk sdk;
  sdk.engine = build->engine;
  sdk.version = build->version;
  sdk.build = build->id;
  sdk.folder = folder;
  sdk.package = package.name;
  sdk.headers = package.headers;
  const Json identity = identity_of(parts);
  // Before anything is fetched, and again under the lock.
  TRY_ASSIGN(std::optional<FolderSize> size, sdk_in(folder, identity, context.cancel()));
  sdk.was_there = size.has_value();
  if (!size) {
    TRY(open::repair_places(context));
    const cache::Store& store = context.store();
    TRY_ASSIGN(cache::Stage stage, store.stage("sdk-" + sha256_hex(path_text(folder)),
                                               acquire::waiting(options.progress, context.cancel())));
    TRY_ASSIGN(size, sdk_in(folder, identity, context.cancel()));
    sdk.was_there = size.has_value();
    if (!size) {
      TRY(check_space(folder, parts));
      acquire::AcquireOptions acquiring;
      acquiring.transfer = context.transfer_options();
      acquiring.download_limit = context.settings().downloads.max_artifact_bytes;
      acquiring.unpacked_limit = context.settings().downloads.max_unpacked_bytes;
      acquiring.consent = options.consent;
      auto fetched = open::fetch_trees_noted(context, parts, stage, acquiring, options.progress);
      if (!fetched) return fail(std::move(fetched.error().within("while fetching " + build->id)));
      sdk.downloaded = fetched->downloaded;
      sdk.warnings = std::move(fetched->warnings);
      TRY_ASSIGN(const Contents contents,
                 contents_of(parts, fetched->trees, store, package, cxx11_abi_of(*build)));
      TRY_ASSIGN(size, write_folder(folder, contents, identity, context.cancel()));
    }
  }
  sdk.files = size->files;
  sdk.size = size->bytes;
  return sdk;
}

}  // namespace enginehost::engine_sdk
