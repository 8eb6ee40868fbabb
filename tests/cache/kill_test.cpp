// The installing process is killed, or the disk fails, at one system call after another.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include "base/child_process.hpp"
#include "cache/check.hpp"
#include "cache/store.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;

std::string child() { return test::build_path("/tests/cache_install_child"); }

ChildOutcome run(std::vector<std::string> argv) {
  ChildRequest request;
  request.argv = std::move(argv);
  request.environment = {"LD_PRELOAD", "ASAN_OPTIONS=detect_leaks=0"};
  auto outcome = run_child(request);
  EXPECT_TRUE(outcome);
  return outcome ? *outcome : ChildOutcome{};
}

// The operation of the child, and the conditions before and after it.
struct Operation {
  const char* name;
  const char* argument;  // of the child
  const char* says;      // without a failure
  // Prepares the cache for the operation; "old" is installed there already.
  std::function<void(const fs::path& root)> prepare;
};

void damage(const fs::path& file, std::string_view bytes) {
  ::chmod(file.c_str(), 0644);
  test::write_text(file, bytes);
}

const std::vector<Operation> operations{
    {"Install", "install", "installed\n", [](const fs::path&) {}},
    {"Repair", "repair", "repaired\n",
     [](const fs::path& root) {
       const auto installed = test::install_small_build(Store::open(root), "new");
       ASSERT_TRUE(installed);
       damage(installed->folder / "lib/plugin-new.so.1", test::library_bytes("plugin nex"));
       fs::remove(installed->folder / "lib/shared.so");
       fs::remove(root / "trees" / installed->trees.at(1) / "NOTICE");
       test::write_text(installed->folder / "lib/stranger.so", "x");
     }},
    {"Collect", "gc", "collected\n",
     [](const fs::path& root) {
       const auto installed = test::install_small_build(Store::open(root), "new");
       ASSERT_TRUE(installed);
       const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
       ::utimensat(AT_FDCWD, (root / "leases" / (installed->digest + ".lk")).c_str(), times, 0);
       const fs::path ref = root / "refs/new.ref";
       std::string text = test::read_text(ref);
       const std::size_t at = text.find("installed_at ");
       text.replace(at, text.find('\n', at) - at, "installed_at 1000000000");
       test::write_text(ref, text);
       fs::create_directories(root / "stage/dead/s1/view");
       const Store store = Store::open(root);
       auto stage = store.stage("orphan");
       ASSERT_TRUE(stage && test::publish(store, *stage, "orphan", {{"lib/orphan.so.1", "nobody's"}}));
     }},
};

class Faults : public testing::TestWithParam<Operation> {
 protected:
  test::TemporaryFolder folder;
  bool all = std::getenv("ENGINEHOST_EXHAUSTIVE") != nullptr;

  void SetUp() override {
    if (!run({"strace", "-V"}).succeeded()) GTEST_SKIP() << "strace is not installed";
  }
  std::vector<std::string> command(const fs::path& root) const {
    return {child(), root.native(), "new", GetParam().argument};
  }
  ChildOutcome run_with(const std::string& inject, const fs::path& root) const {
    std::vector<std::string> argv{"strace", "-f", "-qq", "-o", "/dev/null", "-e", inject};
    for (const std::string& part : command(root)) argv.push_back(part);
    return run(argv);
  }

  // The number of each system call that the child makes.
  std::map<std::string, int> calls() {
    const fs::path root = fresh(0);
    std::vector<std::string> argv{"strace", "-f", "-qq", "-o", (folder / "trace").native()};
    for (const std::string& part : command(root)) argv.push_back(part);
    EXPECT_EQ(run(argv).output, GetParam().says);
    std::map<std::string, int> calls;
    std::istringstream lines(test::read_text(folder / "trace"));
    for (std::string pid, rest; lines >> pid && std::getline(lines >> std::ws, rest);) {
      const std::size_t open = rest.find('(');
      if (open != std::string::npos && rest.find_first_of(" <+-") > open) ++calls[rest.substr(0, open)];
    }
    return calls;
  }

  fs::path fresh(int number) {
    const fs::path root = folder / ("cache" + std::to_string(number));
    EXPECT_TRUE(test::install_small_build(Store::open(root), "old"));
    GetParam().prepare(root);
    return root;
  }

