// Packs a folder as one archive, and makes the folder in which `add` packs and unpacks.
#pragma once
#include <filesystem>

#include "base/result.hpp"
#include "tools/publish/workspace.hpp"

namespace enginehost::publish {

// Writes a tar.zst of every file and link below `folder`: sorted, without times, owners and folders, so that
// the same files give the same bytes. Error: EH-M17 ("file", "problem") for entries that an archive cannot
// hold and for disk failures. Any thread.
Result<void> pack_folder(const std::filesystem::path& folder, const std::filesystem::path& archive);

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
