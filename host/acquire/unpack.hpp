// Unpacks archives into trees, in a thread of its own while other threads receive them. libarchive reads
// them, cache::TreeWriter writes.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "cache/tree_writer.hpp"
#include "host/acquire/growing_file.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::acquire {

// An entry of the archive as the reader found it, selected or not, with its full name.
struct MetEntry {
  std::string name;
  std::string path;  // in the tree; empty: not selected, or a folder
};

struct Unpacked {
  std::vector<MetEntry> entries;
};

// Returns true for zip, tar, tar.gz, tar.xz, tar.zst and none.
bool is_known_archive(std::string_view archive);

// How an archive is read. `fast` is for zip only; it reads ordinary archives and fails with EH-F21 for
// others. `seeking` needs a complete file and reads zip archives from their directory, which no stream reader
// can.
enum class Way { fast, streaming, seeking };

// Unpacks while the file grows. EH-F21 ("problem", "archive") if it cannot be decoded, EH-F19 for a refused
// entry, disk failures as TreeWriter. EH-P10 with "problem" = "abandoned" if the file was abandoned or
// started again.
Result<Unpacked> unpack(const manifest::Artifact& artifact, GrowingFile& file, Way way,
                        cache::TreeWriter& writer, const std::optional<CancelToken>& cancel,
                        const std::function<void(std::uint64_t)>& on_read);

// Returns the path of an entry in the tree: without "." parts and without `strip` leading parts. Returns an
// empty path if nothing remains or `select` excludes it. EH-F19 if the name is absolute or has a "..".
Result<std::string> path_in_tree(const manifest::Artifact& artifact, std::string_view name);

// The result of an unpacking: files in the folder, known to the writer.
struct UnpackedTree {
  Unpacked unpacked;
  cache::TreeWriter writer;
};

// Starts immediately, and starts again if the file does. Disk failures also stop the receiver. The destructor
// abandons the file and waits for the thread, at most for the decoding of one block.
class Unpacking {
 public:
  Unpacking(const manifest::Artifact& artifact, GrowingFile& file, std::filesystem::path folder,
            cache::TreeLimits limits, std::optional<CancelToken> cancel);
  ~Unpacking();
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;

  // Returns how many bytes of the archive have been read.
  std::uint64_t position() const { return position_; }
  // Returns true if the outcome is available.
  bool wait(std::chrono::milliseconds time) { return outcome_.wait_for(time) == std::future_status::ready; }
  // Call it once, after GrowingFile::complete.
  Result<UnpackedTree> outcome() { return outcome_.get(); }

 private:
  Result<UnpackedTree> work(const manifest::Artifact& artifact, const std::filesystem::path& folder,
                            cache::TreeLimits limits, const std::optional<CancelToken>& cancel);

  GrowingFile& file_;
  std::atomic<std::uint64_t> position_ = 0;
  std::future<Result<UnpackedTree>> outcome_;
};

// Runs the checks that need a complete archive. Compares a zip's directory with the entries that were read,
// and takes the modes of files from it. At least one entry must have been selected. EH-F21, EH-F19. Call
// TreeWriter::finish() after it for the list.
Result<void> check_unpacked(const manifest::Artifact& artifact, UnpackedTree& tree, const GrowingFile& file,
                            const std::filesystem::path& folder);

// Unpacks once in the calling thread, into an empty folder.
Result<UnpackedTree> unpack_into(const manifest::Artifact& artifact, GrowingFile& file, bool seekable,
                                 const std::filesystem::path& folder, cache::TreeLimits limits,
                                 const std::optional<CancelToken>& cancel,
                                 const std::function<void(std::uint64_t)>& on_read = {});

}  // namespace enginehost::acquire
