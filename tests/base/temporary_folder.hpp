// A folder of its own for one test, removed with everything in it.
#pragma once
#include <filesystem>

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

 private:
  std::filesystem::path path_;
};

}  // namespace enginehost
