// Keeps a build in use: it is not removed while the lease lives.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/lock.hpp"

namespace enginehost::cache {

namespace inside {
class Heartbeat;
}

// A shared lock on leases/<digest>.lk, which the kernel frees whatever becomes of this process; where locks
// are not kept also a file that is renewed. Its time tells when the build was last used. One owner; any
// thread.
//
// The file holds nothing but words: what a process leaves there while it does what may end it. A word stays
// when the process dies; it is locked as long as it lives.
class Lease {
 public:
  Lease();
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  ~Lease();

  // False where there is nothing to hold: see Store::lease.
  bool holds() const { return lock_.held(); }

  static constexpr std::size_t longest_marker = 1000;
  // One at a time; false where none can be left: in a layer that is only read, where locks are not kept,
  // where the process may write no file of that size, when a dozen others have theirs there, and for a word
  // that is too long or holds a zero byte.
  bool write_marker(std::string_view marker);
  void erase_marker();
  int descriptor() const { return lock_.descriptor(); }
  // Those of the dead that were there when the lease was taken.
  std::vector<std::string> stale_markers() const;
  // The same. Each is given out once, whoever asks.
  std::vector<std::string> take_stale_markers();

 private:
  friend class Store;
  FileLock lock_;
  std::unique_ptr<inside::Heartbeat> heartbeat_;
  bool may_write_markers_ = false;
  int place_ = -1;  // of our word
};

}  // namespace enginehost::cache
