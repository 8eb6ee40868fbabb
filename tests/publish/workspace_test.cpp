// Several processes that work on one publisher's folder.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "tests/publish/fixture.hpp"
#include "tools/publish/pack.hpp"

namespace enginehost::publish {
namespace {

using testing::UnorderedElementsAreArray;

class SharedWorkspace : public PublisherTest {
 protected:
  // Runs each in its own process, started at the same moment, and returns their exit statuses.
  static std::vector<int> at_once(const std::vector<std::function<bool()>>& jobs) {
    int gate[2];
    if (::pipe2(gate, O_CLOEXEC) != 0) return {};
    std::vector<pid_t> children;
    for (const auto& job : jobs) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::close(gate[1]);
        char nothing = 0;
        ::_exit(::read(gate[0], &nothing, 1) == 0 && job() ? 0 : 1);
      }
      children.push_back(child);
    }
    ::close(gate[0]);
    ::close(gate[1]);
    std::vector<int> statuses;
    for (const pid_t child : children) {
      int status = -1;
      ::waitpid(child, &status, 0);
      statuses.push_back(status);
    }
    return statuses;
  }
  std::vector<std::string> builds() const {
    const auto manifest = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
    std::vector<std::string> ids;
    if (manifest)
      for (const Json& build : (*manifest)["builds"].as_array()) ids.push_back(build["version"].as_string());
    return ids;
  }
  std::vector<std::string> scratch_folders() const {
    std::vector<std::string> names;
    for (const auto& one : fs::directory_iterator(repository()))
      if (const std::string name = one.path().filename().native(); name.starts_with(".adding-"))
        names.push_back(name);
    return names;
  }
};

TEST_F(SharedWorkspace, TwoProcessesThatAddAtOnceLoseNothing) {
  constexpr int each = 6;
  std::vector<std::string> wanted;
  std::vector<std::function<bool()>> jobs;
  for (const std::string major : {"1", "2"}) {
    for (int minor = 0; minor < each; ++minor) wanted.push_back(major + "." + std::to_string(minor));
    jobs.push_back([this, major] {
      for (int minor = 0; minor < each; ++minor)
        if (!publish::add(workspace(), request(major + "." + std::to_string(minor)))) return false;
      return true;
    });
  }
  EXPECT_THAT(at_once(jobs), testing::ElementsAre(0, 0));
  EXPECT_THAT(builds(), UnorderedElementsAreArray(wanted));
  const auto manifest = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
  EXPECT_EQ((*manifest)["serial"].as_integer(), 2 * each);
  EXPECT_TRUE(scratch_folders().empty());
}

// A link to itself exists, and cannot be read.
TEST_F(SharedWorkspace, AnUnreadableManifestIsNotReplaced) {
  add_toy();
  const fs::path manifest = workspace().engine_file("toy");
  fs::remove(manifest);
  fs::create_symlink(manifest.filename(), manifest);
  const auto added = publish::add(workspace(), request("2.0.0"));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, "EH-M17");
  EXPECT_EQ(added.error().value(Key::folder), manifest.native());
  EXPECT_EQ(added.error().value(Key::errno_), "ELOOP");
  EXPECT_TRUE(fs::is_symlink(manifest));
}

TEST_F(SharedWorkspace, SigningDuringAnAddSignsTheListedManifests) {
  add_toy();
  const std::vector<int> ended =
      at_once({[this] {
                 for (int minor = 0; minor < 8; ++minor)
                   if (!publish::add(workspace(), request("1.1." + std::to_string(minor)))) return false;
                 return true;
               },
               [this] {
                 for (int round = 0; round < 8; ++round) {
                   const auto made = sign_with({1});
                   if (!made || !made->missing.empty()) return false;
                 }
                 return true;
               }});
  EXPECT_THAT(ended, testing::ElementsAre(0, 0));
  ASSERT_TRUE(sign_with({1}));
  const auto published = publish::publish(workspace(), out(), in_2026);
  ASSERT_TRUE(published) << published.error().code;
  manifest::FolderReader reader;
  const auto content = manifest::load_repository(out().native(), reader, in_2026);
  ASSERT_TRUE(content);
  EXPECT_EQ(content->manifests.at(0)->builds.size(), 9u);
}

TEST_F(SharedWorkspace, LeftoversGoWithTheNextRunButNotOfALivingProcess) {
  add_toy();
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto scratch = Scratch::make(workspace());
    if (!scratch || ::write(ready[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ASSERT_GT(child, 0);
  ::close(ready[1]);
  char reported = 0;
  EXPECT_EQ(::read(ready[0], &reported, 1), 1);
  ::close(ready[0]);
  add_toy("1.0.1");
  EXPECT_EQ(scratch_folders().size(), 1u) << "its owner lives";
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(scratch_folders().size(), 1u);
  add_toy("1.0.2");
  EXPECT_TRUE(scratch_folders().empty());
  EXPECT_THAT(builds(), testing::ElementsAre("1.0.0", "1.0.1", "1.0.2"));
}

TEST_F(SharedWorkspace, AKilledAddLeavesTheOldOrTheNewManifest) {
  add_toy();
  for (int kill = 0; kill < 12; ++kill) {
    SCOPED_TRACE(kill);
    const std::string version = "1.1." + std::to_string(kill);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(publish::add(workspace(), request(version)) ? 0 : 1);
    ASSERT_GT(child, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(kill * 3));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    const auto manifest = parse_json(bytes_of(workspace().engine_file("toy")), "toy");
    ASSERT_TRUE(manifest) << manifest.error().code;
    EXPECT_THAT(problems(), testing::IsEmpty());
  }
  add_toy("2.0.0");
  EXPECT_TRUE(scratch_folders().empty());
  EXPECT_EQ(builds().back(), "2.0.0");
}

}  // namespace
}  // namespace enginehost::publish
