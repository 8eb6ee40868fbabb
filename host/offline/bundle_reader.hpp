// Reads a bundle once, from its first byte to its last.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::offline {

struct BundleEntry {
  std::string name;
  std::uint64_t size = 0;
};

// One file or its parts; zstd or not compressed. One thread at a time. EH-F40 ("file", "problem", …):
// damaged, cut, or not an archive as bundles are; EH-F42 ("part", "list"): a part is missing, or the list
// of them ("part", "parts_found"); EH-F43 ("part",
// "problem"): a part is cut or not of this export; EH-P47: the file cannot be read.
class BundleReader {
 public:
  // `file`: the bundle, its list of parts, or the name that the parts' names begin with. Parts are looked at
  // for their sizes at once, for their bytes as they are read.
  static Result<std::unique_ptr<BundleReader>> open(const std::filesystem::path& file);
  ~BundleReader();
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  // The next entry; what is left of the one before must have been read. Nothing after the last one, when
  // the end of archive and of the file were found where they belong.
  Result<std::optional<BundleEntry>> next();
  // At most `size` bytes of the entry; 0 at its end.
  Result<std::size_t> read(char* buffer, std::size_t size);
  // The rest of the entry.
  Result<std::string> read_whole();

  // Everything that is wrong with the bytes is this bundle's fault: EH-F40 with "file", "problem", "entry".
  // When a part is not what the list of parts says, that part is named instead.
  Diagnosis damaged(std::string_view problem);

 private:
  struct State;
  explicit BundleReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace enginehost::offline
