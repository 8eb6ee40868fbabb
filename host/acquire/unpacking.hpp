// The thread that unpacks while another receives.
#pragma once
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>

#include "host/acquire/unpack.hpp"

namespace enginehost::acquire {

// What a finished unpacking leaves: files in the folder, known to the writer.
struct UnpackedTree {
  Unpacked unpacked;
  cache::TreeWriter writer;
};

// Starts at once; begins again when the file does. Disk failures stop the receiver, too. Destroying it
// abandons the file and waits for the thread, which takes at most one piece's decoding.
class Unpacking {
 public:
  Unpacking(const manifest::Artifact& artifact, GrowingFile& file, std::filesystem::path folder,
            cache::TreeLimits limits, std::optional<CancelToken> cancel);
  ~Unpacking();
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;

  // How much of the archive has been read.
  std::uint64_t position() const { return position_; }
  // True when the outcome is there.
  bool wait(std::chrono::milliseconds time) { return outcome_.wait_for(time) == std::future_status::ready; }
  // Once; call it after GrowingFile::complete.
  Result<UnpackedTree> outcome() { return outcome_.get(); }

 private:
  Result<UnpackedTree> work(const manifest::Artifact& artifact, const std::filesystem::path& folder,
                            cache::TreeLimits limits, const std::optional<CancelToken>& cancel);

  GrowingFile& file_;
  std::atomic<std::uint64_t> position_ = 0;
  std::future<Result<UnpackedTree>> outcome_;
};

// What can be said only of a complete archive: a zip's directory is held against what was met, and gives
// files their modes; something must have been selected. EH-F21, EH-F19. After it TreeWriter::finish() gives
// the list.
Result<void> check_unpacked(const manifest::Artifact& artifact, UnpackedTree& tree, const GrowingFile& file,
                            const std::filesystem::path& folder);

// One attempt in the calling thread, in an empty folder.
Result<UnpackedTree> unpack_into(const manifest::Artifact& artifact, GrowingFile& file, bool seekable,
                                 const std::filesystem::path& folder, cache::TreeLimits limits,
                                 const std::optional<CancelToken>& cancel,
                                 const std::function<void(std::uint64_t)>& on_read = {});

}  // namespace enginehost::acquire
