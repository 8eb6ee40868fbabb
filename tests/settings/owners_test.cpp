// Files and folders that somebody else may change: which are left out, and which end a request.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "host/settings/places.hpp"
#include "host/settings/settings_key.hpp"
#include "tests/settings/fixture.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uid_t alice = 64001;  // no user of any machine

class Owners : public SettingsTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  }
  void give(const fs::path& path, uid_t owner = alice) {
    ASSERT_EQ(lchown(path.c_str(), owner, owner), 0) << path;
  }
  void set_mode(const fs::path& path, mode_t mode) { ASSERT_EQ(chmod(path.c_str(), mode), 0); }
  fs::path folder(const std::string& name, mode_t mode = 0755) {
    fs::create_directories(root_ / name);
    set_mode(root_ / name, mode);
    return root_ / name;
  }
  const std::string launcher_ = R"({"probe_launcher": ["/bin/false"]})";
};

TEST_F(Owners, AnothersConfigurationAtAUsualPlaceIsLeftOut) {
  user_file(launcher_);
  ASSERT_THAT(load().probe_launcher, ElementsAre("/bin/false"));
  const auto expect_left_out = [&](const fs::path& whose) {
    const Settings settings = load();
    EXPECT_THAT(settings.probe_launcher, IsEmpty());
    EXPECT_THAT(settings.warnings,
                Contains(AllOf(HasSubstr("the configuration " + user_config().native() + " is not used"),
                               HasSubstr("it belongs to user 64001"))));
    EXPECT_THAT(settings.inputs.files, Contains(whose.native())) << "a change of its rights matters";
    give(whose, 0);
    EXPECT_THAT(load().probe_launcher, ElementsAre("/bin/false"));
  };
  give(user_config());
  expect_left_out(user_config());
  give(user_config().parent_path());
  expect_left_out(user_config().parent_path());
  // HOME=/tmp: somebody else was there first.
  set_mode(root_ / "home", 01777);
  give(root_ / "home/.config");
  expect_left_out(root_ / "home/.config");
}

TEST_F(Owners, ALinkToAnothersConfigurationIsLeftOut) {
  folder("theirs");
  write("theirs/config.json", launcher_);
  give(root_ / "theirs/config.json");
  fs::create_symlink(root_ / "theirs/config.json", user_config());
  EXPECT_THAT(load().probe_launcher, IsEmpty());
  EXPECT_THAT(load().warnings,
              Contains(HasSubstr((root_ / "theirs/config.json").native() + ": it belongs to user 64001")));
  give(root_ / "theirs/config.json", 0);
  EXPECT_THAT(load().probe_launcher, ElementsAre("/bin/false"));
  give(user_config());
  EXPECT_THAT(load().probe_launcher, IsEmpty()) << "its maker may change the link";
}

TEST_F(Owners, AConfigurationBelowXdgFollowsTheSameRule) {
  environment_.variables["XDG_CONFIG_HOME"] = folder("xdg").native();
  write("xdg/enginehost/config.json", launcher_);
  ASSERT_THAT(load().probe_launcher, ElementsAre("/bin/false"));
  for (const mode_t mode : {0646u, 0666u}) {
    set_mode(root_ / "xdg/enginehost/config.json", mode);
    EXPECT_THAT(load().probe_launcher, IsEmpty());
  }
  set_mode(root_ / "xdg/enginehost/config.json", 0644);
  give(root_ / "xdg/enginehost");
  EXPECT_THAT(load().probe_launcher, IsEmpty());
}

TEST_F(Owners, P02ANamedConfigurationOfAnotherIsRefused) {
  write("named.json", launcher_);
  environment_.variables["ENGINEHOST_CONFIG"] = (root_ / "named.json").native();
  ASSERT_THAT(load().probe_launcher, ElementsAre("/bin/false"));
  give(root_ / "named.json");
  EXPECT_EQ(refusal().code, "EH-P02");
  EXPECT_EQ(refusal().value(Key::variable), "ENGINEHOST_CONFIG");
  EXPECT_THAT(std::string(refusal().value(Key::problem)), HasSubstr("it belongs to user 64001"));
  EXPECT_EQ(refusal().value(Key::exposed), (root_ / "named.json").native());
  give(root_ / "named.json", 0);
  folder("", 0757);
  EXPECT_EQ(refusal().value(Key::exposed), root_.native());
}

