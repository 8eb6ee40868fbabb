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

// Reads one file or its parts, zstd-compressed or not. One thread at a time. Errors: EH-F40 ("file",
// "problem", …): damaged, cut, or not a bundle's archive. EH-F42 ("part", "list"): a part is missing, or the
// list of parts ("part", "parts_found"). EH-F43 ("part", "problem"): a part is cut or belongs to another
// export. EH-P47: the file cannot be read.
class BundleReader {
 public:
  // `file`: the bundle, its list of parts, or the common beginning of the parts' names. Checks the parts'
  // sizes at once, their bytes as they are read.
  static Result<std::unique_ptr<BundleReader>> open(const std::filesystem::path& file);
  ~BundleReader();
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  // Returns the next entry; the previous one must have been read to its end. Returns nothing after the last
  // one, once the ends of the archive and of the file were found where they belong.
  Result<std::optional<BundleEntry>> next();
  // Reads at most `size` bytes of the entry; returns 0 at its end.
  Result<std::size_t> read(char* buffer, std::size_t size);
  // Reads the rest of the entry.
  Result<std::string> read_whole();

  // The failure for wrong bytes: EH-F40 with "file", "problem", "entry". If a part differs from the list of
  // parts, names that part instead.
  Diagnosis damaged(std::string_view problem);

 private:
  struct State;
  explicit BundleReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace enginehost::offline
