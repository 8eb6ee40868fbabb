#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/settings/places.hpp"
#include "tests/settings/fixture.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PlacesTest : public SettingsTest {
 protected:
  PlacesTest() {
    write("prefix/share/enginehost/repository/index.json", "{}");
    set_mode("prefix/lib", 0755);
    set_mode("prefix/share/enginehost", 0755);
    set_mode("prefix/share/enginehost/repository", 0755);
    set_mode("prefix/share/enginehost/repository/index.json", 0644);
  }
  void set_mode(const std::string& path, mode_t mode) { ASSERT_EQ(chmod((root_ / path).c_str(), mode), 0); }
  std::string default_location() {
    const Settings settings = load();
    for (const Repository& repository : settings.repositories)
      if (repository.source == "default") return repository.location;
    return "";
  }
  const std::string repository_ = "prefix/share/enginehost/repository";
};

TEST_F(PlacesTest, TheDefaultRepositoryIsFoundFromTheLibraryInAnInstalledPrefix) {
  EXPECT_EQ(default_location(), (root_ / repository_).string());
  environment_.library_folder = root_ / "prefix/lib/x86_64-linux-gnu";
  fs::create_directories(environment_.library_folder);
  EXPECT_EQ(default_location(), (root_ / repository_).string());
  environment_.library_folder = "/nowhere";
  EXPECT_EQ(default_location(), (root_ / repository_).string()) << "from the executable";
}

TEST_F(PlacesTest, RepositoriesDefaultFalseTurnsItOff) {
  user_file(R"({"repositories_default": false})");
  EXPECT_EQ(default_location(), "");
}

TEST_F(PlacesTest, AConfiguredRepositoryGoesBeforeTheDefaultOne) {
  flags_.repositories = {"/srv/first"};
  const Settings settings = load();
  ASSERT_EQ(settings.repositories.size(), 2u);
  EXPECT_EQ(settings.repositories[0].location, "/srv/first");
  EXPECT_EQ(settings.repositories[1].source, "default");
}

TEST_F(PlacesTest, DotsAreResolvedBehindLinks) {
  fs::create_directories(root_ / "disk/today");
  fs::create_directory_symlink(root_ / "disk/today", root_ / "link");
  const fs::path root = fs::canonical(root_);
  environment_.current_folder = root_;
  environment_.variables["ENGINEHOST_REPOSITORIES"] = (root_ / "link/../second").string();
  flags_.repositories = {"link/../first"};
  flags_.cache = "link/../cache";
  flags_.installations = {(root_ / "link/../engines/").string()};
  const Settings settings = load();
  EXPECT_EQ(settings.cache_folder, root / "disk/cache");
  EXPECT_EQ(settings.installations.at(0), root / "disk/engines");
  EXPECT_EQ(settings.repositories.at(0).location, (root / "disk/first").string());
  EXPECT_EQ(settings.repositories.at(1).location, (root / "disk/second").string());
}

// Also when the folder itself does not exist yet.
TEST_F(PlacesTest, CacheAndInstallationsBehindALinkAreResolved) {
  fs::create_directories(root_ / "disk/today");
  fs::create_directory_symlink(root_ / "disk/today", root_ / "link");
  const fs::path root = fs::canonical(root_);
  environment_.current_folder = root_;
  const std::string there = (root_ / "link/../").string();
  flags_.cache = "link/../first";
  flags_.installations = {"link/../tools", there + "other/./", "not/../made"};
  Settings settings = load();
  EXPECT_EQ(settings.cache_folder, root / "disk/first");
  EXPECT_THAT(settings.installations, ElementsAre(root / "disk/tools", root / "disk/other", root_ / "made"));
  flags_ = FlagValues();
  environment_.variables["ENGINEHOST_CACHE"] = there + "second";
  environment_.variables["ENGINEHOST_INSTALLATIONS"] = there + "tools";
  settings = load();
  EXPECT_EQ(settings.cache_folder, root / "disk/second");
  EXPECT_THAT(settings.installations, ElementsAre(root / "disk/tools"));
  environment_.variables.clear();
  user_file(R"({"cache": ")" + there + R"(third"})");
  EXPECT_EQ(load().cache_folder, root / "disk/third");
}

TEST_F(PlacesTest, ARepositoryThatAnyoneMayWriteIsNotUsed) {
  set_mode(repository_, 0777);
  EXPECT_EQ(default_location(), "");
  EXPECT_THAT(load().warnings, ElementsAre(HasSubstr("everybody may write into it")));
}

TEST_F(PlacesTest, AManifestThatAnyoneMayWriteSpoilsTheRepository) {
  write(repository_ + "/engine.json", "{}");
  set_mode(repository_ + "/engine.json", 0666);
  EXPECT_EQ(default_location(), "");
  EXPECT_THAT(load().warnings, ElementsAre(HasSubstr("engine.json: everybody may write into it")));
}

