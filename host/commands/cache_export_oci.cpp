#include "host/commands/cache_export_oci.hpp"

#include <cstdio>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/commands/build_names.hpp"
#include "host/commands/common.hpp"
#include "host/commands/say.hpp"
#include "host/context/open_context.hpp"
#include "host/explain/explain.hpp"
#include "host/oci/layout.hpp"

namespace enginehost::commands {
Result<Json> export_oci(const OfflineRun& run) {
  const OfflineFlags& flags = run.flags;
  const cache::Store store =
      cache::Store::open(run.settings.cache_folder, run.settings.system_layers, "engine-cache");
  TRY(store.check_readable());
  const std::filesystem::path folder = given_path(flags.file);
  TRY_ASSIGN(const std::vector<std::string> ids, installed_builds(store, flags.builds));
  for (const std::string& id : ids) {
    TRY_ASSIGN(const auto installed, store.record_of(id));
    if (!installed) return fail(store.not_installed(id));
  }
  TRY_ASSIGN(const std::filesystem::path packing, explain::mark_as_argument(oci::begin_layout(folder)));
  std::vector<oci::Artifact> artifacts;
  std::vector<cache::Lease> leases;
  for (const std::string& id : ids) {
    TRY_ASSIGN(const auto installed, store.record_of(id));
    if (!installed) return fail(store.not_installed(id));  // removed meanwhile
    TRY_ASSIGN(cache::Lease lease, store.lease(*installed));
    leases.push_back(std::move(lease));
    oci::ArtifactRequest request;
    TRY_ASSIGN(request.folder, explain::mark_as_argument(make_private_folder(packing, "pack-")));
    request.redistribute.insert(flags.redistribute.begin(), flags.redistribute.end());
    TRY_ASSIGN(oci::Artifact artifact,
               explain::mark_as_argument(oci::make_artifact(*installed, request, run.cancel), folder));
    artifacts.push_back(std::move(artifact));
  }
  TRY(explain::mark_as_argument(oci::write_layout(folder, artifacts, "all")));
  open::OpenContext context(run.settings, {}, run.cancel);
  context.note("export", Json::object()
                             .set("builds", Json::strings(ids))
                             .set("folder", path_text(folder))
                             .set("redistribute", Json::strings(flags.redistribute)));
  print_warnings(context.warnings(), {}, run.common.quiet || run.common.json);
  Json builds = Json::array();
  for (const oci::Artifact& artifact : artifacts) {
    std::uint64_t size = 0;
    for (const oci::Blob& layer : artifact.layers) size += layer.descriptor.size;
    const std::string tag = oci::tag_of(artifact.build),
                      digest = "sha256:" + artifact.manifest.descriptor.digest;
    builds.push(
        Json::object().set("build", artifact.build).set("tag", tag).set("digest", digest).set("size", size));
    if (!run.common.json)
      say("%s  oci:%s:%s  %s  %s\n", artifact.build.c_str(), path_text(folder).c_str(), tag.c_str(),
          format_bytes(size).c_str(), digest.c_str());
  }
  return Json::object().set("format", 1).set("layout", path_text(folder)).set("exported", std::move(builds));
}

}  // namespace enginehost::commands
