// Files of other users, with real commands and a second user.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/paths.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr uid_t alice = 64001, bob = 64002;  // no users of any machine

std::vector<std::string> as(uid_t user) {
  return {"setpriv", "--reuid", std::to_string(user), "--regid", std::to_string(user), "--clear-groups"};
}

// Without the folders of the workplace.
std::vector<std::string> with_home(std::vector<std::string> launcher, const fs::path& home) {
  launcher.emplace_back("env");
  for (const char* variable : {"ENGINEHOST_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"})
    launcher.insert(launcher.end(), {"-u", variable});
  launcher.push_back("HOME=" + home.native());
  return launcher;
}

// Alice's home holds a configuration with a launcher that notes who runs it.
class FilesOfAnother : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    ASSERT_EQ(::chmod(workplace_.folder().c_str(), 0755), 0);
    repository_.add(good_build());
    repository_.write();
    write_text(ran_, "");
    ::chmod(ran_.c_str(), 0666);
    write_text(launcher_, "#!/bin/sh\nid -u >> " + ran_.native() + "\nexec \"$@\"\n");
    ::chmod(launcher_.c_str(), 0755);
    write_text(home_ / ".config/enginehost/config.json",
               Json::object().set("probe_launcher", Json::array().push(launcher_.native())).dump());
    give_home(alice);
  }
  void give_home(uid_t user) const {
    for (auto at = fs::recursive_directory_iterator(home_); at != fs::recursive_directory_iterator(); ++at)
      ASSERT_EQ(::lchown(at->path().c_str(), user, user), 0);
    ASSERT_EQ(::chown(home_.c_str(), user, user), 0);
  }
  Ended at_home(const std::string& command, std::vector<std::string> arguments,
                std::vector<std::string> launcher = {}) const {
    RunOptions options;
    options.launcher = with_home(std::move(launcher), home_);
    return workplace_.run(command, std::move(arguments), options);
  }
  std::vector<std::string> opening() const {
    return {"reference", "--repository", path_text(repository_.root())};
  }
  std::string ran() const { return read_text(ran_); }

  const Workplace workplace_;
  TestRepository repository_{workplace_.folder() / "repository"};
  const fs::path home_ = workplace_.folder() / "alice", ran_ = workplace_.folder() / "ran",
                 launcher_ = workplace_.folder() / "launcher";
};

