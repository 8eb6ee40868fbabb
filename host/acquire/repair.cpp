#include "host/acquire/repair.hpp"

#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/remove_tree.hpp"
#include "host/acquire/component.hpp"
#include "host/acquire/description.hpp"
#include "host/acquire/partial_zip.hpp"
#include "host/transfer/package_index.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {
namespace {

bool gives(const manifest::Artifact& artifact, const std::string& tree, const cache::Store& store) {
  return artifact.tree == tree || store.tree_of(archive_key(artifact)) == tree;
}

// Returns the location of a source's bytes: a URL or a file.
Result<PartSource> part_source(const manifest::Source& source, const manifest::Artifact& artifact,
                               const manifest::Build& build, const AcquireOptions& options,
                               const std::optional<CancelToken>& cancel) {
  PartSource part;
  part.size = artifact.size;
  part.transfer = options.transfer;
  switch (source.kind) {
    case manifest::Source::Kind::url:
      part.where = source.location;
      return part;
    case manifest::Source::Kind::file:
      if (auto outside = outside_of_repository(source, build)) return fail(std::move(*outside));
      part.where = resolve_file_source(source, build);
      return part;
    case manifest::Source::Kind::package_index: {
      TRY_ASSIGN(
          const transfer::PackageFile found,
          transfer::locate_package(source.project, source.file, artifact.sha256, options.transfer, cancel));
      part.where = found.url.empty() ? path_text(found.path) : found.url;
      part.transfer = found.options;
      if (!part.size) part.size = found.size;
      return part;
    }
    default:
      return fail(diagnose("EH-N16").with("source", source.text()));
  }
}

Result<std::string> fetch_parts(const manifest::Build& build, const cache::Store& store,
                                const AcquireOptions& options, const std::optional<CancelToken>& cancel,
                                const std::string& tree, const std::vector<cache::TreeEntry>& wanted,
                                const std::filesystem::path& into) {
  std::optional<Diagnosis> first;
  for (const manifest::Component* component : build.all_components())
    for (const manifest::Artifact& artifact : component->artifacts) {
      if (artifact.archive != "zip" || !gives(artifact, tree, store)) continue;
      for (const manifest::Source& source : artifact.sources) {
        auto part = part_source(source, artifact, build, options, cancel);
        auto unpacked = part ? unpack_parts(*part, artifact, wanted, into, options, cancel)
                             : Result<std::string>(fail(std::move(part).error()));
        if (unpacked || (cancel && cancel->canceled())) return unpacked;
        if (!first) first = std::move(unpacked).error();
      }
    }
  return fail(
      first
          ? std::move(*first)
          : std::move(
                diagnose("EH-N15").with("build", build.id).with("problem", "no source gives single files")));
}

constexpr std::uint64_t largest_file = 4u << 20;

}  // namespace

Result<std::string> file_of_component(const manifest::Build& build, const manifest::Component& component,
                                      const std::string& view_path, const std::filesystem::path& scratch,
                                      const AcquireOptions& options,
                                      const std::optional<CancelToken>& cancel) {
  std::optional<Diagnosis> first;
  std::error_code error;
  cache::TreeEntry entry;
  entry.path = view_path;
  for (const manifest::Artifact& artifact : component.artifacts) {
    if (artifact.archive != "zip") continue;
    for (const manifest::Source& source : artifact.sources) {
      remove_tree(scratch, error);
      TRY(make_folders(scratch));
      auto part = part_source(source, artifact, build, options, cancel);
      auto unpacked = part ? unpack_parts(*part, artifact, {entry}, scratch, options, cancel)
                           : Result<std::string>(fail(std::move(part).error()));
      if (unpacked) return read_file(scratch / path_of(view_path), largest_file);
      if (cancel && cancel->canceled()) return unpacked;
      if (!first) first = std::move(unpacked).error();
    }
  }
  return fail(first ? std::move(*first)
                    : std::move(diagnose("EH-N15")
                                    .with("component", component.id)
                                    .with("problem", "no source gives single files")));
}

Result<cache::Repaired> repair(std::string_view id, const manifest::Build* build, const cache::Store& store,
                               const AcquireOptions& options, const std::optional<CancelToken>& cancel) {
  cache::WaitOptions wait;
  wait.patience = options.lock_patience;
  wait.cancel = cancel;
  TRY_ASSIGN(cache::Stage stage, store.stage(cache::Store::key_of(id), wait));
  cache::FetchFiles fetch;
  if (build != nullptr)
    fetch = [&](const std::string& tree, const std::vector<cache::TreeEntry>& wanted,
                const std::filesystem::path& into) {
      return fetch_parts(*build, store, options, cancel, tree, wanted, into);
    };
  return store.repair(id, stage, fetch, cancel);
}

}  // namespace enginehost::acquire
