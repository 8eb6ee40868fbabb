// A made-up home, system and installed SDK in a temporary folder.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::settings {

class SettingsTest : public testing::Test {
 protected:
  SettingsTest() {
    root_ = *make_private_folder(std::filesystem::temp_directory_path(), "enginehost-settings-");
    environment_.home = root_ / "home";
    environment_.current_folder = root_ / "here";
    environment_.system_config = root_ / "etc/config.json";
    environment_.system_layer = root_ / "var";
    environment_.executable_folder = root_ / "prefix/bin";
    environment_.library_folder = root_ / "prefix/lib";
    environment_.machine = "0123456789abcdef0123456789abcdef";
    for (const char* folder : {"home/.config/enginehost", "here", "etc", "prefix/bin", "prefix/lib"})
      std::filesystem::create_directories(root_ / folder);
  }
  ~SettingsTest() override { std::filesystem::remove_all(root_); }

  void user_file(const std::string& text) { write("home/.config/enginehost/config.json", text); }
  void system_file(const std::string& text) { write("etc/config.json", text); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    ASSERT_TRUE(write_file(root_ / path, text, false));
  }
  Settings load() {
    Result<Settings> result = load_settings(flags_, environment_);
    if (!result) {
      ADD_FAILURE() << result.error().code << ": " << result.error().value("problem");
      return {};
    }
    return *result;
  }
  Diagnosis refusal() {
    Result<Settings> result = load_settings(flags_, environment_);
    return result ? Diagnosis{} : result.error();
  }
  std::string source_of(const Settings& settings, const std::string& key) {
    const Setting* setting = settings.find(key);
    return setting != nullptr ? setting->source : "";
  }

  std::filesystem::path root_;
  Environment environment_;
  FlagValues flags_;
};

}  // namespace enginehost::settings
