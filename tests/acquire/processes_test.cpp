// Many processes at once, processes that are killed while they install, and one that must not open a socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "base/child_process.hpp"
#include "cache/check.hpp"
#include "host/acquire/description.hpp"
#include "tests/acquire/sample_build.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/paths.hpp"

extern char** environ;

namespace enginehost::acquire {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::SampleBuild;

const std::string child = test::build_path("/tests/acquire_child");

class Processes : public testing::Test {
 protected:
  // A runtime of `size` incompressible bytes, from a server with these directives.
  void offer(std::size_t size, const std::string& directives = {}, const std::string& format = "tar.gz") {
    server.emplace(directives);
    archive = test::make_archive(format, {{"lib/libruntime.so.1",
                                           "\x7f"
                                           "ELF" +
                                               test::noise(size)},
                                          {"lib/libruntime.so", "", 0777, "libruntime.so.1"},
                                          {"NOTICE", "text"}});
    test::write_text(server->root() / "runtime", archive);
    test::give_plugin(sample, folder / "repository");
    sample.runtime().artifacts = {
        SampleBuild::artifact(archive, format, {SampleBuild::url(server->url("runtime"))})};
    test::write_text(folder / "manifest.json", manifest_of(*sample.build));
  }
  std::vector<std::string> command(const fs::path& cache) const {
    return {child, (folder / "manifest.json").native(), (folder / "repository").native(), cache.native()};
  }
  static ChildOutcome run(std::vector<std::string> argv, std::vector<std::string> before = {}) {
    ChildRequest request;
    request.argv = std::move(before);
    request.argv.insert(request.argv.end(), argv.begin(), argv.end());
    request.environment = {"LD_PRELOAD", "ASAN_OPTIONS=detect_leaks=0"};
    auto outcome = run_child(request);
    EXPECT_TRUE(outcome);
    return outcome ? *outcome : ChildOutcome{};
  }
  static pid_t start(const std::vector<std::string>& argv) {
    std::vector<char*> pointers;
    for (const std::string& text : argv) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    pid_t process = -1;
    EXPECT_EQ(::posix_spawn(&process, pointers[0], nullptr, nullptr, pointers.data(), environ), 0);
    return process;
  }
  std::uint64_t bytes_sent() const {
    std::istringstream lines(server->log());
    std::uint64_t sum = 0;
    for (std::string method, path, status, rest; lines >> method >> path >> status;) {
      std::uint64_t bytes = 0;
      lines >> bytes;
      std::getline(lines, rest);
      sum += bytes;
    }
    return sum;
  }
  void expect_installed(const fs::path& cache, const std::string& what) {
    const auto problems = cache::Store::open(cache).verify(sample.build->id, true);
    ASSERT_TRUE(problems) << what << " " << problems.error().code;
    EXPECT_TRUE(problems->empty()) << what;
  }

