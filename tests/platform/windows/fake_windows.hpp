// A folder that stands for "/", in which "C" stands for "C:\"; System32 is where this system has it.
#pragma once
#include <string>

#include "base/paths.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/platform/root.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::platform {

inline std::string system_folder() {
  wchar_t text[MAX_PATH];
  return windows::utf8({text, ::GetSystemDirectoryW(text, MAX_PATH)});
}

class FakeWindows {
 public:
  FakeWindows() : root_(folder_.path()) {
    std::filesystem::create_directories(root_.on_disk(system_folder()));
  }
  FakeWindows& file(const std::string& path, const std::string& text) {
    test::write_text(root_.on_disk(path), text);
    return *this;
  }
  // One of the DLLs that are built for the tests.
  FakeWindows& dll(const std::string& path, const std::string& name) {
    const std::filesystem::path to = root_.on_disk(path);
    std::filesystem::create_directories(to.parent_path());
    std::filesystem::copy_file(path_of(test::build_path("/tests/dlls/win_") + name + ".dll"), to,
                               std::filesystem::copy_options::overwrite_existing);
    return *this;
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  const Root& root() const { return root_; }

 private:
  test::TemporaryFolder folder_;
  Root root_;
};

}  // namespace enginehost::platform
