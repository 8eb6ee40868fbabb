// Rows 6, 7, 9 and 26 of the fault plan: locks that do not exclude, that others hold, or whose owner is
// stopped, and file systems that several machines share.
#include "cache/sharing.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "cache/check.hpp"
#include "cache/store.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

extern char** environ;

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

std::string child() { return test::build_path("/tests/cache_install_child"); }

ChildOutcome run(std::vector<std::string> argv, std::vector<std::string> environment = {}) {
  ChildRequest request;
  request.argv = std::move(argv);
  request.environment = std::move(environment);
  request.environment.push_back("ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0");
  request.deadline = 100s;
  auto outcome = run_child(request);
  EXPECT_TRUE(outcome);
  return outcome ? *outcome : ChildOutcome{};
}

class Sharing : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  Store store = Store::open(folder / "cache", {}, "sharing_test");

  void without_locks() const {
    ASSERT_TRUE(store.prepare());
    test::write_text(folder / "cache/locks/.not-kept", inside::file_system_of(store.root()));
    ASSERT_FALSE(inside::locks_are_kept(store.root()));
  }
  void expect_sound(bool at_rest = false) const {
    CheckOptions options;
    options.at_rest = at_rest;
    const auto violations = check(store.root(), options);
    ASSERT_TRUE(violations);
    for (const Violation& violation : *violations)
      ADD_FAILURE() << violation.invariant << " " << violation.problem.path;
  }
  // Several children install the same build at once, on such a file system.
  void install_at_once(int children, const std::vector<std::string>& environment) const {
    std::vector<std::thread> threads;
    std::vector<ChildOutcome> outcomes(static_cast<std::size_t>(children));
    for (ChildOutcome& outcome : outcomes)
      threads.emplace_back([&] {
        std::vector<std::string> odd = environment;
        odd.push_back("LD_PRELOAD=" + test::build_path("/tests/libodd_file_system.so"));
        outcome = run({child(), (folder / "cache").native(), "one"}, odd);
      });
    for (std::thread& thread : threads) thread.join();
    for (const ChildOutcome& outcome : outcomes) EXPECT_EQ(outcome.output, "installed\n") << outcome.error;
  }
  std::vector<fs::path> heartbeats() const {
    std::vector<fs::path> found;
    for (const auto& file : fs::directory_iterator(folder / "cache/leases"))
      if (file.path().extension() == ".alive") found.push_back(file.path());
    return found;
  }
};

TEST_F(Sharing, LocksOfALocalDiskAreKept) {
  ASSERT_TRUE(store.prepare());
  EXPECT_TRUE(inside::locks_are_kept(store.root()));
  EXPECT_FALSE(fs::exists(folder / "cache/locks/.not-kept"));
}

TEST_F(Sharing, ProbeFindsLocksThatAreGrantedToAll) {
  install_at_once(6, {"ODD_LOCKS=granted"});
  EXPECT_FALSE(inside::locks_are_kept(store.root())) << "and everyone knows from then on";
  expect_sound();
  EXPECT_TRUE(*store.find("one"));
}

TEST_F(Sharing, ProbeFindsThatThereAreNoLocks) {
  install_at_once(4, {"ODD_LOCKS=refused"});
  EXPECT_FALSE(inside::locks_are_kept(store.root()));
  expect_sound();
}

TEST_F(Sharing, IgnoresTheNoteOfAnotherFileSystem) {
  ASSERT_TRUE(store.prepare());
  test::write_text(folder / "cache/locks/.not-kept", "no lock is relied on\non 1 since another-start\n");
  ASSERT_TRUE(store.prepare());
  EXPECT_TRUE(inside::locks_are_kept(store.root())) << "it came along with a copy";
  without_locks();
  ASSERT_TRUE(store.prepare());
  EXPECT_FALSE(inside::locks_are_kept(store.root()));
}

TEST_F(Sharing, ATransientErrorIsNotTakenForAFileSystemWithoutLocks) {
  install_at_once(1, {"ODD_LOCKS=stumbling"});
  EXPECT_TRUE(inside::locks_are_kept(store.root())) << "the note would stay for good";
  expect_sound();
}

TEST_F(Sharing, SeveralMachinesOnAFileSystemWithStaleHandlesAndLateNames) {
  for (const char* stale : {"3", "5"}) {
    install_at_once(4,
                    {"ODD_KIND=nfs", "ODD_LOCKS=granted", std::string("ODD_STALE=") + stale, "ODD_LATE=2"});
    expect_sound();
    fs::remove_all(folder / "cache");
  }
}