TEST_F(PlacesTest, AGroupMayWriteTheRepositoryOnlyWhereItMayWriteTheSdkToo) {
  set_mode(repository_, 0775);
  EXPECT_EQ(default_location(), "");
  set_mode("prefix/lib", 0775);
  EXPECT_NE(default_location(), "");
}

TEST_F(PlacesTest, ARepositoryOfAnotherUserIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  ASSERT_EQ(chown((root_ / repository_ / "index.json").c_str(), 65534, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(default_location(), "");
  EXPECT_THAT(load().warnings, ElementsAre(HasSubstr("it belongs to user 65534")));
}

TEST_F(PlacesTest, ARepositoryInAFolderThatAnyoneMayWriteIsNotUsed) {
  set_mode("prefix/share/enginehost", 0777);
  EXPECT_EQ(default_location(), "");
}

// A user who may write any part of the way to the probe decides what is run.
TEST_F(PlacesTest, AProbeThatSomebodyElseMayReplaceIsNotRun) {
  const std::string probe = "prefix/libexec/enginehost/enginehost-probe";
  write(probe, "#!/bin/sh\n");
  for (const std::string& path :
       {std::string("prefix/libexec"), std::string("prefix/libexec/enginehost"), probe}) {
    for (const std::string& whole :
         {std::string("prefix/libexec"), std::string("prefix/libexec/enginehost"), probe})
      set_mode(whole, 0755);
    EXPECT_EQ(load().helper, root_ / probe);
    set_mode(path, 0757);
    EXPECT_EQ(load().helper, "") << path;
    EXPECT_THAT(load().warnings, ElementsAre(HasSubstr("is not used: " + (root_ / path).string() +
                                                       ": everybody may write into it")));
    set_mode(path, 0755);
    if (geteuid() != 0) continue;
    ASSERT_EQ(chown((root_ / path).c_str(), 65534, static_cast<gid_t>(-1)), 0);
    EXPECT_EQ(load().helper, "") << path;
    EXPECT_THAT(load().warnings, ElementsAre(HasSubstr("belongs to user 65534")));
    ASSERT_EQ(chown((root_ / path).c_str(), 0, static_cast<gid_t>(-1)), 0);
  }
}

TEST_F(PlacesTest, TheStateFolderIsBelowTheCacheAndDoesNotShowTheMachineId) {
  const Settings settings = load();
  EXPECT_EQ(settings.state_folder.parent_path(), settings.cache_folder / "state");
  EXPECT_EQ(settings.state_folder.filename().string().size(), 16u);
  EXPECT_EQ(settings.state_folder.string().find(environment_.machine.substr(0, 8)), std::string::npos);
  EXPECT_TRUE(settings.read_state_folder.empty());
  const fs::path first = settings.state_folder;
  environment_.machine = "another machine";
  EXPECT_NE(load().state_folder, first);
}

TEST_F(PlacesTest, StateMovesElsewhereIfTheCacheIsUnwritableElseToMemory) {
  // A file in the place of a folder cannot be written below by anyone, root included.
  write("blocked", "");
  environment_.variables["ENGINEHOST_CACHE"] = (root_ / "blocked/cache").string();
  EXPECT_EQ(load().state_folder.parent_path(), root_ / "home/.local/state/enginehost");
  EXPECT_EQ(load().read_state_folder, root_ / "blocked/cache/state" / load().state_folder.filename())
      << "its quarantines still count";
  environment_.variables["XDG_STATE_HOME"] = (root_ / "states").string();
  EXPECT_EQ(load().state_folder.parent_path(), root_ / "states/enginehost");
  environment_.variables["XDG_STATE_HOME"] = (root_ / "blocked/state").string();
  const Settings settings = load();
  EXPECT_TRUE(settings.state_folder.empty());
  EXPECT_THAT(settings.warnings, ElementsAre(HasSubstr("last for this run only")));
}

TEST_F(PlacesTest, TheCacheOfAnUnwritableHomeMovesWithTheState) {
  write("blocked", "");
  const fs::path usual = default_cache(environment_).folder;
  ASSERT_EQ(load().cache_folder, usual);
  ASSERT_TRUE(load().warnings.empty());
  const auto expect_moved = [&](const fs::path& to) {
    const Settings settings = load();
    EXPECT_EQ(settings.cache_folder, to / "enginehost/cache");
    EXPECT_EQ(source_of(settings, "cache"), not_the_usual_cache);
    EXPECT_EQ(settings.state_folder.parent_path(), to / "enginehost");
    EXPECT_EQ(settings.read_state_folder.parent_path().parent_path(), default_cache(environment_).folder)
        << "what was disabled there still counts";
    EXPECT_THAT(settings.warnings, ElementsAre(HasSubstr(settings.cache_folder.string())));
  };
  // Only the folder of caches cannot be written, as after a command that root ran.
  write("home/.cache", "");
  expect_moved(root_ / "home/.local/state");
  environment_.variables["XDG_STATE_HOME"] = (root_ / "states").string();
  expect_moved(root_ / "states");
  // The whole home is absent and cannot be made.
  environment_.home = root_ / "blocked/home";
  expect_moved(root_ / "states");
  // Nothing can be written: the usual place is reported, and the state is kept in memory.
  environment_.variables.erase("XDG_STATE_HOME");
  EXPECT_EQ(load().cache_folder, default_cache(environment_).folder);
  EXPECT_TRUE(load().state_folder.empty());
  // A folder that somebody named is used or reported, never replaced.
  environment_.variables["XDG_STATE_HOME"] = (root_ / "states").string();
  environment_.variables["XDG_CACHE_HOME"] = (root_ / "blocked/caches").string();
  EXPECT_EQ(load().cache_folder, root_ / "blocked/caches/enginehost");
  environment_.variables["ENGINEHOST_CACHE"] = (root_ / "blocked/named").string();
  EXPECT_EQ(load().cache_folder, root_ / "blocked/named");
}

TEST_F(PlacesTest, AnUnwritableCacheIsStillReadAsALayer) {
  if (geteuid() == 0) GTEST_SKIP() << "root writes everywhere";
  const fs::path usual = default_cache(environment_).folder;
  fs::create_directories(usual);
  set_mode(path_text(usual.lexically_relative(root_)), 0555);
  EXPECT_THAT(load().system_layers, ElementsAre(usual));
  set_mode(path_text(usual.lexically_relative(root_)), 0755);
}

TEST_F(PlacesTest, CacheFollowsXdgAndIgnoresARelativeValue) {
  environment_.variables["XDG_CACHE_HOME"] = "/srv/xdg";
  EXPECT_EQ(load().cache_folder, "/srv/xdg/enginehost");
  environment_.variables["XDG_CACHE_HOME"] = "xdg";
  EXPECT_EQ(load().cache_folder, root_ / "home/.cache/enginehost");
}

TEST_F(PlacesTest, WithoutAHomeThereIsAWarningAndNoCache) {
  environment_.home.clear();
  const Settings settings = load();
  EXPECT_TRUE(settings.cache_folder.empty());
  EXPECT_FALSE(settings.warnings.empty());
}

TEST_F(PlacesTest, LikelyInstallationsListActiveEnvironmentsFirst) {
  fs::create_directories(root_ / "conda");
  fs::create_directories(root_ / "home/.local/lib/python3.11/site-packages");
  environment_.variables["CONDA_PREFIX"] = (root_ / "conda").string();
  environment_.variables["VIRTUAL_ENV"] = (root_ / "conda").string();  // listed once
  const auto likely = likely_installations(environment_);
  ASSERT_GE(likely.size(), 2u);
  EXPECT_EQ(likely[0].folder, root_ / "conda");
  EXPECT_EQ(likely[0].source, "CONDA_PREFIX");
  EXPECT_EQ(likely[1].folder, root_ / "home/.local/lib/python3.11/site-packages");
  environment_.variables = {{"CONDA_PREFIX", (root_ / "gone").string()}};
  EXPECT_NE(likely_installations(environment_).at(0).source, "CONDA_PREFIX");
}

TEST_F(PlacesTest, ASystemLayerServesWhenItExists) {
  EXPECT_THAT(load().system_layers, IsEmpty());
  fs::create_directories(environment_.system_layer);
  EXPECT_THAT(load().system_layers, ElementsAre(environment_.system_layer));
}

TEST_F(PlacesTest, TheProbeIsFoundRelativeToTheLibrary) {
  EXPECT_TRUE(load().helper.empty());
  write("prefix/libexec/enginehost/enginehost-probe", "#!/bin/sh\n");
  set_mode("prefix/libexec/enginehost/enginehost-probe", 0755);
  EXPECT_EQ(load().helper, root_ / "prefix/libexec/enginehost/enginehost-probe");
}

TEST(EnvironmentTest, ThisProcessHasAnIdentityAndFolders) {
  const Environment environment = Environment::of_this_process();
  EXPECT_FALSE(environment.machine.empty());
  EXPECT_FALSE(environment.executable_folder.empty());
  EXPECT_TRUE(load_settings({}, environment));
}

}  // namespace
}  // namespace enginehost::settings
