// Who may go ahead when several threads of this process open at once: one thread a request, since the others
// want the same engine; and one thread at a time where code is loaded, since what it brings decides what the
// next may load.
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

// Held by one thread; ends when it goes, in the process that took it.
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
  // Whether somebody else had it before.
  bool waited() const { return waited_; }

 private:
  inside::OpenLocks* locks_ = nullptr;
  std::string name_;
  bool waited_ = false;
};

// To open what that key asks for. EH-P10 when canceled while waiting. A thread that opens already, from a
// callback of that open, waits for nobody: it could be waited for itself, and goes ahead.
Result<OpenLock> open_lock(const std::string& key, const std::optional<CancelToken>& cancel);

// To look at what is loaded, and to load. The thread that has it may take it again.
Result<OpenLock> load_lock(const std::optional<CancelToken>& cancel);

}  // namespace enginehost::open
