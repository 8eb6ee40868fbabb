#include "host/commands/cache_export_oci.hpp"

#include <cstdio>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/commands/common.hpp"
#include "host/oci/layout.hpp"
#include "host/open/world.hpp"

namespace enginehost::commands {
Result<Json> export_oci(const OfflineRun& run) {
  const OfflineFlags& flags = run.flags;
  const cache::Store store =
      cache::Store::open(run.settings.cache_folder, run.settings.system_layers, "engine-cache");
  const std::filesystem::path folder = given_path(flags.file);
  TRY_ASSIGN(const std::filesystem::path packing, oci::begin_layout(folder));
  std::vector<oci::Artifact> artifacts;
  std::vector<cache::Lease> leases;
  for (const std::string& id : flags.builds) {
    TRY_ASSIGN(const auto installed, store.record_of(id));
    if (!installed) return fail(diagnose("EH-F01").with("build", id).with("problem", "it is not installed"));
    TRY_ASSIGN(cache::Lease lease, store.lease(*installed));
    leases.push_back(std::move(lease));
    oci::ArtifactRequest request;
    TRY_ASSIGN(request.folder, make_private_folder(packing, "pack-"));
    request.redistribute.insert(flags.redistribute.begin(), flags.redistribute.end());
    TRY_ASSIGN(oci::Artifact artifact, oci::make_artifact(*installed, request, run.cancel));
    artifacts.push_back(std::move(artifact));
  }
  TRY(oci::write_layout(folder, artifacts, "all"));
  open::World world(run.settings, {}, run.cancel);
  world.note("export", Json::object()
                           .set("builds", Json::strings(flags.builds))
                           .set("folder", path_text(folder))
                           .set("redistribute", Json::strings(flags.redistribute)));
  print_warnings(world.warnings(), {}, run.common.quiet || run.common.json);
  Json builds = Json::array();
  for (const oci::Artifact& artifact : artifacts) {
    std::uint64_t size = 0;
    for (const oci::Blob& layer : artifact.layers) size += layer.descriptor.size;
    const std::string tag = oci::tag_of(artifact.build),
                      digest = "sha256:" + artifact.manifest.descriptor.digest;
    builds.push(
        Json::object().set("build", artifact.build).set("tag", tag).set("digest", digest).set("size", size));
    if (!run.common.json)
      std::printf("%s  oci:%s:%s  %s  %s\n", artifact.build.c_str(), path_text(folder).c_str(), tag.c_str(),
                  format_bytes(size).c_str(), digest.c_str());
  }
  return Json::object().set("format", 1).set("layout", path_text(folder)).set("exported", std::move(builds));
}

}  // namespace enginehost::commands
