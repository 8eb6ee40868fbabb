// The machine's files, below the folder that stands for "/".
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace enginehost::platform {

// Every path given or returned is the machine's own ("/proc/…", "C:\\Windows"). Only on_disk() returns the
// path below the root, where "C" stands for "C:\\". An absolute symbolic link on a recorded machine is
// resolved inside its root. Read-only. Thread safety: const functions may be called from any thread.
class Root {
 public:
  explicit Root(std::filesystem::path root = "/");
  bool is_this_machine() const { return prefix_.empty(); }

  std::filesystem::path on_disk(const std::string& path) const;
  bool exists(const std::string& path) const;
  bool is_folder(const std::string& path) const;
  // Empty when the file is missing, unreadable or longer than 1 MiB. The trailing newline is cut.
  std::optional<std::string> read(const std::string& path) const;
  // The first bytes of a file that may be longer; empty when the file is missing.
  std::string read_start(const std::string& path, std::size_t bytes) const;
  // The names in a folder, sorted; empty when the folder is missing.
  std::vector<std::string> list(const std::string& folder) const;
  // The path with all symbolic links followed inside the root; empty when a link leads nowhere.
  std::optional<std::string> resolve(const std::string& path) const;

 private:
  // The file on disk, with links followed inside the root; nothing if a link leads nowhere.
  std::optional<std::filesystem::path> file_of(const std::string& path) const;

  std::string prefix_;  // without trailing "/"; empty for this machine
};

}  // namespace enginehost::platform
