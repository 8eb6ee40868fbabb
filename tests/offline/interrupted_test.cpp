// The importing or exporting process is killed, or one of its calls fails, at one system call after another.
#include <cstdlib>
#include <map>
#include <sstream>

#include "base/child_process.hpp"
#include "host/offline/parts.hpp"
#include "tests/offline/site.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;

const std::string child = test::build_path("/tests/offline_child");

ChildOutcome run(std::vector<std::string> argv) {
  ChildRequest request;
  request.argv = std::move(argv);
  request.environment = {"LD_PRELOAD", "ASAN_OPTIONS=detect_leaks=0"};
  auto outcome = run_child(request);
  EXPECT_TRUE(outcome);
  return outcome ? *outcome : ChildOutcome{};
}

class SystemCalls : public test::SiteTest {
 protected:
  bool all = std::getenv("ENGINEHOST_EXHAUSTIVE") != nullptr;
  fs::path file;
  int number = 0;

  void SetUp() override {
    if (!run({"strace", "-V"}).succeeded()) GTEST_SKIP() << "strace is not installed";
    file = bundle({"sample-1", "sample-arm"});
  }

  // The number of each system call that the command makes.
  std::map<std::string, int> calls_of(const std::vector<std::string>& command) {
    std::vector<std::string> traced{"strace", "-f", "-qq", "-o", (folder / "trace").native()};
    traced.insert(traced.end(), command.begin(), command.end());
    EXPECT_EQ(run(traced).output, "done\n");
    std::map<std::string, int> calls;
    std::istringstream lines(test::read_text(folder / "trace"));
    for (std::string pid, rest; lines >> pid && std::getline(lines >> std::ws, rest);) {
      const std::size_t open = rest.find('(');
      if (open != std::string::npos && rest.find_first_of(" <+-") > open) ++calls[rest.substr(0, open)];
    }
    for (const char* not_ours : {"exit_group", "execve"}) calls.erase(not_ours);
    return calls;
  }

  static ChildOutcome injected(const std::string& inject, const std::vector<std::string>& command) {
    std::vector<std::string> traced{"strace", "-f", "-qq", "-o", "/dev/null", "-e", inject};
    traced.insert(traced.end(), command.begin(), command.end());
    return run(traced);
  }

  // After any failure the visible builds are whole, and the next run succeeds and leaves nothing behind.
  void expect_import_sound(const fs::path& cache, const std::string& what) {
    const cache::Store store = cache::Store::open(cache);
    for (const cache::Installed& build : store.list()) {
      const auto problems = store.verify(build.build, true);
      ASSERT_TRUE(problems) << what;
      EXPECT_TRUE(problems->empty()) << what;
    }
    EXPECT_EQ(run({child, "import", file.native(), cache.native()}).output, "done\n") << what;
    for (const char* build : {"sample-1", "sample-arm"}) {
      const auto problems = store.verify(build, true);
      ASSERT_TRUE(problems) << what << " " << problems.error().code;
      EXPECT_TRUE(problems->empty()) << what;
    }
    ASSERT_TRUE(store.sweep()) << what;
    EXPECT_TRUE(fs::is_empty(cache / "stage")) << what;
    EXPECT_EQ(std::distance(fs::directory_iterator(cache / "trees"), {}), 3) << what;
    fs::remove_all(cache);
  }

  // The bundle is missing, the old one, or the new one; the next run writes it and leaves nothing else.
  void expect_export_sound(const fs::path& target, const std::string& what) {
    std::error_code error;
    if (fs::exists(parts_list_of(target), error)) {
      EXPECT_TRUE(list_of_bundle(target)) << what;
    }
    ASSERT_EQ(run(export_command(target)).output, "done\n") << what;
    std::string joined;
    for (int part = 1; part <= parts; ++part)
      joined += test::read_text(target.native() + ".00" + std::to_string(part));
    EXPECT_EQ(sha256_hex(joined), whole) << what;
    for (const auto& left : fs::directory_iterator(target.parent_path()))
      EXPECT_NE(left.path().extension(), ".unfinished") << what;
    fs::remove_all(target.parent_path());
  }
  std::vector<std::string> export_command(const fs::path& target) const {
    return {child, "export", target.native(), site.settings.cache_folder.native(), "sample-1"};
  }
  fs::path fresh_target() {
    const fs::path place = folder / ("out" + std::to_string(number));
    fs::create_directories(place);
    return place / "lab.bundle";
  }
  void make_reference() {
    const fs::path target = folder / "reference/lab.bundle";
    fs::create_directories(target.parent_path());
    ASSERT_EQ(run(export_command(target)).output, "done\n");
    std::string joined;
    for (parts = 0; fs::exists(target.native() + ".00" + std::to_string(parts + 1));)
      joined += test::read_text(target.native() + ".00" + std::to_string(++parts));
    ASSERT_GT(parts, 2);
    whole = sha256_hex(joined);
  }

