// A private folder for things that are not published yet.
#pragma once
#include <filesystem>
#include <memory>

#include "cache/lock.hpp"

namespace enginehost::cache {

// Holds the lock of a key and an empty folder stage/<key>/<nonce>; the destructor releases both. While any
// stage lives, nothing that was published but is not yet referred to is swept. Thread safety: one thread at a
// time.
class Stage {
 public:
  Stage(Stage&& other) noexcept;
  Stage& operator=(Stage&& other) noexcept;
  ~Stage();

  const std::filesystem::path& folder() const { return folder_; }
  void report_progress(std::uint64_t done, std::uint64_t total) { lock_.report_progress(done, total); }

 private:
  friend class Store;
  Stage(FileLock lock, FileLock publishing, std::filesystem::path folder)
      : lock_(std::move(lock)), publishing_(std::move(publishing)), folder_(std::move(folder)) {}
  void remove();

  FileLock lock_, publishing_;
  std::filesystem::path folder_;
};

}  // namespace enginehost::cache
