// The machine's files, below the folder that stands for "/".
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace enginehost::platform {

// All paths given and returned are the machine's own ("/proc/…", "C:\\Windows"); only on_disk() names the
// place below the root, where "C" stands for "C:\\". An absolute symbolic link of a recorded machine stays
// inside its root. Only reads; const use from any thread.
class Root {
 public:
  explicit Root(std::filesystem::path root = "/");
  bool is_this_machine() const { return prefix_.empty(); }

  std::filesystem::path on_disk(const std::string& path) const;
  std::string text_on_disk(const std::string& path) const;  // for calls that need no path object
  bool exists(const std::string& path) const;
  bool is_folder(const std::string& path) const;
  // Nothing when it is not there, not readable or longer than 1 MiB; the trailing newline is cut.
  std::optional<std::string> read(const std::string& path) const;
  // The first bytes of a file that may be longer; empty when it is not there.
  std::string read_start(const std::string& path, std::size_t bytes) const;
  // The names in a folder, sorted; empty when it is not there.
  std::vector<std::string> list(const std::string& folder) const;
  // With all symbolic links followed inside the root; nothing when it leads nowhere.
  std::optional<std::string> resolve(const std::string& path) const;

 private:
  std::string prefix_;  // without trailing "/"; empty for this machine
};

}  // namespace enginehost::platform