// A policy must not be lost because somebody made it unbelievable.
TEST_F(Owners, P02TheSystemsFileIsNeverLeftOut) {
  system_file(R"({"policy": {"allowed_hosts": []}})");
  const auto expect_refused = [&](const std::string& problem) {
    EXPECT_EQ(refusal().code, "EH-P02");
    EXPECT_EQ(refusal().value(Key::file), system_config().native());
    EXPECT_THAT(std::string(refusal().value(Key::problem)), HasSubstr(problem));
  };
  set_mode(system_config(), 0666);
  expect_refused("it is not the administrator's: everybody may write into it");
  set_mode(system_config(), 0644);
  give(system_config());
  expect_refused("it belongs to user 64001");
  give(system_config(), 0);
  set_mode(system_config().parent_path(), 0777);
  expect_refused("everybody may write into it");
  set_mode(system_config().parent_path(), 0755);
  give(system_config().parent_path());
  expect_refused("it belongs to user 64001");
  give(system_config().parent_path(), 0);
  EXPECT_THAT(load().warnings, IsEmpty());
}

TEST_F(Owners, AnothersCacheAtTheUsualPlaceIsLeftOut) {
  for (const char* variable : {"", "XDG_CACHE_HOME"}) {
    if (*variable != 0) environment_.variables[variable] = folder("xdg").native();
    const fs::path usual = default_cache(environment_).folder;
    fs::create_directories(usual / "refs");
    ASSERT_EQ(load().cache_folder, usual);
    for (const fs::path& part : {usual, usual / "refs", usual.parent_path()}) {
      give(part);
      const Settings settings = load();
      EXPECT_EQ(settings.cache_folder, root_ / "home/.local/state/enginehost/cache") << part;
      EXPECT_EQ(source_of(settings, "cache"), not_anothers_cache);
      EXPECT_THAT(settings.warnings,
                  ElementsAre(AllOf(HasSubstr("the cache " + usual.native() + " is not used"),
                                    HasSubstr("it belongs to user 64001"))));
      EXPECT_THAT(settings.system_layers, IsEmpty()) << "nor is it read";
      EXPECT_TRUE(settings.read_state_folder.empty());
      give(part, 0);
    }
  }
}

TEST_F(Owners, WithoutAnotherPlaceThereIsNoCache) {
  set_mode(folder("home"), 01777);
  give(folder("home/.cache"));
  give(folder("home/.local"));
  const Settings settings = load();
  EXPECT_TRUE(settings.cache_folder.empty());
  EXPECT_TRUE(settings.state_folder.empty());
  EXPECT_THAT(settings.warnings, Contains(HasSubstr("--cache or ENGINEHOST_CACHE names another folder")));
}

TEST_F(Owners, ANamedCacheMayBeAnothersAndThatIsSaid) {
  const fs::path cache = folder("cache");
  give(cache);
  give(folder("cache/refs"));
  const auto expect_accepted = [&] {
    const Settings settings = load();
    EXPECT_EQ(settings.cache_folder, cache);
    EXPECT_FALSE(settings.cache_problem);
    EXPECT_EQ(settings.cache_owner, "user 64001");
    EXPECT_THAT(settings.warnings,
                Contains(HasSubstr("the cache " + cache.native() + " belongs to user 64001")));
    EXPECT_EQ(settings.state_folder.parent_path(), root_ / "home/.local/state/enginehost")
        << "keys and proofs are the caller's own";
  };
  environment_.variables["ENGINEHOST_CACHE"] = cache.native();
  expect_accepted();
  environment_.variables.clear();
  flags_.cache = cache.native();
  expect_accepted();
  flags_.cache.reset();
  user_file("{\"cache\": \"" + cache.native() + "\"}");
  expect_accepted();
}

TEST_F(Owners, F22NothingIsOpenedFromACacheThatOthersMayChange) {
  const fs::path cache = folder("shared/cache");
  folder("shared/cache/refs");
  flags_.cache = cache.native();
  EXPECT_FALSE(load().cache_problem);
  for (const std::string part : {"shared/cache", "shared/cache/refs", "shared"})
    for (const mode_t mode : {0777u, 0757u}) {
      folder(part, mode);
      const auto problem = load().cache_problem;
      ASSERT_TRUE(problem) << part;
      EXPECT_EQ(problem->code, "EH-F22");
      EXPECT_EQ(problem->value(Key::place), "cache");
      folder(part, 0755);
    }
  ASSERT_EQ(chown(cache.c_str(), 0, alice), 0);
  set_mode(cache, 02775);
  EXPECT_TRUE(load().cache_problem);
  flags_.cache.reset();
  const fs::path usual = default_cache(environment_).folder;
  fs::create_directories(usual);
  set_mode(usual, 0777);
  EXPECT_TRUE(load().cache_problem) << "nor from the usual one";
  EXPECT_EQ(load().cache_folder, usual);
}

