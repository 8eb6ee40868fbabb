// From a proven build to an engine in this process.
#pragma once
#include <filesystem>
#include <vector>

#include "host/load/in_process/loaded.hpp"
#include "host/open/crash_guard.hpp"
#include "host/open/load_check.hpp"

namespace enginehost::open {

// Of one attempt. Use from one thread.
class Loading {
 public:
  Loading(const AttemptParts& attempting, LoadCheck& load_check)
      : parts_(attempting), load_check_(load_check) {}

  // Fills in all of `opened` but its lease and its record, which it reads.
  Result<void> load(Opened& opened, CrashGuard& crash_guard);

  // What loads that failed brought into this process; empty afterwards.
  std::vector<load::Library> take_left() { return std::move(left_); }

 private:
  Result<void> load_between(Opened& opened, CrashGuard& crash_guard,
                            const std::shared_ptr<const load::MappedPaths>& before);
  load::Streams streams() const;
  void warn_of_hijacks(const Opened& opened, const load::MappedPaths& before);
  void warn_once(Diagnosis warning);
  Result<void> require_devices(const std::vector<load::Device>& offered) const;

  const AttemptParts& parts_;
  LoadCheck& load_check_;
  std::vector<load::Library> left_;
};

// The plugin's folder and those of the build that its libraries are searched in. Texts: gathered at every
// open, and looked into only where something may have come from elsewhere.
std::vector<std::string> own_folders(const Opened& opened);

}  // namespace enginehost::open
