#include "cache/lease.hpp"

#include <chrono>

#include "base/files.hpp"
#include "cache/sharing.hpp"
#include "cache/store.hpp"
#include "cache/store_paths.hpp"

namespace enginehost::cache {

Lease::Lease() = default;
Lease::Lease(Lease&&) noexcept = default;
Lease& Lease::operator=(Lease&&) noexcept = default;
Lease::~Lease() = default;

Result<Lease> Store::lease(const Installed& installed) const {
  using namespace inside;
  const fs::path file = lease_file(installed.layer, installed.digest);
  // Whoever may read a lock file may also hold it for ever: that must keep nobody from reading. A removal
  // that was under way when we came has taken the record away by then.
  WaitOptions briefly;
  briefly.at_most = std::chrono::seconds(2);
  auto lock =
      installed.read_only ? FileLock::shared_existing(file, briefly) : FileLock::shared(file, briefly);
  Lease lease;
  if (lock) {
    lease.lock_ = std::move(*lock);
    if (!installed.read_only) lease.lock_.note_use();
  } else if (lock.error().code != "EH-F16" && lock.error().code != "EH-F15" &&
             lock.error().code != "EH-F18") {
    // Where no lock file can be made, nobody without more rights than ours removes anything either.
    return fail(std::move(lock.error()));
  }
  if (!installed.read_only && !locks_are_kept(installed.layer))
    lease.heartbeat_ = Heartbeat::start(installed.layer, installed.digest);
  // It may have been removed before the lock was ours.
  for (const fs::path& needed : {ref_file(installed.layer, installed.build), installed.folder}) {
    auto stamp = stamp_of(needed);
    if (!stamp)
      return fail(
          std::move(stamp.error().with("build", installed.build).with("problem", "removed meanwhile")));
  }
  return lease;
}

}  // namespace enginehost::cache
