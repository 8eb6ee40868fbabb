// The bytes of an archive on disk while they arrive: written and hashed by one thread, read by another.
#pragma once
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {

// The receiver is never held up by the reader, memory stays small, and what was received survives the
// process. The sink's functions, hash_held and digest are for the receiving thread; reading is for one other
// thread.
class GrowingFile : public transfer::Sink {
 public:
  // Opens or makes the file; what it already holds counts as received and is hashed (nothing on disk is
  // trusted). EH-F15, F16, F17 with "file", "folder".
  static Result<std::unique_ptr<GrowingFile>> open(const std::filesystem::path& file,
                                                   const std::filesystem::path& cache_folder);

  std::uint64_t held() const override { return size_; }
  Result<void> start(std::uint64_t offset) override;
  Result<void> write(std::string_view bytes) override;

  // The sha256 of all bytes. Once; start(0) renews it.
  std::string digest() { return hash_.hex(); }
  // Everything has arrived and is what it should be.
  void complete();
  // Nothing more will come: the reader fails.
  void abandon();
  // An error that makes receiving pointless (the reader's disk is full): the next write fails with it.
  void stop_receiving(Diagnosis diagnosis);

  // Bytes at `at`, waiting until there are some. 0 at the end of a completed file, -1 when the file was
  // abandoned or started anew since `generation`.
  std::int64_t read(std::uint64_t at, char* buffer, std::size_t size, std::uint64_t generation);
  // Waits until nothing more will happen to the bytes; false when they were started anew since `generation`.
  bool wait_until_settled(std::uint64_t generation);
  // Counts how often the file was started anew.
  std::uint64_t generation() const;
  bool abandoned() const;
  int descriptor() const { return file_.get(); }
  // The first bytes, at most `size`.
  std::string head(std::size_t size) const;
  void remove();

 private:
  GrowingFile() = default;
  Diagnosis failure(int error_number) const;

  std::filesystem::path path_, folder_;
  FileDescriptor file_;
  Sha256 hash_;
  std::uint64_t file_limit_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable grown_;
  std::atomic<std::uint64_t> size_ = 0;
  std::uint64_t generation_ = 0;
  bool complete_ = false, abandoned_ = false;
  std::optional<Diagnosis> stop_;
};

}  // namespace enginehost::acquire