  static void expect_no_violation(const fs::path& root, bool at_rest, const std::string& what) {
    CheckOptions options;
    options.at_rest = at_rest;
    const auto violations = check(root, options);
    ASSERT_TRUE(violations) << what;
    for (const Violation& violation : *violations)
      ADD_FAILURE() << what << ": " << violation.invariant << " " << violation.build << " "
                    << name_of(violation.problem.kind) << " " << violation.problem.path;
  }

  // After any failure the installed builds are still there and intact, the same operation and an install
  // succeed, and nothing is left over.
  void expect_sound(const fs::path& root, const std::string& what) {
    const Store store = Store::open(root);
    const auto kept = store.verify("old", true);
    ASSERT_TRUE(kept) << what;
    EXPECT_TRUE(kept->empty()) << what;
    const bool repairing = std::string_view(GetParam().name) == "Repair";
    if (!repairing) expect_no_violation(root, false, what);
    const ChildOutcome again = run(command(root));
    EXPECT_EQ(again.output, GetParam().says) << what;
    expect_no_violation(root, false, what + ", again");
    const ChildOutcome installed = run({child(), root.native(), "new"});
    EXPECT_EQ(installed.output, "installed\n") << what;
    ASSERT_TRUE(store.sweep()) << what;
    expect_no_violation(root, true, what + ", at rest");
    EXPECT_EQ(std::distance(fs::directory_iterator(root / "trees"), {}), 3) << what;
    EXPECT_TRUE(store.verify("new", true)->empty()) << what;
  }
};

TEST_P(Faults, KilledAtAnySystemCallLosesNothingAndTheNextRunSucceeds) {
  int number = 0, killed = 0;
  for (const auto& [call, count] : calls()) {
    if (call == "exit_group" || call == "execve") continue;
    for (int when = 1; when <= count; ++when) {
      if (++number % 9 != 0 && !all) continue;
      const fs::path root = fresh(number);
      const std::string inject = "inject=" + call + ":signal=SIGKILL:when=" + std::to_string(when);
      const ChildOutcome outcome = run_with(inject, root);
      killed += outcome.signal == 9 || outcome.exit_code == 137;
      expect_sound(root, inject);
      fs::remove_all(root);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(killed, all ? 100 : 12);
  RecordProperty("killed", killed);
  std::printf("[          ] %s: killed at %d of %d system calls\n", GetParam().name, killed, number);
}

TEST_P(Faults, AFailingDiskIsATypedErrorAndLosesNothing) {
  const auto pluralize = calls();
  int number = 0, failed = 0;
  std::vector<const char*> errors{"ENOSPC", "EIO"};
  std::vector<const char*> faulty{"write", "pwrite64", "fsync",  "rename",   "link", "symlink",
                                  "mkdir", "fchmod",   "unlink", "unlinkat", "rmdir"};
  if (all) {
    errors.insert(errors.end(), {"EDQUOT", "EROFS", "EMFILE", "EINTR"});
    faulty.insert(faulty.end(),
                  {"openat", "ftruncate", "close", "fdatasync", "flock", "utimensat", "read", "pread64"});
  }
  for (const char* call : faulty) {
    const auto found = pluralize.find(call);
    for (int when = 1; found != pluralize.end() && when <= found->second; ++when) {
      for (const char* error : errors) {
        if (++number % 5 != 0 && !all) continue;
        const fs::path root = fresh(number);
        const std::string inject =
            std::string("inject=") + call + ":error=" + error + ":when=" + std::to_string(when);
        const ChildOutcome outcome = run_with(inject, root);
        // 127: the dynamic loader's own calls failed.
        EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 3 || (all && outcome.exit_code == 127))
            << inject << " " << outcome.signal << " " << outcome.output << outcome.error;
        if (outcome.exit_code == 3) {
          ++failed;
          EXPECT_EQ(outcome.output.substr(0, 4), "EH-F") << inject;
          const std::string_view name(call);
          if (std::string_view(error) == "ENOSPC" && name != "openat" && name != "read" &&
              name != "pread64" && name != "flock") {
            EXPECT_EQ(outcome.output, "EH-F15\n") << inject;
          }
        }
        expect_sound(root, inject);
        fs::remove_all(root);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(failed, 0);
  std::printf("[          ] %s: %d of %d faults reported as typed errors, the rest had no effect\n",
              GetParam().name, failed, number);
}

INSTANTIATE_TEST_SUITE_P(Of, Faults, testing::ValuesIn(operations),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace enginehost::cache
