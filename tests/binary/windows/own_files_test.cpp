// The readers on files of this Windows: this program, the system's DLLs, and files that are no library.
#include <gmock/gmock.h>

#include <fstream>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/windows/system.hpp"
#include "host/binary/binary.hpp"

namespace enginehost::binary {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::StrCaseEq;

class OwnFiles : public testing::Test {
 protected:
  OwnFiles() : folder_(*make_private_folder(fs::temp_directory_path(), "enginehost-binary-")) {}
  ~OwnFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path put(const char* name, const std::string& bytes) const {
    EXPECT_TRUE(write_file(folder_ / name, bytes, false));
    return folder_ / name;
  }
  fs::path folder_;
};

TEST_F(OwnFiles, ThisProgramIsReadAsWhatItIs) {
  const auto info = read_binary(executable_folder() / "binary_tests.exe");
  ASSERT_TRUE(info) << info.error().code;
  EXPECT_EQ(info->machine, "x86_64");
  EXPECT_EQ(info->bits, 64);
  EXPECT_THAT(info->needed, Contains(StrCaseEq("kernel32.dll")));
}

TEST_F(OwnFiles, TheSystemsDllsAreRead) {
  wchar_t system[MAX_PATH];
  ASSERT_GT(::GetSystemDirectoryW(system, MAX_PATH), 0u);
  for (const char* name : {"kernel32.dll", "ntdll.dll", "user32.dll", "ws2_32.dll", "msvcrt.dll"}) {
    const auto info = read_binary(fs::path(system) / name);
    ASSERT_TRUE(info) << name << " " << info.error().code;
    EXPECT_EQ(info->machine, "x86_64") << name;
  }
}

TEST_F(OwnFiles, AMissingFileOrAFolderHasItsCode) {
  const auto missing = read_binary(folder_ / "none.dll");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "EH-F01");
  EXPECT_EQ(missing.error().value(Key::first_missing), path_text(folder_ / "none.dll"));
  EXPECT_EQ(read_binary(folder_).error().code, "EH-F11") << "a folder";
}

TEST_F(OwnFiles, ANameBeyondAsciiIsReadAndReported) {
  const fs::path file = folder_ / L"\u00fcber \u6f22.dll";
  fs::copy_file(executable_folder() / "binary_tests.exe", file);
  EXPECT_TRUE(read_binary(file));
  fs::remove(file);
  const auto missing = read_binary(file);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().value(Key::file), path_text(file));
}

TEST_F(OwnFiles, W09AFileThatAnotherProgramHoldsIsNotCalledMissing) {
  const fs::path file = put("held.dll", "bytes");
  windows::Handle holder(::CreateFileW(file.c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr));
  ASSERT_TRUE(holder.valid());
  const auto held = read_binary(file);
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, "EH-W09");
  EXPECT_EQ(held.error().value(Key::errno_), "EBUSY");
}

}  // namespace
}  // namespace enginehost::binary
