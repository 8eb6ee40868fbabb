// A file in parts in memory, as the sink of a download.
#pragma once
#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "host/transfer/download.hpp"

namespace enginehost::test {

class MemoryParts : public transfer::PartSink {
 public:
  explicit MemoryParts(std::uint64_t size) : bytes(size, '\0'), have_(size, false) {}
  void hold(std::uint64_t from, std::string_view held) {
    std::copy(held.begin(), held.end(), bytes.begin() + static_cast<std::ptrdiff_t>(from));
    std::fill_n(have_.begin() + static_cast<std::ptrdiff_t>(from), held.size(), true);
  }
  std::vector<transfer::Range> missing() const override {
    const std::lock_guard lock(mutex_);
    std::vector<transfer::Range> gaps;
    for (auto at = have_.begin(); (at = std::find(at, have_.end(), false)) != have_.end();) {
      const auto end = std::find(at, have_.end(), true);
      gaps.push_back(
          {static_cast<std::uint64_t>(at - have_.begin()), static_cast<std::uint64_t>(end - have_.begin())});
      at = end;
    }
    return gaps;
  }
  Result<void> write_at(std::uint64_t offset, std::string_view more) override {
    if (throws_from && offset >= *throws_from && !threw_.exchange(true)) throw std::bad_alloc();
    const std::lock_guard lock(mutex_);
    if (offset + more.size() > bytes.size()) return fail(diagnose(Code::fetched_length_wrong));
    if (full) return fail(diagnose(Code::disk_full));
    std::copy(more.begin(), more.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    std::fill_n(have_.begin() + static_cast<std::ptrdiff_t>(offset), more.size(), true);
    return {};
  }
  Result<void> restart() override {
    const std::lock_guard lock(mutex_);
    std::fill(have_.begin(), have_.end(), false);
    ++restarts;
    return {};
  }

  std::string bytes;
  int restarts = 0;
  bool full = false;
  std::optional<std::uint64_t> throws_from;  // once, for bytes after that offset

 private:
  std::atomic<bool> threw_ = false;
  mutable std::mutex mutex_;
  std::vector<bool> have_;
};

}  // namespace enginehost::test
