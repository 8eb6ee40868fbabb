// Keeps a build in use: it is not removed while the lease lives.
#pragma once
#include <memory>

#include "cache/lock.hpp"

namespace enginehost::cache {

namespace inside {
class Heartbeat;
}

// A shared lock on leases/<digest>.lk, which the kernel frees whatever becomes of this process; where locks
// are not kept also a file that is renewed. Its time tells when the build was last used. One owner; any
// thread.
class Lease {
 public:
  Lease();
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  ~Lease();

  // False where there is nothing to hold: see Store::lease.
  bool holds() const { return lock_.held(); }

 private:
  friend class Store;
  FileLock lock_;
  std::unique_ptr<inside::Heartbeat> heartbeat_;
};

}  // namespace enginehost::cache
