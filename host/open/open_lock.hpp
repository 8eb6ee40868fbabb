// Locks between threads of this process that open engines. One thread at a time opens a given request,
// because the others want the same engine. One thread at a time loads code, because the libraries it brings
// decide what the next thread may load.
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "base/cancel.hpp"
#include "base/result.hpp"

namespace enginehost::open {

namespace inside {
class OpenLocks;
}

// A lock held by one thread. The destructor releases it, but only in the process that took it.
class OpenLock {
 public:
  OpenLock() = default;
  OpenLock(inside::OpenLocks* locks, std::string name, bool waited)
      : locks_(locks), name_(std::move(name)), waited_(waited) {}
  OpenLock(OpenLock&& other) noexcept
      : locks_(std::exchange(other.locks_, nullptr)), name_(std::move(other.name_)), waited_(other.waited_) {}
  OpenLock& operator=(OpenLock&& other) noexcept {
    if (this == &other) return *this;
    end();
    locks_ = std::exchange(other.locks_, nullptr);
    name_ = std::move(other.name_);
    waited_ = other.waited_;
    return *this;
  }
  ~OpenLock() { end(); }
  void end();
  // Returns true if another thread held the lock before.
  bool waited() const { return waited_; }

 private:
  inside::OpenLocks* locks_ = nullptr;
  std::string name_;
  bool waited_ = false;
};

// Locks the opening of the request with that key. EH-P10 if canceled while waiting. A thread that is already
// opening (a callback of that open) does not wait, because the other thread might be waiting for it.
Result<OpenLock> open_lock(const std::string& key, const std::optional<CancelToken>& cancel);

// Locks inspecting and changing the loaded libraries. The thread that holds it may take it again.
Result<OpenLock> load_lock(const std::optional<CancelToken>& cancel);

}  // namespace enginehost::open
