// The thread that unpacks an archive while other threads receive it.
#pragma once
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>

#include "host/acquire/unpack.hpp"

namespace enginehost::acquire {

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
