// A layer that an administrator maintains, as users see it who can only read it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class SystemLayer : public testing::Test {
 protected:
  SystemLayer() : repository(workplace.folder() / "repository"), layer(workplace.folder() / "layer") {
    repository.add(good_build());
    repository.write();
    const Ended fetched =
        cache({"--cache", layer.native(), "fetch", "reference", "--repository", repository.root().native()});
    EXPECT_EQ(fetched.status, 0) << fetched.said();
    workplace.configure(Json::object()
                            .set("repositories_default", false)
                            .set("system_layers", Json::array().push(layer.native())));
  }
  Ended cache(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    return workplace.run("engine-cache", std::move(arguments), options);
  }

  Workplace workplace;
  TestRepository repository;
  fs::path layer;
  const std::vector<std::string> opening = {"reference", "--offline", "--json"};
};

// A blocked build of the layer is tried again once the mount of that layer, not of the cache folder, allows
// code.
TEST_F(SystemLayer, OpensItsBuildOnceItsMountAllowsCode) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root";
  RunOptions mounted;
  mounted.launcher = {"unshare",
                      "-m",
                      "sh",
                      "-c",
                      R"(mount --bind "$1" "$1" && mount -o remount,bind,noexec "$1" && shift && exec "$@")",
                      "sh",
                      layer.native()};
  const Ended blocked = workplace.info(opening, mounted);
  EXPECT_EQ(blocked.code(), "EH-L22") << blocked.said();
  const std::string remedies = blocked.diagnosis()["remedy"].dump();
  EXPECT_THAT(remedies, Not(HasSubstr("ENGINEHOST_CACHE")));
  EXPECT_THAT(remedies, HasSubstr("mount -o remount,exec "));
  EXPECT_THAT(remedies, HasSubstr("remove " + layer.native() + " from"));
  const Ended opened = workplace.info(opening);
  EXPECT_EQ(opened.status, 0) << opened.said();
}

TEST_F(SystemLayer, ARemovalNamesTheLayerAndTheCommandThatRemoves) {
  for (const char* name : {"reference-good", "reference"}) {
    const Ended refused = cache({"remove", name, "--json"});
    EXPECT_EQ(refused.status, 2) << refused.said();
    EXPECT_EQ(refused.code(), "EH-S23") << refused.said();
    EXPECT_THAT(refused.diagnosis()["cause"].as_string(),
                HasSubstr("is in the read-only layer " + layer.native()));
    EXPECT_THAT(refused.diagnosis()["remedy"].dump(), HasSubstr("--cache " + layer.native()));
  }
  const Ended removed = cache({"remove", "reference-good", "--cache", layer.native()});
  EXPECT_EQ(removed.status, 0) << removed.said();
  EXPECT_THAT(cache({"list"}).output, Not(HasSubstr("reference-good")));
}

// The administrator's umask takes nobody's read permission.
TEST_F(SystemLayer, IsReadableWhateverTheUmask) {
  RunOptions strict;
  strict.launcher = {"sh", "-c", "umask 077; exec \"$@\"", "sh"};
  for (const auto& list : fs::directory_iterator(layer / "lists"))
    if (!list.path().filename().native().starts_with("of-")) fs::remove(list.path());
  fs::remove_all(layer / "views");
  const Ended repaired = cache(
      {"--cache", layer.native(), "verify", "--deep", "--repair", "--repository", repository.root().native()},
      strict);
  EXPECT_EQ(repaired.status, 0) << repaired.said();
  const Ended trusted = cache(
      {"--cache", layer.native(), "trust", "add", "RWQBAgMEBQYHCAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"},
      strict);
  EXPECT_EQ(trusted.status, 0) << trusted.said();
  const auto expect_readable = [](const fs::path& path) {
    struct stat status {};
    ASSERT_EQ(::lstat(path.c_str(), &status), 0) << path;
    const mode_t needed = S_ISDIR(status.st_mode) ? 0055 : 0044;
    EXPECT_EQ(status.st_mode & needed, needed) << path;
  };
  for (const char* folder : {"lists", "views", "state", "leases"}) {
    ASSERT_TRUE(fs::exists(layer / folder)) << folder;
    for (const auto& entry : fs::recursive_directory_iterator(layer / folder)) expect_readable(entry.path());
  }
}

// The same for the usual layer, which does not exist before.
TEST_F(SystemLayer, TheUsualOneIsCreatedReadableWhateverTheUmask) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root";
  RunOptions strict;
  strict.launcher = {"unshare",
                     "-m",
                     "sh",
                     "-c",
                     R"(mount -t tmpfs none /var/lib && umask 077 && "$@" &&
                        find /var/lib/enginehost \( -name stage -prune \) -o ! -type l ! -perm -044 -printf 'closed: %P\n')",
                     "sh"};
  workplace.configure(Json::object().set("repositories_default", false));
  const Ended fetched = cache(
      {"--cache", "/var/lib/enginehost", "fetch", "reference", "--repository", repository.root().native()},
      strict);
  EXPECT_EQ(fetched.status, 0) << fetched.said();
  EXPECT_THAT(fetched.output, Not(HasSubstr("closed: "))) << fetched.said();
}

// A link to itself stands for a folder that this user may not enter, because root may enter every folder.
TEST_F(SystemLayer, UnreadableKeysAreReported) {
  fs::create_directories(layer / "state/machine");
  fs::create_symlink("trust", layer / "state/machine/trust");
  const Ended ended = cache({"trust", "list"});
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(ended.error, HasSubstr((layer / "state/machine").native() +
                                     " do not count because the folder cannot be read"));
}

TEST_F(SystemLayer, AnIgnoredOneIsNotReportedAsEmpty) {
  fs::permissions(layer, fs::perms::all);
  const std::string why = layer.native() + " is not trusted: everybody may write into it";
  const Ended listed = cache({"list"});
  EXPECT_EQ(listed.status, 0) << listed.said();
  EXPECT_THAT(listed.error, HasSubstr(why));
  EXPECT_THAT(cache({"list", "--json"}).document["warnings"].dump(), HasSubstr("EH-F22"));
  EXPECT_THAT(workplace.info({}).error, HasSubstr(why));
  const Ended opened = workplace.info(opening);
  EXPECT_EQ(opened.code(), "EH-S02") << opened.said();
  EXPECT_THAT(opened.document["warnings"].dump(), HasSubstr("is not trusted: everybody may write into it"));
}

TEST_F(SystemLayer, ImportWarnsWhenThisMachineIgnoresTheLayer) {
  const std::string bundle = (workplace.folder() / "one.bundle").native();
  ASSERT_EQ(cache({"export", bundle, "reference-good", "--redistribute", "unknown"}).status, 0);
  fs::permissions(layer, fs::perms::all);
  const std::vector<std::string> import = {"import", bundle, "--layer", "system", "--unsigned", "--json"};
  const Ended ended = cache(import);
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(ended.document["warnings"].dump(), HasSubstr("everybody may write into it"));
  fs::permissions(layer, fs::perms::owner_all);
  EXPECT_THAT(cache(import).document["warnings"].dump(), Not(HasSubstr("write into it")));
}

}  // namespace
}  // namespace enginehost::test
