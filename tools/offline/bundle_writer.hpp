// Writes a bundle: a tar archive in one zstd frame, in one file or in parts.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::offline {

struct WrittenPart {
  std::string name;  // file name
  std::uint64_t size = 0;
  std::string sha256;
};

// The same entries give the same bytes: times and owners are zero, and one thread compresses at a fixed
// level. All files are written beside the target under names that end in ".unfinished", which a later export
// to the same file takes over, and are renamed once all are on disk. One thread at a time. Errors: EH-F15,
// EH-F16, EH-F17 with "file"; EH-F18 when another process writes the same bundle.
class BundleWriter {
 public:
  // `largest_part` 0: one file. Otherwise FILE.001, FILE.002, … and the list FILE.parts, which is written
  // last. Error: EH-P40 when FILE exists and is no bundle.
  static Result<std::unique_ptr<BundleWriter>> create(std::filesystem::path file,
                                                      std::uint64_t largest_part = 0);
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  // Writes one entry after another, each with exactly `size` bytes.
  Result<void> begin_entry(std::string_view name, std::uint64_t size);
  Result<void> write(std::string_view bytes);
  Result<void> end_entry();

  // Renames the files, and removes what an earlier export left under this name in the other form: the single
  // bundle where there are parts now, or surplus parts. `bundle` is the digest of the bundle's list, for the
  // list of parts.
  Result<std::vector<WrittenPart>> finish(std::string_view bundle);

 private:
  struct State;
  explicit BundleWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace enginehost::offline