// sudo and su may keep HOME.
TEST_F(FilesOfAnother, ACommandOfRootGoesOnAsTheOwnerOfTheHome) {
  const std::string says = "belongs to user 64001: this command goes on as that user";
  for (const std::string command : {"engine-info", "engine-cache"}) {
    std::vector<std::string> arguments = opening();
    if (command == "engine-cache") arguments.insert(arguments.begin(), "fetch");
    const Ended run = at_home(command, arguments);
    EXPECT_EQ(run.status, 0) << run.said();
    EXPECT_THAT(run.error, HasSubstr(says));
  }
  EXPECT_THAT(at_home("engine-cache", {"list"}).said(), AllOf(HasSubstr(says), HasSubstr("reference-good")));
  EXPECT_THAT(at_home("engine-run", {"reference", "nothing.gemm", "--offline"}).error, HasSubstr(says));
  EXPECT_THAT(ran(), AllOf(HasSubstr("64001\n"), Not(HasSubstr("0\n"))));
  for (auto at = fs::recursive_directory_iterator(home_); at != fs::recursive_directory_iterator(); ++at) {
    struct stat status {};
    ASSERT_EQ(::lstat(at->path().c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, alice) << at->path();
  }
}

TEST_F(FilesOfAnother, ACommandOfRootGoesOnAsTheOwnerOfANamedCache) {
  const fs::path cache = home_ / "cache";
  ASSERT_EQ(at_home("engine-info",
                    {"reference", "--repository", path_text(repository_.root()), "--cache", cache}, as(alice))
                .status,
            0);
  write_text(ran_, "");
  const Ended run = workplace_.info({"reference", "--cache", cache});
  EXPECT_THAT(run.error, HasSubstr("belongs to user 64001: this command goes on as that user")) << run.said();
}

TEST_F(FilesOfAnother, RootsWorkInTheSystemLayerStaysRoots) {
  const Ended run = at_home("engine-cache", {"import", "nothing.bundle", "--layer", "system"});
  EXPECT_THAT(run.said(), Not(HasSubstr("goes on as that user")));
  EXPECT_EQ(ran(), "");
}

TEST_F(FilesOfAnother, AreLeftOutInASharedHome) {
  give_home(alice);
  ASSERT_EQ(::chown(home_.c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(home_.c_str(), 01777), 0);
  const Ended run = at_home("engine-info", opening(), as(bob));
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_THAT(run.error,
              AllOf(HasSubstr("warning: the configuration"), HasSubstr(".config: it belongs to user 64001")));
  EXPECT_EQ(ran(), "");
}

TEST_F(FilesOfAnother, ACacheInASharedHomeIsLeftOut) {
  ASSERT_EQ(at_home("engine-info", opening(), as(alice)).status, 0);
  ASSERT_EQ(::chown(home_.c_str(), 0, 0), 0);
  for (const mode_t mode : {0755u, 0777u}) {
    ASSERT_EQ(::chmod(home_.c_str(), 01777), 0);
    for (auto at = fs::recursive_directory_iterator(home_ / ".cache");
         at != fs::recursive_directory_iterator(); ++at)
      if (at->is_directory() && !at->is_symlink()) ASSERT_EQ(::chmod(at->path().c_str(), mode), 0);
    const Ended run = at_home("engine-info", {"reference", "--offline"}, as(bob));
    EXPECT_THAT(run.said(), Not(HasSubstr("reference-good"))) << "the build of that cache";
    EXPECT_THAT(run.said(),
                AllOf(HasSubstr("the cache " + (home_ / ".cache/enginehost").native() + " is not used"),
                      HasSubstr("it belongs to user 64001")));
  }
}

TEST_F(FilesOfAnother, ANamedCacheOpensAndTheOpenSaysWhose) {
  const fs::path cache = home_ / "cache";
  ASSERT_EQ(at_home("engine-info",
                    {"reference", "--repository", path_text(repository_.root()), "--cache", cache}, as(alice))
                .status,
            0);
  // Another user has no configuration here.
  const std::vector<std::string> arguments{"reference", "--repository", path_text(repository_.root()),
                                           "--cache",   cache,          "--json"};
  const auto open_as_bob = [&] {
    RunOptions options;
    options.launcher = with_home(as(bob), "/nonexistent");
    return workplace_.info(arguments, options);
  };
  const Ended opened = open_as_bob();
  EXPECT_EQ(opened.status, 0) << opened.said();
  EXPECT_THAT(opened.document["warnings"].dump(),
              HasSubstr("belongs to user 64001, who decides which code runs"));
  for (const fs::path& part : {cache, cache / "views", home_}) {
    ASSERT_EQ(::chmod(part.c_str(), 0777), 0);
    const Ended refused = open_as_bob();
    EXPECT_EQ(refused.code(), "EH-F22") << refused.said();
    EXPECT_THAT(refused.diagnosis()["remedy"].dump(), HasSubstr("chmod -R go-w " + part.native()));
    ASSERT_EQ(::chmod(part.c_str(), 0755), 0);
  }
}

// The caller's home would give code to a program that was given more rights.
class HomeOfAProgramWithMoreRights : public testing::TestWithParam<const char*> {};

TEST_P(HomeOfAProgramWithMoreRights, DoesNotCount) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a program more rights";
  const Workplace workplace;
  ASSERT_EQ(::chmod(workplace.folder().c_str(), 0755), 0);
  const fs::path program = workplace.folder() / "program";
  fs::copy_file(build_path("/bin/engine-info"), program);
  // The user "daemon" has a home that exists.
  const auto cache_seen = [&] {
    ChildRequest request;
    request.argv = {
        "setpriv",   "--reuid", "1",  "--regid",          "1",  "--clear-groups", "env",
        "-u",        "HOME",    "-u", "ENGINEHOST_CACHE", "-u", "XDG_CACHE_HOME", program.native(),
        "--verbose", "--json"};
    const auto ended = run_child(request);
    const auto document = parse_json(ended->output, "stdout");
    for (const Json& setting : document ? (*document)["config"].as_array() : Json::Array{})
      if (setting["key"].as_string() == "cache")
        return setting["value"].as_string() + " (" + setting["source"].as_string() + ")";
    return ended->output + ended->error;
  };
  if (cache_seen() != "/usr/sbin/.cache/enginehost (default)")
    GTEST_SKIP() << "no such user: " << cache_seen();
  const std::string rights = GetParam();
  if (rights == "cap_dac_override+ep") {
    ChildRequest give;
    give.argv = {"setcap", rights, program.native()};
    const auto given = run_child(give);
    if (!given || !given->succeeded()) GTEST_SKIP() << "setcap does not work here";
  } else {
    ASSERT_EQ(::chmod(program.c_str(), static_cast<mode_t>(std::stoi(rights, nullptr, 8))), 0);
  }
  EXPECT_EQ(cache_seen(), " (no home folder)");
}

INSTANTIATE_TEST_SUITE_P(Each, HomeOfAProgramWithMoreRights,
                         testing::Values("4755", "2755", "cap_dac_override+ep"));

}  // namespace
}  // namespace enginehost::test
