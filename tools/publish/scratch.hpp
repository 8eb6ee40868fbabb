// The folder in which `add` packs and unpacks archives.
#pragma once
#include "tools/publish/workspace.hpp"

namespace enginehost::publish {

// A folder .adding-… of the workspace, with a lock that is held while its owner lives and shows later
// processes which folders are abandoned. Removed on destruction. One thread at a time.
class Scratch {
 public:
  // Removes abandoned folders first. Errors: EH-F18 as Workspace::lock(); EH-F15, EH-F16.
  static Result<Scratch> make(const Workspace& workspace);
  Scratch(Scratch&& other) noexcept;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  const std::filesystem::path& folder() const { return folder_; }

 private:
  Scratch() = default;
  std::filesystem::path folder_;
  cache::FileLock lock_;
};

}  // namespace enginehost::publish
