// The bytes of an archive on disk while they arrive: written and hashed by some threads, read by another.
#pragma once
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "host/transfer/chunk_list.hpp"
#include "host/transfer/download.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {

// The receivers are never held up by the reader, memory stays small, and what was received survives the
// process. Bytes may arrive in any order; the reader gets them in order, and with a chunk list only after
// their chunk's digest matched. The sink's functions and digest() are for the receiving threads; reading is
// for one other thread.
class GrowingFile : public transfer::Sink, public transfer::PartSink {
 public:
  // Opens or makes the file; what it already holds counts as received and is hashed (nothing on disk is
  // trusted). Without chunks that is what it noted of itself (received_ranges.hpp), else what stands before
  // its first hole; with them each chunk that has its digest. `chunks` must outlive the file and be of `size`
  // bytes. EH-F15, F16, F17 with "file", "folder"; EH-F23 with "file" when it cannot be read.
  static Result<std::unique_ptr<GrowingFile>> open(const std::filesystem::path& file,
                                                   const std::filesystem::path& cache_folder,
                                                   std::optional<std::uint64_t> size = {},
                                                   const transfer::ChunkList* chunks = nullptr);
  ~GrowingFile() override;

  // Whether anything of it has arrived, wherever in the file.
  bool holds_any() const;

  // As one stream: what can be read is held.
  std::uint64_t held() const override { return size_; }
  Result<void> start(std::uint64_t offset) override;
  Result<void> write(std::string_view bytes) override;

  // In parts. A chunk with another digest than the list's is EH-N08 ("expected_sha256", "actual_sha256",
  // "position") and missing again.
  std::vector<transfer::Range> missing() const override;
  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override;
  Result<void> restart() override;
  std::uint64_t alignment() const override { return chunks_ != nullptr ? chunks_->chunk : 1; }

  // The sha256 of all bytes. Once; start(0) renews it.
  std::string digest() { return hash_.hex(); }
  // Everything has arrived and is what it should be.
  void complete();
  // Nothing more will come: the reader fails.
  void abandon();
  // An error that makes receiving pointless (the reader's disk is full): the next write fails with it.
  void stop_receiving(Diagnosis diagnosis);

  // Bytes at `at`, waiting until there are some. 0 at the end of a completed file, -1 when the file was
  // abandoned or started again since `generation`, or cannot be read.
  std::int64_t read(std::uint64_t at, char* buffer, std::size_t size, std::uint64_t generation);
  // Of a read that failed: EH-F23 ("file"), which says nothing against the bytes.
  std::optional<Diagnosis> why_unreadable() const;
  Diagnosis unreadable(int error_number) const;
  // Waits until nothing more will happen to the bytes; false when they were started again since `generation`.
  bool wait_until_settled(std::uint64_t generation);
  // Counts how often the file was started again.
  std::uint64_t generation() const;
  bool abandoned() const;
  int descriptor() const { return file_.get(); }
  const std::filesystem::path& path() const { return path_; }
  // The first bytes, at most `size`.
  std::string head(std::size_t size) const;
  void remove();

 private:
  GrowingFile() = default;
  Diagnosis failure(int error_number) const;
  Result<void> put(std::uint64_t offset, std::string_view bytes);
  Result<void> put_in_chunks(std::uint64_t offset, std::string_view bytes);
  Result<std::string> digest_of(transfer::Range range) const;
  Result<void> take_what_is_there();
  bool take_what_is_noted(std::uint64_t file_size);
  void note_what_came(std::uint64_t bytes);
  void write_note();
  Result<void> advance(std::uint64_t offset, std::string_view bytes);
  void add(transfer::Range range);
  bool has(std::uint64_t offset) const;
  std::uint64_t received_prefix() const;

  std::filesystem::path path_, folder_;
  FileDescriptor file_;
  std::optional<std::uint64_t> expected_;
  const transfer::ChunkList* chunks_ = nullptr;
  std::uint64_t file_limit_ = 0;
  std::uint64_t stream_at_ = 0;  // where write() goes on

  std::mutex noting_;                // so that no older note replaces a newer one; taken before mutex_
  std::uint64_t not_yet_noted_ = 0;  // bytes since the last note
  bool noted_ = false;               // a note stands behind the file's end

  std::mutex hashing_;  // of the one that moves size_ forward; taken before mutex_
  Sha256 hash_;         // of the first size_ bytes

  mutable std::mutex mutex_;
  std::condition_variable grown_;
  std::vector<transfer::Range> have_;    // in order, with gaps between
  std::atomic<std::uint64_t> size_ = 0;  // what may be read
  std::uint64_t generation_ = 0;
  bool complete_ = false, abandoned_ = false;
  std::optional<Diagnosis> stop_, unreadable_;
};

}  // namespace enginehost::acquire
