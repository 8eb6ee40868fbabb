// Loads a checked build into this process and creates its engine.
#pragma once
#include <filesystem>
#include <vector>

#include "host/attempt/crash_guard.hpp"
#include "host/attempt/load_check.hpp"
#include "host/load/in_process/loaded.hpp"

namespace enginehost::open {

// The loading stage of one attempt. Use from one thread.
class Loading {
 public:
  Loading(const AttemptParts& attempting, LoadCheck& load_check)
      : parts_(attempting), load_check_(load_check) {}

  // Fills in all of `opened` except the lease and the record; reads the record.
  Result<void> load(Opened& opened, CrashGuard& crash_guard);

  // Returns the libraries that failed loads brought into this process; empties the list.
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

// Returns the plugin's folder, and the folders of the build that are searched for libraries. As texts,
// because a list of path objects would cost every open more.
std::vector<std::string> own_folders(const Opened& opened);

}  // namespace enginehost::open
