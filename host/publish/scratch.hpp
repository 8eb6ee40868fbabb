// Where `add` packs and unpacks archives.
#pragma once
#include "host/publish/workspace.hpp"

namespace enginehost::publish {

// A folder .adding-… of the workspace with a lock in it for as long as its owner lives: by that the next one
// to add tells what a killed one left behind. Removed on destruction. One thread at a time.
class Scratch {
 public:
  // Removes folders of the dead first. EH-F18 as Workspace::lock; EH-F15, EH-F16.
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
