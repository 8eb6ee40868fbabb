// The default places on Windows.
#include "host/settings/places.hpp"

#include <gmock/gmock.h>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/windows/system.hpp"
#include "host/explain/explain.hpp"
#include "host/settings/layer.hpp"
#include "host/settings/records.hpp"
#include "host/settings/settings.hpp"
// After <windows.h>, which it needs.
#include <sddl.h>

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

TEST(WindowsPlaces, TheUsersDataAreInLocalAppData) {
  Environment environment;
  environment.home = path_of("C:\\Users\\M\u00fcller");
  EXPECT_EQ(path_text(default_cache(environment).folder),
            "C:\\Users\\M\u00fcller\\AppData\\Local\\EngineHost\\cache");
  environment.variables["LOCALAPPDATA"] = "D:\\\u672c\u5730";
  const SettingsPlace cache = default_cache(environment);
  EXPECT_EQ(path_text(cache.folder), "D:\\\u672c\u5730\\EngineHost\\cache");
  EXPECT_EQ(cache.source, "LOCALAPPDATA");
  EXPECT_EQ(path_text(user_config_file(environment)), "D:\\\u672c\u5730\\EngineHost\\config.json");
  environment.variables["LOCALAPPDATA"] = "relative";
  EXPECT_EQ(default_cache(environment).source, "default");
}

TEST(WindowsPlaces, TheEnvironmentOfThisProcessNamesHomeMachineAndProgram) {
  const Environment environment = Environment::of_this_process();
  EXPECT_TRUE(environment.home.is_absolute()) << path_text(environment.home);
  EXPECT_FALSE(environment.machine.empty());
  EXPECT_TRUE(fs::exists(environment.executable_folder / "settings_tests.exe"));
  const User person = User::of_this_process();
  EXPECT_FALSE(person.user.empty());
  EXPECT_EQ(person.application, "settings_tests.exe");
  EXPECT_GT(person.process, 0);
}

TEST(WindowsPlaces, AColonOfADriveDoesNotEndALocation) {
  EXPECT_THAT(split_locations("C:/one;https://engines.example:8080/two;D:\\three"),
              ElementsAre("C:/one", "https://engines.example:8080/two", "D:\\three"));
}

TEST(WindowsPlaces, WrittenLinesAreReadBack) {
  const fs::path folder = *make_private_folder(fs::temp_directory_path(), "enginehost-settings-");
  const fs::path file = folder / "log" / "audit.jsonl";
  ASSERT_TRUE(append_line(file, "one"));
  ASSERT_TRUE(append_line(file, "two"));
  EXPECT_THAT(read_lines(file).value(), ElementsAre("one", "two"));
  EXPECT_EQ(read_file(file).value(), "one\ntwo\n");
  fs::remove_all(folder);
}

TEST(WindowsPlaces, TimesAreWrittenInOneForm) {
  const std::string now = utc_now();
  EXPECT_EQ(now.size(), 20u) << now;
  EXPECT_EQ(now[10], 'T');
  EXPECT_EQ(now.back(), 'Z');
}

// Replaces the file's access list by one in the security descriptor language.
void set_list(const fs::path& file, const wchar_t* text) {
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  ASSERT_TRUE(
      ::ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1, &descriptor, nullptr));
  ASSERT_TRUE(::SetFileSecurityW(file.c_str(), DACL_SECURITY_INFORMATION, descriptor));
  ::LocalFree(descriptor);
}

// Users may create files below %ProgramData%: a policy written by any of them would apply to all.
TEST(WindowsPlaces, P02AConfigurationOfAllUsersThatAnyOfThemMayWriteIsRefused) {
  const fs::path folder = *make_private_folder(fs::temp_directory_path(), "enginehost-settings-");
  Environment environment;
  environment.home = folder;
  environment.system_config = folder / "ProgramData" / "config.json";
  ASSERT_TRUE(make_folders(environment.system_config.parent_path()));
  ASSERT_TRUE(write_file(environment.system_config, "{\"flavor\": \"cu118\"}", false));
  set_list(environment.system_config, L"D:P(A;;FA;;;CO)(A;;0x1200a9;;;WD)");
  const auto obeyed = load_settings({}, environment);
  ASSERT_TRUE(obeyed) << obeyed.error().value(Key::problem);
  EXPECT_EQ(obeyed->flavor, "cu118");
  set_list(environment.system_config, L"D:P(A;;FA;;;CO)(A;;FA;;;WD)");
  const auto refused = load_settings({}, environment);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-P02");
  EXPECT_THAT(explain::describe(refused.error()),
              testing::HasSubstr(path_text(environment.system_config) +
                                 ": it is not the administrator's: Everyone (S-1-1-0) may write into it"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace enginehost::settings
