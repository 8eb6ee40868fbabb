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

namespace {

// Whoever may read a lock file may also hold it for ever: that must keep nobody from reading. A removal that
// was under way when we came has taken the record away by then.
WaitOptions briefly() {
  WaitOptions wait;
  wait.at_most = std::chrono::seconds(2);
  return wait;
}

}  // namespace

Result<Lease> Store::lease(const Installed& installed) const {
  using namespace inside;
  const fs::path file = lease_file(installed.layer, installed.digest);
  auto lock =
      installed.read_only ? FileLock::shared_existing(file, briefly()) : FileLock::shared(file, briefly());
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

Result<Store::Leased> Store::find_leased(std::string_view build, std::string_view digest) const {
  using namespace inside;
  Leased leased;
  // What is looked at under the lock need not be looked at again. Of several layers it is not known whose
  // lock it would be.
  if (layers_.empty())
    if (auto lock = FileLock::shared_existing(lease_file(root_, digest), briefly()))
      leased.lease.lock_ = std::move(*lock);
  TRY_ASSIGN(auto found, find(build));
  if (!found || found->digest != digest) return fail(diagnose("EH-F01").with("build", build));
  leased.installed = std::move(*found);
  if (leased.lease.holds() && locks_are_kept(root_)) {
    leased.lease.lock_.note_use();
    return leased;
  }
  TRY_ASSIGN(leased.lease, lease(leased.installed));
  return leased;
}

}  // namespace enginehost::cache
