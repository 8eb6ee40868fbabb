#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files.hpp"

namespace enginehost::history {

// A state folder for one test.
class Folder {
 public:
  Folder() {
    auto made = make_private_folder(std::filesystem::temp_directory_path(), "enginehost-history-");
    if (!made) std::abort();
    path = *made;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
    return path / name;
  }
  std::filesystem::path path;
};

}  // namespace enginehost::history
