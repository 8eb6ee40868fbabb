// The part of a zip archive that an installation fetches: the ranges that hold the selected files.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "host/acquire/growing_file.hpp"
#include "host/manifest/catalog.hpp"
#include "host/transfer/download.hpp"

namespace enginehost::acquire {

// Returns whether only the artifact's ranges are fetched. The manifest must name them, and the first source
// must not be a file of this machine, which is read whole.
bool is_fetched_by_ranges(const manifest::Artifact& artifact, const manifest::Build& build);

// Returns the bytes that come when the artifact is fetched: of its ranges or of the whole archive. Every
// plan, question and progress report uses this number. Returns nothing if the manifest does not give the
// size.
std::optional<std::uint64_t> download_size(const manifest::Artifact& artifact, const manifest::Build& build);

std::uint64_t size_of(const std::vector<transfer::Range>& ranges);

// Receives the ranges of an archive into a file that holds them one behind the other. The file is then a zip
// archive of its own, which a stream reader unpacks while it grows. `file` must have been opened with
// size_of_file(); it and `ranges` must outlive this. Threads: as PartSink.
class SelectedRanges : public transfer::PartSink {
 public:
  SelectedRanges(GrowingFile& file, const std::vector<transfer::Range>& ranges)
      : file_(file), ranges_(ranges) {}
  static std::uint64_t size_of_file(const std::vector<transfer::Range>& ranges);

  // Appends the empty directory that ends the file. Call it when nothing is missing.
  Result<void> finish();

  std::vector<transfer::Range> missing() const override;
  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override;
  // Refuses, because whole archives are received elsewhere: EH-N02 with sends_no_parts as "problem".
  Result<void> restart() override;
  static constexpr std::string_view sends_no_parts =
      "the server sends whole files only, and no parts of them";

 private:
  GrowingFile& file_;
  const std::vector<transfer::Range>& ranges_;
};

}  // namespace enginehost::acquire
