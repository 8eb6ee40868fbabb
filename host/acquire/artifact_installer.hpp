// Installs one artifact of a component: fetches it, or its ranges, from its sources in turn and unpacks it.
#pragma once
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/acquire/component.hpp"
#include "host/acquire/growing_file.hpp"
#include "host/acquire/selected_ranges.hpp"
#include "host/acquire/unpack.hpp"
#include "host/transfer/download.hpp"

namespace enginehost::acquire {

// The last failure of a source.
struct Failure {
  std::string source;
  Diagnosis diagnosis;
};

// Returns whether policy forbids the host, so that it was not asked.
inline bool is_forbidden(const std::string& code) { return code == "EH-P01"; }

// Works under the artifact's lock. One thread; used once.
class ArtifactInstaller {
 public:
  ArtifactInstaller(const manifest::Component& component, const manifest::Artifact& artifact,
                    ComponentWork& work)
      : component_(component), artifact_(artifact), work_(work) {}

  Result<std::string> run(std::vector<Failure>& failures);
  // Returns the bytes that it fetches: see download_size().
  std::uint64_t size() const { return by_ranges_ ? size_of(artifact_.ranges) : artifact_.size.value_or(0); }

 private:
  // Sources that are asked together: adjacent sources with parts, or one without.
  using Group = std::vector<const manifest::Source*>;
  // Removes the sources that cannot give the artifact. Returns nothing if it must be fetched whole.
  Result<std::optional<std::string>> from_ranges(Group& group, std::vector<Failure>& failures);
  // The origin of received bytes.
  struct Delivery {
    std::string where;
    Group from;
  };
  std::vector<Group> groups() const;
  bool has_parts(const manifest::Source& source) const;
  Result<std::string> from_group(Group group, std::vector<Failure>& failures);
  Result<Delivery> fetch(const Group& group, GrowingFile& file, std::vector<transfer::MirrorFailure>& left);
  Result<UnpackedTree> finish_unpacking(Unpacking& unpacking, GrowingFile& file);
  Result<std::string> publish(UnpackedTree tree, GrowingFile& file);
  Result<std::string> publish_selected(UnpackedTree tree);
  Result<std::string> publish_tree(UnpackedTree tree);
  transfer::Mirror mirror_of(const manifest::Source& source) const;
  Result<transfer::DownloadReport> download(const Group& group, transfer::PartSink& sink,
                                            std::vector<transfer::MirrorFailure>& left,
                                            const transfer::ProgressCallback& progress);
  bool most_arrived_whole() const;
  static void note(std::vector<Failure>& failures, const manifest::Source& source, Diagnosis diagnosis);
  Diagnosis wrong_digest(const std::string& actual, const GrowingFile& file, const std::string& where) const;
  void report(transfer::Progress::Phase phase, std::uint64_t done, double rate, const std::string& source);
  // Bytes are unpacked while they arrive, before their digest is known. A manifest that names the files
  // bounds them.
  cache::TreeLimits limits() const {
    const cache::TreeLimits most{work_.options.unpacked_limit, 200'000};
    if (artifact_.files.empty()) return most;
    std::uint64_t bytes = 0;
    for (const cache::TreeEntry& file : artifact_.files) bytes += file.size;
    return {std::min(most.bytes, bytes), artifact_.files.size()};
  }
  std::filesystem::path folder() const { return stage_->folder() / "tree"; }

  const manifest::Component& component_;
  const manifest::Artifact& artifact_;
  ComponentWork& work_;
  bool by_ranges_ = is_fetched_by_ranges(artifact_, work_.build);
  std::optional<cache::Stage> stage_;
  const std::vector<manifest::Source> sources_ =
      with_registry_mirrors(artifact_.sources, work_.options.transfer);
  const transfer::ProgressCallback progress_ = [this](const transfer::Progress& now) {
    report(now.phase, now.done, now.bytes_per_second, now.source);
  };
};

}  // namespace enginehost::acquire
