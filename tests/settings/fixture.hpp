// A made-up home, system and installed SDK in a temporary folder.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/settings/places.hpp"
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
    std::filesystem::create_directories(user_config().parent_path());
    for (const char* folder : {"here", "etc", "prefix/bin", "prefix/lib"})
      std::filesystem::create_directories(root_ / folder);
  }
  ~SettingsTest() override { std::filesystem::remove_all(root_); }

  // Makes a path that begins with "/" absolute on Windows too.
  static std::string absolute(const std::string& path) {
    return std::filesystem::path("/").is_absolute() ? path : "C:" + path;
  }
  // The path as settings return it.
  static std::string native(const std::string& path) {
    return path_text(path_of(absolute(path)).make_preferred());
  }
  std::filesystem::path user_config() const { return user_config_file(environment_); }
  std::filesystem::path system_config() const { return environment_.system_config; }

  // The same for texts that contain such paths.
  void user_file(const std::string& text) { write(path_text(user_config().lexically_relative(root_)), text); }
  void system_file(const std::string& text) { write("etc/config.json", text); }
  void write(const std::string& path, const std::string& text) {
    std::string here;
    for (std::size_t at = 0; at < text.size(); ++at)
      if (text[at] == '"' && at + 1 < text.size() && text[at + 1] == '/')
        here += '"' + absolute("");
      else
        here += text[at];
    std::filesystem::create_directories((root_ / path_of(path)).parent_path());
    ASSERT_TRUE(write_file(root_ / path_of(path), here, false));
  }
  Settings load() {
    Result<Settings> result = load_settings(flags_, environment_);
    if (!result) {
      ADD_FAILURE() << result.error().code << ": " << result.error().value(Key::problem);
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
