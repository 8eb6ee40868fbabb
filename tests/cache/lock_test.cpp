// Locks between processes: waiting, giving up, and copies in forked children.
#include "cache/lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <chrono>
#include <thread>

#include "base/file_calls.hpp"
#include "cache/store.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/three_tries.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;

class LockTest : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  Store store = Store::open(folder / "cache", {}, "lock_test");
};

TEST_F(LockTest, F18WaitersSeeTheLockHolderAndGiveUpWithoutProgress) {
  auto held = store.stage("key");
  ASSERT_TRUE(held);
  held->report_progress(5, 10);
  LockHolder seen;
  WaitOptions wait;
  wait.patience = std::chrono::milliseconds(300);
  wait.on_wait = [&](const LockHolder& holder) { seen = holder; };
  const auto second = store.stage("key", wait);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "EH-F18");
  EXPECT_EQ(second.error().value(Key::holder), std::to_string(calls::getpid()));
  EXPECT_EQ(second.error().value(Key::holder_name), "lock_test");
  EXPECT_EQ(seen.done, 5u);
  EXPECT_EQ(seen.total, 10u);
}

TEST_F(LockTest, F18TheHolderOfThePublishLockIsShownWhileWaiting) {
  ASSERT_TRUE(store.prepare());
  const fs::path lock = store.root() / "locks" / ".publishing.lk";
  test::write_text(lock, "");
  // A lock that any user with read access can take.
  const FileDescriptor foreign(calls::open(lock, O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(calls::flock(foreign.get(), LOCK_EX | LOCK_NB), 0);
  LockHolder seen;
  WaitOptions wait;
  wait.patience = std::chrono::milliseconds(300);
  wait.on_wait = [&](const LockHolder& holder) { seen = holder; };
  const auto stage = store.stage("key", wait);
  ASSERT_FALSE(stage);
  EXPECT_EQ(stage.error().code, "EH-F18");
  EXPECT_EQ(stage.error().value(Key::file), path_text(lock));
  EXPECT_EQ(seen.file, lock);
  // Linux reports it, except on file systems whose device numbers in /proc/locks differ.
  EXPECT_THAT(seen.pid, testing::AnyOf(0, calls::getpid()));
}

TEST_F(LockTest, WaitingCanBeCanceled) {
  const auto held = store.stage("key");
  const auto ends_after = [&] {
    WaitOptions wait;
    wait.cancel = CancelToken();
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      wait.cancel->cancel();
    });
    const auto began = std::chrono::steady_clock::now();
    const auto second = store.stage("key", wait);
    later.join();
    EXPECT_EQ(second ? "ok" : std::string(second.error().code_text()), "EH-P10");
    return std::chrono::steady_clock::now() - began;
  };
  constexpr std::chrono::milliseconds soon{300};
  EXPECT_LT(test::shortest_of_three(soon, ends_after), soon);
}

TEST_F(LockTest, ALockFileThatWasRemovedMeanwhileIsNotHeld) {
#ifdef _WIN32
  GTEST_SKIP() << "Wine keeps a removed file's name until it is closed, as Windows did before 10 1809";
#endif
  ASSERT_TRUE(store.prepare());
  const fs::path file = folder / "cache/locks/key.lk";
  auto first = FileLock::exclusive(file, "a");
  ASSERT_TRUE(first);
  fs::remove(file);
  const auto second = FileLock::try_exclusive(file, "b");
  ASSERT_TRUE(second && *second);
  const auto third = FileLock::try_exclusive(file, "c");
  ASSERT_TRUE(third);
  EXPECT_FALSE(*third);
}

#ifndef _WIN32
// A forked child has copies of all descriptors; this one destroys its copy of `lock` when `go` is closed.
pid_t fork_with_copy_of(std::optional<FileLock>& lock, FileDescriptor& go) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[1]);
    char nothing;
    while (::read(ends[0], &nothing, 1) < 0 && errno == EINTR) {
    }
    lock.reset();
    ::_exit(0);
  }
  ::close(ends[0]);
  go = FileDescriptor(ends[1]);
  return child;
}

TEST_F(LockTest, AForkedChildNeitherKeepsNorReleasesAnExclusiveLock) {
  ASSERT_TRUE(store.prepare());
  const fs::path file = folder / "cache/locks/key.lk";
  const auto is_free = [&] {
    const auto taken = FileLock::try_exclusive(file, "other");
    return taken && *taken;
  };
  for (const bool child_ends_first : {true, false}) {
    std::optional<FileLock> lock(std::move(FileLock::exclusive(file, "parent").value()));
    FileDescriptor go;
    const pid_t child = fork_with_copy_of(lock, go);
    ASSERT_GT(child, 0);
    if (child_ends_first) {
      go = FileDescriptor();
      ASSERT_EQ(::waitpid(child, nullptr, 0), child);
      EXPECT_FALSE(is_free());
      lock.reset();
      EXPECT_TRUE(is_free());
      continue;
    }
    *lock = FileLock();
    EXPECT_TRUE(is_free());
    go = FileDescriptor();
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  }
}

TEST_F(LockTest, AForkedChildKeepsASharedLockOfFilesThatItUses) {
  ASSERT_TRUE(store.prepare());
  const fs::path file = folder / "cache/locks/key.lk";
  std::optional<FileLock> lock(std::move(FileLock::shared(file).value()));
  FileDescriptor go;
  const pid_t child = fork_with_copy_of(lock, go);
  ASSERT_GT(child, 0);
  lock.reset();
  auto taken = FileLock::try_exclusive(file, "other");
  EXPECT_TRUE(taken && !*taken);
  go = FileDescriptor();
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  taken = FileLock::try_exclusive(file, "other");
  EXPECT_TRUE(taken && *taken);
}
#endif

}  // namespace
}  // namespace enginehost::cache
