// Fixture of the platform tests: a folder that stands for "/".
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/files.hpp"
#include "host/platform/root.hpp"
#include "tests/platform/variable.hpp"

namespace enginehost::platform {

class FakeRoot {
 public:
  FakeRoot()
      : folder_(make_private_folder(std::filesystem::temp_directory_path(), "platform-root-").value()),
        root_(folder_) {}
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  ~FakeRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  FakeRoot& file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(on_disk(path).parent_path());
    std::ofstream(on_disk(path), std::ios::binary) << text;
    return *this;
  }
  FakeRoot& folder(const std::string& path) {
    std::filesystem::create_directories(on_disk(path));
    return *this;
  }
  FakeRoot& link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories(on_disk(path).parent_path());
    std::filesystem::create_symlink(target, on_disk(path));
    return *this;
  }
  FakeRoot& copy(const std::string& path, const std::string& from) {
    std::filesystem::create_directories(on_disk(path).parent_path());
    std::filesystem::copy_file(from, on_disk(path));
    return *this;
  }
  FakeRoot& pci(const std::string& address, const std::string& vendor, const std::string& device,
                const std::string& device_class) {
    const std::string at = "/sys/bus/pci/devices/" + address + "/";
    return file(at + "vendor", vendor + "\n")
        .file(at + "device", device + "\n")
        .file(at + "class", device_class + "\n");
  }
  std::filesystem::path on_disk(const std::string& path) const { return folder_.native() + path; }
  const std::filesystem::path& path() const { return folder_; }
  const Root& root() const { return root_; }

 private:
  std::filesystem::path folder_;
  Root root_;
};

}  // namespace enginehost::platform
