// Where things are on Windows when nobody said so.
#include "host/settings/places.hpp"

#include <gmock/gmock.h>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/settings/layer.hpp"
#include "host/settings/person.hpp"
#include "host/settings/record_lines.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

TEST(WindowsPlaces, ThisUsersDataOfThisMachineLieInLocalAppData) {
  Environment environment;
  environment.home = path_of("C:\\Users\\M\u00fcller");
  EXPECT_EQ(path_text(default_cache(environment).folder),
            "C:\\Users\\M\u00fcller\\AppData\\Local\\EngineHost\\cache");
  environment.variables["LOCALAPPDATA"] = "D:\\\u672c\u5730";
  const Place cache = default_cache(environment);
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
  const Person person = Person::of_this_process();
  EXPECT_FALSE(person.user.empty());
  EXPECT_EQ(person.application, "settings_tests.exe");
  EXPECT_GT(person.process, 0);
}

TEST(WindowsPlaces, ADriveIsNoEndOfALocation) {
  EXPECT_THAT(split_locations("C:/one;https://engines.example:8080/two;D:\\three"),
              ElementsAre("C:/one", "https://engines.example:8080/two", "D:\\three"));
}

TEST(WindowsPlaces, WhatIsWrittenLineByLineIsReadBack) {
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

}  // namespace
}  // namespace enginehost::settings
