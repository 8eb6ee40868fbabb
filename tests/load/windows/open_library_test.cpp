// The two openings of a library on Windows: which paths and names they take, and where a name is searched.
#include "host/load/in_process/open_library.hpp"

#include <gmock/gmock.h>

#include "base/child_process.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "host/explain/explain.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::load {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class WindowsOpening : public testing::Test {
 protected:
  ~WindowsOpening() override { fs::current_path(before_); }
  // A DLL that leaves a file in the current folder when its code runs.
  fs::path marking(const char* name) const {
    const fs::path to = folder_ / name;
    fs::copy_file(fs::path(test::build_path()) / "tests/plugins/load_marks.dll", to);
    return to;
  }
  static void expect_refused(const Result<OpenLibrary>& opened, const char* sentence) {
    ASSERT_FALSE(opened) << sentence;
    EXPECT_EQ(explain::one_line(opened.error()), std::string("EH-F11 ") + sentence);
  }

  const fs::path before_ = fs::current_path();
  const test::TemporaryFolder folder_;
  const fs::path ran_ = folder_ / "ran";
};

TEST_F(WindowsOpening, AtTakesAnAbsolutePathOnly) {
  const fs::path file = marking("here.dll");
  fs::current_path(folder_.path());
  expect_refused(OpenLibrary::at(""), "\"\" is an empty path, not an absolute path");
  expect_refused(OpenLibrary::at("here.dll"), "here.dll is a bare name, not an absolute path");
  expect_refused(OpenLibrary::at(".\\here.dll"), ".\\here.dll is a relative path, not an absolute path");
  expect_refused(OpenLibrary::at("C:here.dll"), "C:here.dll is a relative path, not an absolute path");
  expect_refused(OpenLibrary::at("\\here.dll"), "\\here.dll is a relative path, not an absolute path");
  ASSERT_FALSE(OpenLibrary::at(file.native() + std::wstring(1, L'\0')));
  EXPECT_FALSE(fs::exists(ran_));
  EXPECT_TRUE(OpenLibrary::at(file));
  EXPECT_TRUE(fs::exists(ran_));
  EXPECT_TRUE(OpenLibrary::at(L"\\\\?\\" + file.native())) << "a form of an absolute path";
  const auto share = OpenLibrary::at("\\\\no-such-server\\share\\x.dll");
  ASSERT_FALSE(share);
  EXPECT_FALSE(share.error().value(Key::error_number).empty()) << "the loader was asked";
}

TEST_F(WindowsOpening, OfTheSystemTakesABareNameOnly) {
  const fs::path file = marking("here.dll");
  fs::current_path(folder_.path());
  expect_refused(OpenLibrary::of_the_system(""), "\"\" is an empty name, not the name of a library");
  expect_refused(OpenLibrary::of_the_system(".\\here.dll"),
                 ".\\here.dll is a path, not the name of a library");
  expect_refused(OpenLibrary::of_the_system("./here.dll"), "./here.dll is a path, not the name of a library");
  expect_refused(OpenLibrary::of_the_system("C:here.dll"), "C:here.dll is a path, not the name of a library");
  ASSERT_FALSE(OpenLibrary::of_the_system(path_text(file)));
  EXPECT_FALSE(fs::exists(ran_));
}

TEST_F(WindowsOpening, AtRefusesTheRunningProgram) {
  const auto opened = OpenLibrary::at(path_of(executable_path()));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, "EH-F10");
  EXPECT_THAT(explain::one_line(opened.error()), HasSubstr("is a running program"));
}

TEST_F(WindowsOpening, OfTheSystemFindsWhatWindowsInstalled) {
  marking("version.dll");
  fs::current_path(folder_.path());
  const auto opened = OpenLibrary::of_the_system("version.dll");
  ASSERT_TRUE(opened) << opened.error().value(Key::error_number);
  EXPECT_THAT(to_lower(opened->file()), HasSubstr("\\system32\\version.dll"));
  EXPECT_NE(opened->symbol("GetFileVersionInfoW"), nullptr);
  EXPECT_EQ(opened->symbol("NoSuchFunction"), nullptr);
  EXPECT_FALSE(fs::exists(ran_));
}

TEST_F(WindowsOpening, AFailedNameHasItsNumber) {
  marking("nothing.dll");
  fs::current_path(folder_.path());
  const auto opened = OpenLibrary::of_the_system("nothing.dll");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, "EH-W01");
  EXPECT_EQ(opened.error().value(Key::error_number), "126");
  EXPECT_FALSE(opened.error().value(Key::os_said).empty());
  EXPECT_FALSE(fs::exists(ran_));
}

// Not even from the folder of the program or from PATH.
TEST_F(WindowsOpening, TheDriverQueryRunsNoDriverOfTheCallersFolder) {
  for (const char* name : {"nvcuda.dll", "nvml.dll"}) marking(name);
  const fs::path probe = folder_ / "enginehost-probe.exe";
  fs::copy_file(ENGINEHOST_PROBE, probe);
  ChildRequest child;
  child.argv = {path_text(probe), "drivers", "--nonce", "n"};
  child.environment = {"PATH=" + path_text(folder_.path())};
  child.folder = path_text(folder_.path());
  child.private_channel = true;
  const auto outcome = run_child(child);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(fs::exists(ran_));
  std::string errors;
  for (const std::string& line : split(outcome->channel, '\n'))
    if (const auto answer = parse_json(line, "the channel"); !line.empty() && answer)
      for (const char* library : {"cuda", "nvml"})
        if ((*answer)[library]["library"].is_object())
          errors += (*answer)[library]["library"]["error"].as_string() + "\n";
  EXPECT_THAT(errors, HasSubstr("nvcuda.dll: "));
  EXPECT_THAT(errors, HasSubstr("nvml.dll: "));
  EXPECT_THAT(errors, HasSubstr("(error 126)"));
}

}  // namespace
}  // namespace enginehost::load
