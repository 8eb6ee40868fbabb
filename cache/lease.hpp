// A lease keeps a build from being removed.
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

// A shared lock on leases/<digest>.lk, which the kernel releases even if this process dies. Where locks do
// not work, the lease is a file that is renewed. The time of the lock file is the build's last use.
//
// The lock file holds only crash markers: a process writes one before a risky operation and erases it
// afterwards. Its place stays locked while the process lives; the marker stays if the process dies.
//
// Thread safety: any thread; one owner.
class Lease {
 public:
  Lease();
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  ~Lease();

  // Returns false if there is nothing to lock: see Store::lease.
  bool holds() const { return lock_.held(); }

  static constexpr std::size_t longest_marker = 1000;
  // Writes the crash marker of this lease, one at a time. Returns false if that is impossible: in a read-only
  // layer, without working locks, beyond the file size limit, when a dozen other processes have markers
  // there, and for a marker that is too long or contains a zero byte.
  bool write_marker(std::string_view marker);
  void erase_marker();
  int descriptor() const { return lock_.descriptor(); }
  // Returns the markers of dead processes that existed when the lease was taken.
  std::vector<std::string> stale_markers() const;
  // The same; each marker is returned to one caller only.
  std::vector<std::string> take_stale_markers();

 private:
  friend class Store;
  FileLock lock_;
  std::unique_ptr<inside::Heartbeat> heartbeat_;
  bool may_write_markers_ = false;
  int place_ = -1;  // slot of our marker
};

}  // namespace enginehost::cache
