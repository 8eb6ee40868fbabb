// An archive on disk while it arrives: some threads write and hash it, another thread reads it.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "host/transfer/chunk_list.hpp"
#include "host/transfer/download.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {

// A partial file's note of the ranges that have arrived. Used while several connections write it.
// It is in the partial file itself, behind the end of the complete file. It disappears when the file is
// removed or started again, so that no two files must be kept consistent. It is one page at a page boundary.
// The system copies it whole, or, if the process is killed, not at all.
inline constexpr std::size_t received_note_bytes = 4096;
std::uint64_t place_of_received_note(std::uint64_t size);

// Returns a note of received_note_bytes. Ranges that do not fit are left out and are fetched again.
std::string received_note(const std::vector<transfer::Range>& received, std::uint64_t size);

// Returns the ranges, sorted and disjoint, within the size. Returns nothing unless the text is a whole note
// of a file of this size.
std::optional<std::vector<transfer::Range>> read_received_note(std::string_view text, std::uint64_t size);

// Keeps the bytes of an archive in a file while they arrive. Receiving threads never wait for the reader,
// memory stays small, and received bytes survive the process. Bytes may arrive in any order. Bytes that
// arrive again are dropped, so a server cannot change those that were hashed. The reader gets them in order;
// with a chunk list only after the digest of their chunk matched.
//
// Thread safety: the functions of the sinks and digest() are for the receiving threads; the read functions
// are for one other thread.
class GrowingFile : public transfer::Sink, public transfer::PartSink {
 public:
  // Opens or creates the file. Bytes that it holds count as received and are hashed again. With chunks these
  // are the chunks whose digests match. Without chunks they are the ranges in the file's own note
  // (received_note()), else all. `chunks` must outlive the file and describe `size` bytes. EH-F15, EH-F16,
  // EH-F17 with "file", "folder"; EH-F23 with "file" if it cannot be read.
  static Result<std::unique_ptr<GrowingFile>> open(const std::filesystem::path& file,
                                                   const std::filesystem::path& cache_folder,
                                                   std::optional<std::uint64_t> size = {},
                                                   const transfer::ChunkList* chunks = nullptr);
  ~GrowingFile() override;

  // Returns true if any byte has arrived, at any place.
  bool holds_any() const;

  // As one stream: the bytes that can be read are held.
  std::uint64_t held() const override { return size_; }
  Result<void> start(std::uint64_t offset) override;
  Result<void> write(std::string_view bytes) override;

  // In parts. A chunk with a wrong digest fails with EH-N08 ("expected_sha256", "actual_sha256", "position")
  // and is missing again.
  std::vector<transfer::Range> missing() const override;
  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override;
  Result<void> restart() override;
  std::uint64_t alignment() const override { return chunks_ != nullptr ? chunks_->chunk : 1; }

  // Returns the sha256 of all bytes. Call it once; start(0) begins a new one.
  std::string digest() { return hash_.hex(); }
  // Marks the file as complete and verified.
  void complete();
  // Ends the file without completing it: the reader fails.
  void abandon();
  // Makes the next write fail with this error, because receiving is pointless (for example, the reader's disk
  // is full).
  void stop_receiving(Diagnosis diagnosis);

  // Reads bytes at `at` and waits until there are some. Returns 0 at the end of a completed file. Returns -1
  // if the file was abandoned, was started again since `generation`, or cannot be read.
  std::int64_t read(std::uint64_t at, char* buffer, std::size_t size, std::uint64_t generation);
  // Returns the reason of a failed read: EH-F23 ("file"). It does not mean that the bytes are wrong.
  std::optional<Diagnosis> why_unreadable() const;
  Diagnosis unreadable(int error_number) const;
  // Waits until the bytes are final; returns false if the file was started again since `generation`.
  bool wait_until_settled(std::uint64_t generation);
  // Returns how often the file was started again.
  std::uint64_t generation() const;
  bool abandoned() const;
  int descriptor() const { return file_.get(); }
  const std::filesystem::path& path() const { return path_; }
  // Returns the first bytes, at most `size`.
  std::string head(std::size_t size) const;
  void remove();

 private:
  GrowingFile() = default;
  Diagnosis failure(int error_number) const;
  Result<void> put(std::uint64_t offset, std::string_view bytes);
  Result<void> put_in_chunks(std::uint64_t offset, std::string_view bytes);
  Result<bool> put_unless_received(std::uint64_t chunk, std::uint64_t offset, std::string_view bytes);
  Result<std::string> digest_of(transfer::Range range) const;
  Result<void> take_what_is_there();
  void note_before(std::uint64_t offset);
  void write_note();
  Result<void> advance(std::uint64_t offset, std::string_view bytes);
  void add(transfer::Range range);
  bool has(std::uint64_t offset) const;
  std::vector<transfer::Range> gaps_in(transfer::Range range) const;
  std::uint64_t received_prefix() const;

  std::filesystem::path path_, folder_;
  FileDescriptor file_;
  std::optional<std::uint64_t> expected_;
  const transfer::ChunkList* chunks_ = nullptr;
  std::uint64_t file_limit_ = 0;
  std::uint64_t stream_at_ = 0;  // offset of the next write()

  // Held while bytes are written and added to have_, and locked before mutex_: received bytes never change,
  // since they may have been hashed.
  std::mutex writing_;

  std::mutex noting_;                // keeps an older note from replacing a newer one; locked before mutex_
  std::uint64_t not_yet_noted_ = 0;  // bytes since the last note
  bool noted_ = false;               // the file has a note behind its end

  std::mutex hashing_;  // held by the thread that advances size_; locked before mutex_
  Sha256 hash_;         // of the first size_ bytes

  mutable std::mutex mutex_;
  std::condition_variable grown_;
  std::vector<transfer::Range> have_;    // sorted, not adjacent
  std::atomic<std::uint64_t> size_ = 0;  // bytes that may be read
  std::uint64_t generation_ = 0;
  bool complete_ = false, abandoned_ = false;
  std::optional<Diagnosis> stop_, unreadable_;
};

}  // namespace enginehost::acquire