  test::TemporaryFolder folder;
  std::optional<test::NginxServer> server;
  SampleBuild sample;
  std::string archive;
};

TEST_F(Processes, SixteenAtOnceDownloadOnce) {
  offer(3'000'000, "limit_rate 6m;");
  std::vector<pid_t> processes;
  for (int i = 0; i < 16; ++i) processes.push_back(start(command(folder / "cache")));
  for (const pid_t process : processes) {
    int status = -1;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(server->requests("GET /runtime"), 1);
  expect_installed(folder / "cache", "16");
}

// Row 5 of the fault plan: cold caches with sixteen processes each; in every second round the process that
// downloads is killed.
TEST_F(Processes, SixteenInManyRoundsDownloadOnceWhicheverDies) {
  const int rounds = std::getenv("ENGINEHOST_EXHAUSTIVE") != nullptr ? 50 : 2;
  offer(1'000'000, "limit_rate 4m; limit_rate_after 200k;");
  std::mt19937 random(20261121);
  for (int round = 0; round < rounds; ++round) {
    const fs::path cache = folder / ("cache" + std::to_string(round));
    const std::uint64_t before = bytes_sent();
    std::vector<pid_t> processes;
    for (int i = 0; i < 16; ++i) processes.push_back(start(command(cache)));
    pid_t killed = -1;
    if (round % 2 == 1) {
      std::this_thread::sleep_for(
          std::chrono::milliseconds(std::uniform_int_distribution<int>(20, 400)(random)));
      const fs::path lock = cache / ("locks/archive-" + sample.runtime().artifacts[0].sha256 + ".lk");
      std::error_code error;
      const std::string text = fs::exists(lock, error) ? test::read_text(lock) : "";
      if (text.size() > 24) killed = static_cast<pid_t>(std::strtol(text.c_str() + 4, nullptr, 10));
      if (killed > 0 && testing::Value(processes, testing::Contains(killed))) ::kill(killed, SIGKILL);
    }
    int failures = 0;
    for (const pid_t process : processes) {
      int status = -1;
      ::waitpid(process, &status, 0);
      failures += status != 0 ? 1 : 0;
    }
    EXPECT_LE(failures, killed > 0 ? 1 : 0) << round;
    // At most a part of what a server had sent when its reader died is sent again.
    EXPECT_LE(bytes_sent() - before, archive.size() * 105 / 100 + (killed > 0 ? archive.size() : 0)) << round;
    expect_installed(cache, std::to_string(round));
    const auto violations = cache::check(cache);
    EXPECT_TRUE(violations && violations->empty()) << round;
    fs::remove_all(cache);
    if (HasFailure()) return;
  }
}

TEST_F(Processes, TheOthersGoOnWhenTheOneThatDownloadsIsKilled) {
  offer(3'000'000, "limit_rate 2m; limit_rate_after 500k;");
  std::vector<pid_t> processes;
  for (int i = 0; i < 4; ++i) processes.push_back(start(command(folder / "cache")));
  const fs::path partial = folder / "cache/partial" / sample.runtime().artifacts[0].sha256;
  std::error_code error;
  for (int i = 0; i < 500 && (!fs::exists(partial, error) || fs::file_size(partial, error) < 300'000); ++i)
    std::this_thread::sleep_for(5ms);
  // The holder of the artifact's lock writes its pid there.
  const std::string lock =
      test::read_text(folder / ("cache/locks/archive-" + sample.runtime().artifacts[0].sha256 + ".lk"));
  const auto holder = static_cast<pid_t>(std::strtol(lock.c_str() + 4, nullptr, 10));
  ASSERT_THAT(processes, testing::Contains(holder)) << lock;
  ::kill(holder, SIGKILL);
  int failures = 0;
  for (const pid_t process : processes) {
    int status = -1;
    ::waitpid(process, &status, 0);
    failures += status != 0 ? 1 : 0;
  }
  EXPECT_EQ(failures, 1) << "only the killed one";
  expect_installed(folder / "cache", "killed owner");
  EXPECT_THAT(server->log(), testing::HasSubstr("bytes=")) << "what had arrived was not fetched again";
  EXPECT_LT(bytes_sent(), archive.size() + 2'000'000);
}

TEST_F(Processes, KilledAtAnyMomentLosesNothingAndTheNextRunSucceeds) {
  offer(600'000, "limit_rate 3m; limit_rate_after 100k;");
  for (int number = 0; number < 14; ++number) {
    const fs::path cache = folder / ("cache" + std::to_string(number));
    const pid_t process = start(command(cache));
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + 23 * number));
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    const auto found = cache::Store::open(cache).find(sample.build->id);
    ASSERT_TRUE(found) << number << " " << found.error().code;
    EXPECT_THAT(run(command(cache)).output, testing::StartsWith("installed")) << number;
    expect_installed(cache, std::to_string(number));
  }
}

// Without a list of chunks: the bytes of each connection stay.
TEST_F(Processes, KilledWithSeveralConnectionsTheNextRunFetchesLittleMore) {
  offer(24'000'000, "limit_rate 3m;");
  const fs::path cache = folder / "cache";
  std::vector<std::string> in_parts = command(cache);
  in_parts.emplace_back("in-parts");
  const pid_t process = start(in_parts);
  const fs::path partial = cache / "partial" / sample.runtime().artifacts[0].sha256;
  struct stat status {};
  for (int i = 0; i < 2000 && status.st_blocks * 512 < 13'000'000; ++i) {
    std::this_thread::sleep_for(5ms);
    static_cast<void>(::stat(partial.c_str(), &status));
  }
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  ASSERT_GT(status.st_size, status.st_blocks * 512 + 1'000'000) << "one connection only: nothing is shown";
  const std::string output = run(in_parts).output;
  ASSERT_THAT(output, testing::StartsWith("installed "));
  const auto fetched = std::strtoull(output.c_str() + 10, nullptr, 10);
  EXPECT_LT(fetched, archive.size() - 13'000'000 + (5u << 20)) << "of " << archive.size();
  expect_installed(cache, "killed in parts");
}

TEST_F(Processes, KilledWhileRangesArriveTheNextRunFetchesTheRest) {
  server.emplace("limit_rate 8m;");
  const std::vector<test::ArchiveEntry> entries{{"share/large", test::noise(6'000'000)},
                                                {"lib/a.so", test::noise(6'000'000, 2)},
                                                {"share/other", test::noise(6'000'000, 3)},
                                                {"lib/b.so", test::noise(6'000'000, 4)}};
  archive = test::make_archive("zip", entries);
  test::write_text(server->root() / "runtime", archive);
  test::give_plugin(sample, folder / "repository");
  sample.runtime().artifacts = {
      SampleBuild::artifact(archive, "zip", {SampleBuild::url(server->url("runtime"))})};
  test::name_files(sample.runtime().artifacts[0], entries, {"lib/*"}, server->root() / "runtime");
  test::write_text(folder / "manifest.json", manifest_of(*sample.build));
  for (int number = 0; number < 6; ++number) {
    const fs::path cache = folder / ("cache" + std::to_string(number));
    const pid_t process = start(command(cache));
    std::this_thread::sleep_for(std::chrono::milliseconds(50 + 230 * number));
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    std::uint64_t there = 0;
    if (fs::exists(cache / "partial"))
      for (const auto& partial : fs::directory_iterator(cache / "partial")) there += fs::file_size(partial);
    const std::string output = run(command(cache)).output;
    ASSERT_THAT(output, testing::StartsWith("installed ")) << number;
    const auto fetched = std::strtoull(output.c_str() + 10, nullptr, 10);
    EXPECT_LT(fetched + there, 12'000'000 + 100'000u) << number << ": what had arrived was not fetched again";
    expect_installed(cache, std::to_string(number));
  }
}

class SystemCalls : public Processes {
 protected:
  bool all = std::getenv("ENGINEHOST_EXHAUSTIVE") != nullptr;
  void SetUp() override {
    if (!run({"strace", "-V"}).succeeded()) GTEST_SKIP() << "strace is not installed";
  }
  std::map<std::string, int> calls(const fs::path& cache) {
    run(command(cache), {"strace", "-f", "-qq", "-o", (folder / "trace").native()});
    std::map<std::string, int> counts;
    std::istringstream lines(test::read_text(folder / "trace"));
    for (std::string pid, rest; lines >> pid && std::getline(lines >> std::ws, rest);) {
      const std::size_t open = rest.find('(');
      if (open != std::string::npos && rest.find_first_of(" <+-") > open) ++counts[rest.substr(0, open)];
    }
    return counts;
  }
};

TEST_F(SystemCalls, KilledAtAnyCallThatChangesTheDiskTheNextRunSucceeds) {
  offer(300'000);
  int number = 0, killed = 0;
  for (const auto& [call, count] : calls(folder / "counted")) {
    static const std::vector<std::string> changing{
        "write",   "pwrite64",  "openat", "rename", "mkdir", "link",  "unlink", "unlinkat",       "fsync",
        "symlink", "ftruncate", "fchmod", "rmdir",  "close", "flock", "chmod",  "sync_file_range"};
    if (!testing::Value(call, testing::AnyOfArray(changing))) continue;
    for (int when = 1; when <= count; ++when) {
      if (++number % 7 != 0 && !all) continue;
      const fs::path cache = folder / "cache";
      const std::string inject = "inject=" + call + ":signal=SIGKILL:when=" + std::to_string(when);
      const ChildOutcome outcome =
          run(command(cache), {"strace", "-f", "-qq", "-o", "/dev/null", "-e", inject});
      killed += outcome.signal == SIGKILL || outcome.exit_code == 137 ? 1 : 0;
      const auto found = cache::Store::open(cache).find(sample.build->id);
      ASSERT_TRUE(found) << inject << " " << found.error().code;
      ASSERT_THAT(run(command(cache)).output, testing::StartsWith("installed")) << inject;
      expect_installed(cache, inject);
      fs::remove_all(cache);
    }
  }
  EXPECT_GT(killed, 10);
}

TEST_F(SystemCalls, AFullOrFailingDiskIsReportedAndLosesNothing) {
  offer(300'000);
  const auto counts = calls(folder / "counted");
  int number = 0, failed = 0;
  for (const char* call : {"write", "pwrite64", "fsync", "rename", "link", "mkdir", "ftruncate", "symlink"}) {
    const auto found = counts.find(call);
    for (int when = 1; found != counts.end() && when <= found->second; ++when) {
      // Each folder is made by different code; every seventh of the many writes is enough.
      if (++number % 7 != 0 && !all && std::string_view(call) != "mkdir") continue;
      const fs::path cache = folder / "cache";
      const std::string inject = std::string("inject=") + call + ":error=ENOSPC:when=" + std::to_string(when);
      const ChildOutcome outcome =
          run(command(cache), {"strace", "-f", "-qq", "-o", "/dev/null", "-e", inject});
      EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 3) << inject;
      if (outcome.exit_code == 3) {
        ++failed;
        // Calls are counted per thread, so the same number may hit the child's own output.
        EXPECT_TRUE(outcome.output == "EH-F15\n" ||
                    (outcome.output.empty() && std::string_view(call) == "write"))
            << inject << " " << outcome.output;
      }
      ASSERT_THAT(run(command(cache)).output, testing::StartsWith("installed")) << inject;
      expect_installed(cache, inject);
      fs::remove_all(cache);
    }
  }
  EXPECT_GT(failed, 2);
}

// A read error is no evidence against the bytes, so they are not fetched again.
TEST_F(SystemCalls, AnUnreadableDiskIsReportedAndReceivedBytesAreKept) {
  for (const char* format : {"tar.gz", "zip"}) {
    offer(300'000, {}, format);
    int failed = 0;
    for (int when = 1; when <= 12; ++when) {
      SCOPED_TRACE(format + std::to_string(when));
      const fs::path cache = folder / "cache",
                     partial = cache / "partial" / sample.runtime().artifacts[0].sha256;
      const std::string inject = "inject=pread64:error=EIO:when=" + std::to_string(when) + "+";
      const ChildOutcome outcome = run(
          command(cache), {"strace", "-f", "-qq", "-o", "/dev/null", "-P", partial.native(), "-e", inject});
      std::error_code none;
      const auto kept = fs::file_size(partial, none);
      if (outcome.exit_code == 3) {
        ++failed;
        EXPECT_EQ(outcome.output, "EH-F23\n");
        EXPECT_EQ(outcome.error, "file " + partial.native() + "\n") << "no folder whose owner could help";
        ASSERT_FALSE(none) << "thrown away";
        EXPECT_EQ(run(command(cache)).output, "installed " + std::to_string(archive.size() - kept) + "\n");
      }
      expect_installed(cache, inject);
      fs::remove_all(cache);
    }
    EXPECT_GT(failed, 0) << format;
  }
}

TEST_F(SystemCalls, OfflineOpensNoSocket) {
  offer(1000);
  auto offline = command(folder / "cache");
  offline.emplace_back("offline");
  const std::vector<std::string> watch{
      "strace", "-f", "-qq", "-e", "trace=network", "-o", (folder / "trace").native()};
  EXPECT_EQ(run(offline, watch).output, "EH-N10\n");
  EXPECT_EQ(test::read_text(folder / "trace").find("socket("), std::string::npos)
      << test::read_text(folder / "trace");
  EXPECT_THAT(run(command(folder / "cache"), watch).output, testing::StartsWith("installed"));
  EXPECT_NE(test::read_text(folder / "trace").find("socket("), std::string::npos) << "the watch itself works";
  EXPECT_EQ(run(offline, watch).output, "installed 0\n");
  EXPECT_EQ(test::read_text(folder / "trace").find("socket("), std::string::npos);
}

}  // namespace
}  // namespace enginehost::acquire
