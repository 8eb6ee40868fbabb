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
  std::string name;  // of the file
  std::uint64_t size = 0;
  std::string sha256;
};

// The same entries give the same bytes: times and owners are zero, one thread compresses at a fixed level.
// Everything is written under names that end in ".unfinished" beside the file, which a later export to the
// same file takes over, and renamed when all of it is on the disk. One thread at a time. EH-F15, F16, F17
// with "file"; EH-F18 when another process writes the same bundle.
class BundleWriter {
 public:
  // `largest_part` 0: one file. Else FILE.001, FILE.002, … and the list FILE.parts, written last: EH-P40 when
  // something that is no bundle has the name FILE.
  static Result<std::unique_ptr<BundleWriter>> create(std::filesystem::path file,
                                                      std::uint64_t largest_part = 0);
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  // One entry after another; what is written between must be `size` bytes in all.
  Result<void> begin_entry(std::string_view name, std::uint64_t size);
  Result<void> write(std::string_view bytes);
  Result<void> end_entry();

  // Gives the files their names, and removes what an earlier export left under this name in the other form:
  // the one bundle where there are parts now, parts that are no longer any. `bundle` is the digest of the
  // bundle's list, for the list of parts.
  Result<std::vector<WrittenPart>> finish(std::string_view bundle);

 private:
  struct State;
  explicit BundleWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Where a file is to be written that is given by this name: the regular file that a link leads to, or the
// name. EH-P40 when something else has the name already, as a device, which a rename would replace.
Result<std::filesystem::path> place_for_file(const std::filesystem::path& file);

}  // namespace enginehost::offline
