// The process that installs is killed, or the disk fails, at one system call after another.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "base/child_process.hpp"
#include "cache/store.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;

std::string child() { return ENGINEHOST_BUILD_DIR "/tests/cache_install_child"; }

ChildOutcome run(std::vector<std::string> argv) {
  ChildRequest request;
  request.argv = std::move(argv);
  request.environment = {"LD_PRELOAD", "ASAN_OPTIONS=detect_leaks=0"};
  auto outcome = run_child(request);
  EXPECT_TRUE(outcome);
  return outcome ? *outcome : ChildOutcome{};
}

// How often the child makes each system call.
std::map<std::string, int> calls_of_an_install(const fs::path& scratch) {
  run({"strace", "-f", "-qq", "-o", (scratch / "trace").native(), child(), (scratch / "counted").native(),
       "new"});
  std::map<std::string, int> calls;
  std::istringstream lines(test::read_text(scratch / "trace"));
  for (std::string pid, rest; lines >> pid && std::getline(lines >> std::ws, rest);) {
    const std::size_t open = rest.find('(');
    if (open != std::string::npos && rest.find_first_of(" <+-") > open) ++calls[rest.substr(0, open)];
  }
  return calls;
}

class Faults : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  bool all = std::getenv("ENGINEHOST_EXHAUSTIVE") != nullptr;

  void SetUp() override {
    if (!run({"strace", "-V"}).succeeded()) GTEST_SKIP() << "strace is not installed";
  }

  // After whatever happened: nothing half-written is visible, what was installed still is, and the next run
  // succeeds.
  void expect_sound(const fs::path& root, const std::string& what) {
    const Store store = Store::open(root);
    const auto kept = store.verify("old", true);
    ASSERT_TRUE(kept) << what;
    EXPECT_TRUE(kept->empty()) << what;
    const auto found = store.find("new");
    ASSERT_TRUE(found) << what << ": " << found.error().code;
    if (*found) {
      EXPECT_TRUE(store.verify("new", true)->empty()) << what;
    }
    const ChildOutcome again = run({child(), root.native(), "new"});
    EXPECT_EQ(again.output, "installed\n") << what;
    EXPECT_TRUE(store.verify("new", true)->empty()) << what;
    ASSERT_TRUE(store.sweep()) << what;
    EXPECT_TRUE(fs::is_empty(root / "stage")) << what;
    EXPECT_EQ(std::distance(fs::directory_iterator(root / "trees"), {}), 3) << what;
  }

  fs::path fresh(int number) {
    const fs::path root = folder / ("cache" + std::to_string(number));
    EXPECT_TRUE(test::install_small_build(Store::open(root), "old"));
    return root;
  }
};

TEST_F(Faults, KilledAtAnySystemCallLosesNothingAndTheNextRunSucceeds) {
  int number = 0, killed = 0;
  for (const auto& [call, count] : calls_of_an_install(folder.path())) {
    if (call == "exit_group" || call == "execve") continue;
    for (int when = 1; when <= count; ++when) {
      if (++number % 7 != 0 && !all) continue;
      const fs::path root = fresh(number);
      const std::string inject = "inject=" + call + ":signal=SIGKILL:when=" + std::to_string(when);
      const ChildOutcome outcome =
          run({"strace", "-f", "-qq", "-o", "/dev/null", "-e", inject, child(), root.native(), "new"});
      killed += outcome.signal == 9 || outcome.exit_code == 137;
      expect_sound(root, inject);
      fs::remove_all(root);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(killed, all ? 100 : 15);
  RecordProperty("killed", killed);
}

TEST_F(Faults, AFailingDiskIsATypedErrorAndLosesNothing) {
  const auto calls = calls_of_an_install(folder.path());
  int number = 0, failed = 0;
  for (const char* call : {"write", "pwrite64", "fsync", "rename", "link", "symlink", "mkdir", "fchmod"}) {
    const auto found = calls.find(call);
    for (int when = 1; found != calls.end() && when <= found->second; ++when) {
      for (const char* error : {"ENOSPC", "EIO"}) {
        if (++number % 3 != 0 && !all) continue;
        const fs::path root = fresh(number);
        const std::string inject =
            std::string("inject=") + call + ":error=" + error + ":when=" + std::to_string(when);
        const ChildOutcome outcome =
            run({"strace", "-f", "-qq", "-o", "/dev/null", "-e", inject, child(), root.native(), "new"});
        EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 3) << inject << " " << outcome.signal;
        if (outcome.exit_code == 3) {
          ++failed;
          EXPECT_EQ(outcome.output.substr(0, 4), "EH-F") << inject;
          if (std::string_view(error) == "ENOSPC") {
            EXPECT_EQ(outcome.output, "EH-F15\n") << inject;
          }
        }
        expect_sound(root, inject);
        fs::remove_all(root);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(failed, all ? 30 : 10);
}

}  // namespace
}  // namespace enginehost::cache
