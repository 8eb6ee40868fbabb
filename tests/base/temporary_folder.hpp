// A folder of its own for one test, removed with everything in it.
#pragma once
#include <filesystem>
#ifndef _WIN32
#include <unistd.h>
#endif

#include "base/files.hpp"

namespace enginehost {

class TemporaryFolder {
 public:
  // Below the system's folder for temporary files. Others may enter it, so that a test can act as another
  // user.
  TemporaryFolder()
      : path_(make_private_folder(std::filesystem::temp_directory_path(), "base-tests-").value()) {
    std::filesystem::permissions(path_, std::filesystem::perms{0755});
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }
#ifndef _WIN32
  // Whether this process may give files to other users, and become one: root, but not in a user namespace
  // that has no other users.
  bool can_be_given_away() const {
    return ::geteuid() == 0 && ::chown(path_.c_str(), 6001, 6001) == 0 && ::chown(path_.c_str(), 0, 0) == 0;
  }
#endif

 private:
  std::filesystem::path path_;
};

}  // namespace enginehost
