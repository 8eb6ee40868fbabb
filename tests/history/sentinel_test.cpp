// Left-over sentinels are made by processes that really die.
#include "host/history/sentinel.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "tests/history/folder.hpp"

namespace enginehost::history {
namespace {

std::size_t left_over(const Folder& folder) {
  std::size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder.path / "running", error), end; !error && at != end; ++at)
    ++count;
  return count;
}

// Raises a sentinel in a child, lets it enter a phase and dies there.
void die_in(const Folder& folder, const char* phase) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto sentinel = Sentinel::raise(folder.path, "b", "d1", "dlopen");
    if (!sentinel || !sentinel->enter(phase)) ::_exit(9);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(SentinelTest, ACrashIsReportedOnceWithItsPhase) {
  Folder folder;
  die_in(folder, "warmup");
  const auto crashes = collect_crashes(folder.path);
  ASSERT_EQ(crashes.size(), 1u);
  EXPECT_EQ(crashes[0].build, "b");
  EXPECT_EQ(crashes[0].digest, "d1");
  EXPECT_EQ(crashes[0].phase, "warmup");
  EXPECT_GT(crashes[0].pid, 0);
  EXPECT_TRUE(collect_crashes(folder.path).empty());
  EXPECT_EQ(left_over(folder), 0u);
}

TEST(SentinelTest, ALivingProcessIsNoCrash) {
  Folder folder;
  auto sentinel = Sentinel::raise(folder.path, "b", "d1", "dlopen");
  ASSERT_TRUE(sentinel);
  EXPECT_TRUE(collect_crashes(folder.path).empty());
  EXPECT_EQ(left_over(folder), 1u);
  sentinel->lower();
  EXPECT_EQ(left_over(folder), 0u);
  EXPECT_TRUE(collect_crashes(folder.path).empty());
}

TEST(SentinelTest, ItIsLoweredWhenItsOwnerGoes) {
  Folder folder;
  {
    auto sentinel = Sentinel::raise(folder.path, "b", "d1", "dlopen");
    ASSERT_TRUE(sentinel);
    Sentinel moved = std::move(*sentinel);
    EXPECT_EQ(left_over(folder), 1u);
  }
  EXPECT_EQ(left_over(folder), 0u);
}

TEST(SentinelTest, ARestartOfTheMachineIsNoCrash) {
  Folder folder;
  die_in(folder, "create");
  for (const auto& entry : std::filesystem::directory_iterator(folder.path / "running")) {
    std::string text = *read_file(entry.path());
    const std::size_t at = text.find("\"boot_id\":\"") + 11;
    text[at] = text[at] == '0' ? '1' : '0';
    std::ofstream(entry.path()) << text;
  }
  EXPECT_TRUE(collect_crashes(folder.path).empty());
  EXPECT_EQ(left_over(folder), 0u);
}

TEST(SentinelTest, TwoCollectorsNeverReportTheSameCrash) {
  Folder folder;
  for (int i = 0; i < 20; ++i) die_in(folder, "create");
  std::vector<Crash> first, second;
  std::thread one([&] { first = collect_crashes(folder.path); });
  std::thread two([&] { second = collect_crashes(folder.path); });
  one.join();
  two.join();
  for (const auto& rest : collect_crashes(folder.path)) first.push_back(rest);
  EXPECT_EQ(first.size() + second.size(), 20u);
}

TEST(SentinelTest, TwoAtOnceInOneProcessAreApart) {
  Folder folder;
  auto one = Sentinel::raise(folder.path, "b", "d1", "dlopen");
  auto two = Sentinel::raise(folder.path, "b", "d1", "dlopen");
  ASSERT_TRUE(one && two);
  EXPECT_EQ(left_over(folder), 2u);
}

TEST(SentinelTest, AFolderThatCannotBeWrittenIsAnError) {
  Folder folder;
  folder.file("state", "a file where the folder should be");
  EXPECT_FALSE(Sentinel::raise(folder.path / "state", "b", "d1", "dlopen"));
  EXPECT_TRUE(collect_crashes(folder.path / "state").empty());
}

}  // namespace
}  // namespace enginehost::history