TEST_F(Owners, P02AStateFolderOfAnotherIsRefused) {
  give(folder("state"));
  user_file("{\"state\": \"" + (root_ / "state").native() + "\"}");
  EXPECT_EQ(refusal().code, "EH-P02");
  EXPECT_EQ(refusal().value(Key::key), "state");
  give(root_ / "state", 0);
  EXPECT_EQ(load().state_folder.parent_path(), root_ / "state");
  set_mode(root_ / "state", 01777);
  EXPECT_EQ(refusal().value(Key::exposed), (root_ / "state").native());
}

TEST_F(Owners, AnothersStateAtTheUsualPlaceIsLeftOut) {
  const fs::path state = load().state_folder;
  fs::create_directories(state);
  give(state);
  EXPECT_TRUE(load().state_folder.empty());
  EXPECT_THAT(load().warnings, Contains(HasSubstr("the state folder " + state.native() + " is not used")));
}

TEST_F(Owners, P02ANamedProgramInAFolderThatEverybodyMayWriteIsRefused) {
  folder("shared");
  write("shared/program", "#!/bin/sh\n");
  const std::string program = (root_ / "shared/program").native();
  set_mode(program, 0755);
  for (const auto& [key, document] :
       {std::pair<std::string, std::string>{"helper", "{\"helper\": \"" + program + "\"}"},
        {"probe_launcher", "{\"probe_launcher\": [\"" + program + "\"]}"},
        {"extra_ca", "{\"extra_ca\": \"" + program + "\"}"}}) {
    user_file(document);
    set_mode(root_ / "shared", 0755);
    EXPECT_TRUE(load_settings(flags_, environment_)) << key;
    set_mode(root_ / "shared", 0777);
    EXPECT_EQ(refusal().code, "EH-P02") << key;
    EXPECT_EQ(refusal().value(Key::key), key);
    EXPECT_EQ(refusal().value(Key::exposed), (root_ / "shared").native());
    set_mode(root_ / "shared", 01777);
    EXPECT_TRUE(load_settings(flags_, environment_)) << "the sticky bit protects it";
    set_mode(program, 0757);
    EXPECT_EQ(refusal().value(Key::exposed), program);
    set_mode(program, 0755);
    give(program);
    EXPECT_TRUE(load_settings(flags_, environment_)) << "naming it accepts its owner";
    give(program, 0);
  }
}

TEST_F(Owners, AHelperMayBelongToTheOwnerAndTheGroupOfTheSdk) {
  write("prefix/libexec/enginehost/enginehost-probe", "#!/bin/sh\n");
  const fs::path probe = root_ / "prefix/libexec/enginehost/enginehost-probe";
  set_mode(probe, 0755);
  for (const fs::path& path : {root_ / "prefix/lib", root_ / "prefix/libexec", probe.parent_path(), probe})
    give(path);
  EXPECT_EQ(load().helper, probe);
  set_mode(probe, 0775);
  EXPECT_TRUE(load().helper.empty()) << "the group may not write the SDK";
  set_mode(root_ / "prefix/lib", 0775);
  EXPECT_EQ(load().helper, probe);
  user_file("{\"helper\": \"" + probe.native() + "\"}");
  EXPECT_EQ(load().helper, probe) << "also if it is named";
}

// su and sudo may keep HOME.
TEST_F(Owners, TheHomeOfAnotherIsNotThisUsers) {
  const fs::path home = folder("theirs");
  give(home);
  const char* const before = getenv("HOME");
  const std::string usual = before != nullptr ? before : "";
  ASSERT_EQ(setenv("HOME", home.c_str(), 1), 0);
  const Environment foreign = Environment::of_this_process();
  EXPECT_EQ(foreign.foreign_home, home);
  EXPECT_NE(foreign.home, home);
  EXPECT_THAT(foreign.warning, HasSubstr("the home folder " + home.native() + " belongs to user 64001"));
  const auto settings = load_settings({}, foreign);
  ASSERT_TRUE(settings);
  EXPECT_THAT(settings->warnings, Contains(foreign.warning));
  give(home, 0);
  EXPECT_EQ(Environment::of_this_process().home, home);
  set_mode(home, 01777);
  EXPECT_EQ(Environment::of_this_process().home, home)
      << "a shared folder of root; each file in it is asked about";
  setenv("HOME", usual.c_str(), 1);
}

}  // namespace
}  // namespace enginehost::settings
