#include "host/acquire/sources.hpp"

namespace enginehost::acquire {

oci::Wanted wanted_of(const manifest::Artifact& artifact, const manifest::Build& build,
                      const AcquireOptions& options) {
  oci::Wanted wanted;
  wanted.sha256 = artifact.sha256;
  wanted.size = artifact.size;
  wanted.limit = options.download_limit;
  wanted.os = build.os;
  wanted.arch = build.arch;
  wanted.flavor = build.flavor;
  return wanted;
}

std::vector<manifest::Source> with_registry_mirrors(const std::vector<manifest::Source>& sources,
                                                    const transfer::TransferOptions& options) {
  std::vector<manifest::Source> all;
  for (const manifest::Source& source : sources) {
    if (source.kind != manifest::Source::Kind::oci) {
      all.push_back(source);
      continue;
    }
    for (std::string& reference : oci::with_mirrors(source.location, options)) {
      all.push_back(source);
      all.back().location = std::move(reference);
    }
  }
  return all;
}

std::optional<std::uint64_t> size_in_registry(const manifest::Source& source,
                                              const manifest::Artifact& artifact,
                                              const manifest::Build& build, const AcquireOptions& options,
                                              const std::optional<CancelToken>& cancel) {
  for (const std::string& reference : oci::with_mirrors(source.location, options.transfer)) {
    if (options.transfer.offline || (cancel && cancel->canceled())) return {};
    const auto located =
        oci::locate(reference, wanted_of(artifact, build, options), options.transfer, cancel);
    if (located && located->size) return located->size;
  }
  return {};
}

}  // namespace enginehost::acquire
