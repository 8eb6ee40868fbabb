#include "host/acquire/acquire.hpp"

#include <functional>
#include <system_error>
#include <vector>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/acquire/component.hpp"
#include "host/acquire/installed_parts.hpp"
#include "host/acquire/partial_zip.hpp"

namespace enginehost::acquire {
namespace {

constexpr std::uint64_t largest_file = 4u << 20;

// Unpacks files into the emptied folder, from the first source that gives single files of such a zip archive.
// `none`: the failure if there is no zip archive.
Result<std::string> unpack_single_files(const manifest::Build& build,
                                        const std::vector<const manifest::Component*>& components,
                                        const std::function<bool(const manifest::Artifact&)>& has_them,
                                        const std::vector<cache::TreeEntry>& wanted,
                                        const std::filesystem::path& into, const AcquireOptions& options,
                                        const std::optional<CancelToken>& cancel, Diagnosis none) {
  std::optional<Diagnosis> first;
  std::error_code error;
  for (const manifest::Component* component : components)
    for (const manifest::Artifact& artifact : component->artifacts) {
      if (artifact.archive != "zip" || !has_them(artifact)) continue;
      for (const manifest::Source& source : artifact.sources) {
        remove_tree(into, error);
        TRY(make_folders(into));
        auto place = source.kind == manifest::Source::Kind::oci
                         ? Result<transfer::Place>(
                               fail(diagnose(Code::source_kind_unsupported).with(Key::source, source.text())))
                         : locate(source, artifact, build, options.transfer, cancel);
        if (place && artifact.size) place->size = artifact.size;
        auto unpacked = place ? unpack_parts(*place, artifact, wanted, into, options, cancel)
                              : Result<std::string>(fail(std::move(place).error()));
        if (unpacked || (cancel && cancel->canceled())) return unpacked;
        if (!first) first = std::move(unpacked).error();
      }
    }
  if (!first) first = std::move(none.with(Key::problem, "no source gives single files"));
  return fail(std::move(*first));
}

}  // namespace

Result<std::string> file_of_component(const manifest::Build& build, const manifest::Component& component,
                                      const std::string& view_path, const std::filesystem::path& scratch,
                                      const AcquireOptions& options,
                                      const std::optional<CancelToken>& cancel) {
  cache::TreeEntry entry;
  entry.path = view_path;
  entry.size = largest_file;
  TRY(unpack_single_files(
          build, {&component}, [](const manifest::Artifact&) { return true; }, {entry}, scratch, options,
          cancel, diagnose(Code::component_without_source).with(Key::component, component.id))
          .map([](const std::string&) {}));
  return read_file(scratch / path_of(view_path), largest_file);
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
      const auto gives = [&](const manifest::Artifact& artifact) {
        const std::string key = archive_key(artifact);
        return artifact.tree == tree || store.tree_of(key) == tree || store.older_tree_of(key) == tree;
      };
      return unpack_single_files(*build, build->all_components(), gives, wanted, into, options, cancel,
                                 diagnose(Code::component_without_source).with(Key::build, build->id));
    };
  return store.repair(id, stage, fetch, cancel);
}

}  // namespace enginehost::acquire