  int parts = 0;
  std::string whole;
};

TEST_F(SystemCalls, AnImportKilledAtAnyCallLosesNothing) {
  int killed = 0;
  for (const auto& [call, count] : calls_of({child, "import", file.native(), (folder / "counted").native()}))
    for (int when = 1; when <= count; ++when) {
      if (++number % 7 != 0 && !all) continue;
      const fs::path cache = folder / ("cache" + std::to_string(number));
      const std::string inject = "inject=" + call + ":signal=SIGKILL:when=" + std::to_string(when);
      const ChildOutcome outcome = injected(inject, {child, "import", file.native(), cache.native()});
      killed += outcome.signal == 9 || outcome.exit_code == 137;
      expect_import_sound(cache, inject);
      if (HasFailure()) return;
    }
  EXPECT_GT(killed, all ? 300 : 40);
  RecordProperty("killed", killed);
}

TEST_F(SystemCalls, AnImportWithAFailedCallHasADiagnosisAndLosesNothing) {
  int failed = 0;
  const auto calls = calls_of({child, "import", file.native(), (folder / "counted").native()});
  for (const char* call : {"read", "write", "openat", "fsync", "rename", "link", "symlink", "mkdir", "chmod",
                           "fchmod", "ftruncate", "close", "flock"})
    for (int when = 1; calls.contains(call) && when <= calls.at(call); ++when)
      for (const char* error : {"ENOSPC", "EIO", "EMFILE", "EROFS", "EINTR"}) {
        if (++number % 31 != 0 && !all) continue;
        const fs::path cache = folder / ("cache" + std::to_string(number));
        const std::string inject =
            std::string("inject=") + call + ":error=" + error + ":when=" + std::to_string(when);
        const ChildOutcome outcome = injected(inject, {child, "import", file.native(), cache.native()});
        // 127: the loader could not map a library of the child itself; 1: its first read failed.
        EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 3 || outcome.exit_code == 127)
            << inject << " " << outcome.exit_code << " " << outcome.signal << outcome.error;
        if (outcome.exit_code == 3) {
          ++failed;
          EXPECT_EQ(outcome.output.substr(0, 3), "EH-") << inject;
          EXPECT_NE(outcome.output, "EH-P99\n") << inject;
        }
        expect_import_sound(cache, inject);
        if (HasFailure()) return;
      }
  EXPECT_GT(failed, all ? 100 : 4);
  RecordProperty("failed", failed);
}

TEST_F(SystemCalls, AnExportKilledAtAnyCallLeavesABundleOrNone) {
  make_reference();
  int killed = 0;
  for (const auto& [call, count] : calls_of(export_command(folder / "reference/lab.bundle")))
    for (int when = 1; when <= count; ++when) {
      if (++number % 7 != 0 && !all) continue;
      const fs::path target = fresh_target();
      const std::string inject = "inject=" + call + ":signal=SIGKILL:when=" + std::to_string(when);
      const ChildOutcome outcome = injected(inject, export_command(target));
      killed += outcome.signal == 9 || outcome.exit_code == 137;
      expect_export_sound(target, inject);
      if (HasFailure()) return;
    }
  EXPECT_GT(killed, all ? 100 : 15);
  RecordProperty("killed", killed);
}

TEST_F(SystemCalls, AnExportWithAFailedCallHasADiagnosisAndNoHalfBundle) {
  make_reference();
  int failed = 0;
  const auto calls = calls_of(export_command(folder / "reference/lab.bundle"));
  for (const char* call :
       {"read", "write", "openat", "fsync", "rename", "ftruncate", "flock", "close", "unlink"})
    for (int when = 1; calls.contains(call) && when <= calls.at(call); ++when)
      for (const char* error : {"ENOSPC", "EIO", "EMFILE", "EROFS", "EINTR"}) {
        if (++number % 13 != 0 && !all) continue;
        const fs::path target = fresh_target();
        const std::string inject =
            std::string("inject=") + call + ":error=" + error + ":when=" + std::to_string(when);
        const ChildOutcome outcome = injected(inject, export_command(target));
        EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 3 || outcome.exit_code == 127)
            << inject << " " << outcome.exit_code << " " << outcome.signal << outcome.error;
        if (outcome.exit_code == 3) {
          ++failed;
          EXPECT_EQ(outcome.output.substr(0, 3), "EH-") << inject;
          EXPECT_NE(outcome.output, "EH-P99\n") << inject;
        }
        expect_export_sound(target, inject);
        if (HasFailure()) return;
      }
  EXPECT_GT(failed, all ? 30 : 4);
  RecordProperty("failed", failed);
}

}  // namespace
}  // namespace enginehost::offline
