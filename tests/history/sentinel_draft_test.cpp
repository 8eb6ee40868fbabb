// A sentinel is written under another name first: the draft of a process that dies or is late.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/child_process.hpp"
#include "host/history/sentinel.hpp"
#include "tests/history/folder.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::history {
namespace {

using testing::EndsWith;
using testing::IsEmpty;

std::vector<std::string> names_in(const Folder& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder.path / "running", error), end; !error && at != end; ++at)
    names.push_back(at->path().filename().native());
  return names;
}

ChildOutcome run(std::vector<std::string> argv) {
  ChildRequest request;
  request.argv = std::move(argv);
  request.environment = {"LD_PRELOAD", "ASAN_OPTIONS=detect_leaks=0"};
  auto outcome = run_child(request);
  EXPECT_TRUE(outcome);
  return outcome ? *outcome : ChildOutcome{};
}

TEST(SentinelDraft, OfAProcessKilledWhileWritingIsRemovedAndNotCounted) {
  if (!run({"strace", "-V"}).succeeded()) GTEST_SKIP() << "strace is not installed";
  const Folder folder;
  // kill -9 just before it writes the text, and just before it renames it.
  for (const char* call : {"/^pwrite64", "/^rename"}) {
    SCOPED_TRACE(call);
    run({"strace", "-f", "-qq", "-o", "/dev/null", "-e", std::string("inject=") + call + ":signal=KILL",
         test::build_path("/tests/history_sentinel_child"), folder.path.native()});
    ASSERT_THAT(names_in(folder), testing::ElementsAre(EndsWith(".new")));
    EXPECT_THAT(collect_crashes(folder.path), IsEmpty()) << "no code of a build had run";
    EXPECT_THAT(names_in(folder), IsEmpty());
  }
}

TEST(SentinelDraft, OfALivingProcessStays) {
  const Folder folder;
  std::atomic<bool> ending = false;
  std::atomic<std::size_t> crashes = 0, collections = 0;
  std::thread collector([&] {
    while (!ending) {
      crashes += collect_crashes(folder.path).size();
      ++collections;
    }
  });
  int failed = 0, gone = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < until) {
    const auto sentinel = Sentinel::raise(folder.path, "b", "d1", "dlopen");
    failed += sentinel ? 0 : 1;
    gone += names_in(folder).size() == 1u ? 0 : 1;
  }
  ending = true;
  collector.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(gone, 0) << "it stands as long as its owner wants";
  EXPECT_EQ(crashes, 0u);
  EXPECT_GT(collections, 0u);
  EXPECT_THAT(names_in(folder), IsEmpty());
}

// An application may have a small RLIMIT_FSIZE, and SIGXFSZ would end it.
TEST(SentinelDraft, BeyondTheFileSizeLimitIsAFailureAndNoSignal) {
  const Folder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {300, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto sentinel = Sentinel::raise(folder.path, "b", "d", "load", "a");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(sentinel);
  EXPECT_EQ(sentinel.error().code, "EH-F17");
  EXPECT_EQ(sentinel.error().value(Key::limit), "300");
  EXPECT_THAT(names_in(folder), IsEmpty());
}

}  // namespace
}  // namespace enginehost::history