TEST_F(Sharing, WithoutLocksStagesArePrivateAndPartialDownloadsToo) {
  without_locks();
  const auto first = store.stage("key");
  WaitOptions at_once;
  at_once.at_most = 1ms;
  const auto second = store.stage("key", at_once);
  ASSERT_TRUE(first && second) << "the second does not wait for ever";
  EXPECT_NE(first->folder(), second->folder());
  EXPECT_TRUE(fs::exists(first->folder())) << "nobody clears away what may be someone's";
  const std::string digest(64, 'a');
  EXPECT_NE(store.partial(digest, *first), store.partial(digest, *second));
}

TEST_F(Sharing, WithoutLocksALeaseIsAFileThatIsRenewedAndKeepsTheBuild) {
  without_locks();
  const Installed installed = *test::install_small_build(store, "one");
  {
    const auto lease = store.lease(installed);
    ASSERT_TRUE(lease);
    ASSERT_EQ(heartbeats().size(), 1u);
    EXPECT_EQ(store.remove("one").error().code, "EH-F18");
    CollectOptions everything;
    everything.max_bytes = 0;
    const auto done = store.collect(everything);
    ASSERT_TRUE(done);
    EXPECT_TRUE(done->removed.empty());
    EXPECT_EQ(done->kept.at(0).why, "in use");
  }
  EXPECT_TRUE(heartbeats().empty());
  EXPECT_TRUE(store.remove("one"));
}

TEST_F(Sharing, WithoutLocksAnotherMachinesLeaseCountsForADay) {
  without_locks();
  const Installed installed = *test::install_small_build(store, "one");
  const fs::path foreign = folder / ("cache/leases/" + installed.digest + ".0000-1-00.alive");
  test::write_text(foreign, "another boot\n1\n1\n");
  EXPECT_TRUE(inside::in_use(store.root(), installed.digest));
  EXPECT_EQ(store.remove("one").error().code, "EH-F18");
  fs::last_write_time(foreign, fs::file_time_type::clock::now() - 25h);
  EXPECT_FALSE(inside::in_use(store.root(), installed.digest));
  EXPECT_FALSE(fs::exists(foreign)) << "the dead are cleared away";
  EXPECT_TRUE(store.remove("one"));
}

TEST_F(Sharing, WithoutLocksFilesGoOnlyAfterAWaitingTime) {
  without_locks();
  const Installed installed = *test::install_small_build(store, "one");
  ASSERT_TRUE(store.remove("one"));
  EXPECT_TRUE(fs::exists(installed.folder)) << "someone on another machine may just be loading it";
  fs::create_directories(folder / "cache/stage/key/s1");
  ASSERT_TRUE(store.sweep());
  EXPECT_TRUE(fs::exists(folder / "cache/stage/key/s1"));
  CollectOptions none;
  EXPECT_TRUE(store.collect(none)->waits_for_rest);
}

TEST_F(Sharing, AStoppedOwnerKeepsItsLockAndIsNamed) {
  const std::string root = (folder / "cache").native();
  std::string program = child(), build = "one", what = "hold";
  char* argv[] = {program.data(), const_cast<char*>(root.c_str()), build.data(), what.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, (folder / "said").c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t owner = -1;
  ASSERT_EQ(::posix_spawn(&owner, argv[0], &actions, nullptr, argv, environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  for (int i = 0; i < 2000 && (!fs::exists(folder / "said") || fs::is_empty(folder / "said")); ++i)
    std::this_thread::sleep_for(5ms);
  ::kill(owner, SIGSTOP);
  WaitOptions wait;
  wait.patience = 600ms;
  const auto stage = store.stage(Store::key_of("one"), wait);
  EXPECT_FALSE(stage) << "a lock is never stolen";
  if (!stage) {
    EXPECT_EQ(stage.error().code, "EH-F18");
    EXPECT_EQ(stage.error().value(Key::holder), std::to_string(owner));
    EXPECT_EQ(stage.error().value(Key::holder_name), "install_child");
  }
  EXPECT_EQ(store.remove("one").error().code, "EH-F18");
  ::kill(owner, SIGCONT);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  EXPECT_TRUE(store.stage(Store::key_of("one"), wait)) << "the kernel frees what a dead owner held";
}

}  // namespace
}  // namespace enginehost::cache
