// The inputs of settings: while the key text and all inputs stay the same, so do the settings.
#include "host/settings/settings_key.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "base/child_process.hpp"
#include "base/process.hpp"
#include "tests/settings/fixture.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::IsSupersetOf;

class SettingsKeyTest : public SettingsTest {
 protected:
  std::string text() const {
    const auto decides = settings_key(flags_);
    return decides ? decides->text : std::string("nothing");
  }
  // The text with the variable set to `value`, or unset.
  std::string with(const char* name, const char* value) {
    const char* before = std::getenv(name);
    const std::string kept = before != nullptr ? before : "";
    if (value != nullptr)
      ::setenv(name, value, 1);
    else
      ::unsetenv(name);
    const std::string found = text();
    if (before != nullptr)
      ::setenv(name, kept.c_str(), 1);
    else
      ::unsetenv(name);
    return found;
  }
};

TEST_F(SettingsKeyTest, ListsEveryInput) {
  write("prefix/share/enginehost/repository/index.json", "{}");
  write("prefix/share/enginehost/repository/engine.json", "{}");
  user_file("{}");
  const Inputs inputs = load().inputs;
  const std::string repository = (root_ / "prefix/share/enginehost/repository").string();
  EXPECT_THAT(inputs.files,
              IsSupersetOf({environment_.system_config.string(), environment_.system_layer.string(),
                            repository, repository + "/index.json", repository + "/engine.json",
                            environment_.library_folder.string()}));
  EXPECT_THAT(inputs.writable, Contains(load().state_folder.string()));
}

TEST_F(SettingsKeyTest, AVariableThatSettingsReadChangesTheText) {
  flags_.cache = "/cache";
  const std::string before = text();
  ASSERT_NE(before, "nothing");
  EXPECT_EQ(before, text());
  for (const char* name :
       {"ENGINEHOST_REPOSITORIES", "ENGINEHOST_CACHE", "ENGINEHOST_FLAVOR", "ENGINEHOST_OFFLINE",
        "ENGINEHOST_CONFIG", "ENGINEHOST_PROBE_LAUNCHER", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
        "XDG_STATE_HOME", "HOME", "https_proxy", "NO_PROXY", "SSL_CERT_FILE", "NETRC"})
    EXPECT_NE(with(name, "/other"), before) << name;
  EXPECT_EQ(with("SOMETHING_ELSE", "/other"), before);
  EXPECT_EQ(text(), before);
}

TEST_F(SettingsKeyTest, AFlagChangesTheText) {
  flags_ = FlagValues();
  const FlagValues none;
  const std::string before = text();
  const auto changed = [&](auto member, auto value) {
    flags_ = none;
    flags_.*member = value;
    return text() != before;
  };
  const std::vector<std::string> folders = {"/one"};
  EXPECT_TRUE(changed(&FlagValues::repositories, folders));
  EXPECT_TRUE(changed(&FlagValues::installations, folders));
  EXPECT_TRUE(changed(&FlagValues::accept_licenses, folders));
  EXPECT_TRUE(changed(&FlagValues::probe_launcher, folders));
  for (const auto member : {&FlagValues::cache, &FlagValues::helper, &FlagValues::flavor, &FlagValues::device,
                            &FlagValues::log, &FlagValues::force})
    EXPECT_TRUE(changed(member, "/one"));
  EXPECT_TRUE(changed(&FlagValues::offline, true));
  EXPECT_TRUE(changed(&FlagValues::offline, false));
}

TEST_F(SettingsKeyTest, IsAbsentWhereSettingsNeedMore) {
  flags_ = FlagValues();
  flags_.cache = "relative";
  EXPECT_FALSE(settings_key(flags_));
  flags_ = FlagValues();
  flags_.repositories = {"relative"};
  EXPECT_FALSE(settings_key(flags_));
  flags_.repositories = {"https://example.org/repository"};
  EXPECT_TRUE(settings_key(flags_));
  EXPECT_EQ(with("HOME", nullptr), "nothing");
}

TEST_F(SettingsKeyTest, TheCacheIsWhereSettingsPutIt) {
  flags_ = FlagValues();
  const auto cache = [&] { return settings_key(flags_)->cache; };
  const auto settled = [&] {
    return load_settings(flags_, Environment::of_this_process())->cache_folder.string();
  };
  EXPECT_EQ(cache(), settled());
  flags_.cache = "/cache";
  EXPECT_EQ(cache(), "/cache");
  EXPECT_EQ(cache(), settled());
}

// The result of the program below.
TEST(ProgramThatPrintsItsInputs, DISABLED_PrintsItsInputs) {
  FlagValues flags;
  flags.cache = "/cache";
  const auto decides = settings_key(flags);
  std::ofstream(std::getenv("ENGINEHOST_TEST_TEXT")) << (decides ? decides->text : "nothing");
}

// As with packages that are linked into several environments, of which a link names the current one.
TEST_F(SettingsKeyTest, AProgramOfTheSameNameInAnotherFolderChangesTheText) {
  for (const char* folder : {"one", "two"}) fs::create_directory(root_ / folder);
  fs::copy_file(executable_path(), root_ / "one/program");
  fs::create_hard_link(root_ / "one/program", root_ / "two/program");
  const auto text_in = [&](const char* folder, const std::string& name) {
    fs::remove(root_ / "current");
    fs::create_directory_symlink(root_ / folder, root_ / "current");
    ChildRequest child;
    child.argv = {name, "--gtest_filter=ProgramThatPrintsItsInputs.*", "--gtest_also_run_disabled_tests"};
    child.environment = {"ENGINEHOST_TEST_TEXT=" + (root_ / "text").string(), "HOME=/home/you"};
    const auto ended = run_child(child);
    EXPECT_TRUE(ended && ended->succeeded());
    return read_file(root_ / "text").value_or("");
  };
  const std::string name = (root_ / "current/program").string();
  const std::string one = text_in("one", name);
  EXPECT_NE(one.find((root_ / "one/program").string()), std::string::npos);
  EXPECT_EQ(text_in("one", name), one);
  EXPECT_NE(text_in("two", name), one);
  EXPECT_EQ(text_in("one", name), one);
  // A link to the program itself is resolved to its file.
  fs::create_symlink(root_ / "one/program", root_ / "linked");
  EXPECT_EQ(text_in("one", (root_ / "linked").string()).find("/linked"), std::string::npos);
  // Another release in its place.
  fs::last_write_time(root_ / "one/program", fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_NE(text_in("one", name), one);
}

}  // namespace
}  // namespace enginehost::settings
