// Row 26 of the fault plan on a real network file system: a folder that an SFTP server exports, mounted twice
// by sshfs, as on two machines. Each mount caches names and attributes of its own. There is no lock between
// them, and a rename onto an existing name fails with an unusual error. Needs sshfs, sftp-server and
// /dev/fuse.
#include <gmock/gmock.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/child_process.hpp"
#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/system_errors.hpp"
#include "cache/check.hpp"
#include "cache/sharing.hpp"
#include "cache/store.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

extern char** environ;

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;

ChildOutcome run(std::vector<std::string> argv) {
  ChildRequest request;
  request.argv = std::move(argv);
  request.environment = {"LD_PRELOAD", "ASAN_OPTIONS=detect_leaks=0"};
  request.deadline = std::chrono::seconds(60);
  auto outcome = run_child(request);
  return outcome ? *outcome : ChildOutcome{};
}

class TwoMachines : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  fs::path exported = folder / "exported", one = folder / "one", two = folder / "two";
  std::vector<pid_t> servers;

  void SetUp() override {
    constexpr const char* server = "/usr/lib/openssh/sftp-server";
    if (::access(server, X_OK) != 0) GTEST_SKIP() << "openssh-sftp-server is not installed";
    if (!run({"sshfs", "--version"}).succeeded()) GTEST_SKIP() << "sshfs is not installed";
    if (::access("/dev/fuse", R_OK | W_OK) != 0) GTEST_SKIP() << "/dev/fuse cannot be opened";
    // Replaces ssh by the server itself, over the same pipes.
    const fs::path connection = folder / "connection";
    test::write_text(connection, std::string("#!/bin/sh\nexec ") + server + "\n");
    fs::permissions(connection, fs::perms::owner_all);
    fs::create_directory(exported);
    for (const fs::path& machine : {one, two})
      if (!mount(machine, connection)) GTEST_SKIP() << "sshfs cannot mount here";
  }
  void TearDown() override {
    for (const fs::path& machine : {one, two}) run({"fusermount3", "-u", machine.native()});
    for (const pid_t server : servers) ::waitpid(server, nullptr, 0);
  }
  // sshfs stays in the foreground, as a child that the test can wait for.
  bool mount(const fs::path& machine, const fs::path& connection) {
    fs::create_directory(machine);
    std::vector<std::string> words = {
        "sshfs",         "-f", "-o", "ssh_command=" + connection.native(), "host:" + exported.native(),
        machine.native()};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t process = -1;
    if (::posix_spawnp(&process, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return false;
    struct stat below {
    }, above{};
    for (int i = 0; i < 1000; ++i) {
      if (::stat(folder.path().c_str(), &below) == 0 && ::stat(machine.c_str(), &above) == 0 &&
          above.st_dev != below.st_dev) {
        servers.push_back(process);
        return true;
      }
      if (::waitpid(process, nullptr, WNOHANG) == process) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    return false;
  }
  static Store store_on(const fs::path& machine) {
    return Store::open(machine / "cache", {}, "network_file_system_test");
  }
  // Checks the exported folder itself.
  void expect_sound() const {
    const auto violations = check(exported / "cache");
    ASSERT_TRUE(violations);
    for (const Violation& violation : *violations)
      ADD_FAILURE() << violation.invariant << " " << violation.build << " " << violation.problem.path;
  }
  // Several processes on each machine install the same build at once.
  void install_at_once(const std::string& build) const {
    const std::string child = test::build_path("/tests/cache_install_child");
    std::vector<std::thread> threads;
    std::vector<ChildOutcome> outcomes(6);
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      threads.emplace_back([&, i] {
        outcomes[i] = run({child, ((i % 2 == 0 ? one : two) / "cache").native(), build});
      });
    for (std::thread& thread : threads) thread.join();
    for (const ChildOutcome& outcome : outcomes) EXPECT_EQ(outcome.output, "installed\n") << outcome.error;
  }
};

TEST_F(TwoMachines, InstallTheSameBuildAtOnceAndBothHaveIt) {
  for (const char* build : {"first", "second", "third"}) {
    install_at_once(build);
    expect_sound();
    EXPECT_TRUE(*store_on(one).find(build));
    EXPECT_TRUE(*store_on(two).find(build));
  }
  EXPECT_FALSE(inside::locks_are_kept(one / "cache"));
}

TEST_F(TwoMachines, DoNotRemoveABuildThatTheOtherUses) {
  const auto installed = test::install_small_build(store_on(one), "used");
  ASSERT_TRUE(installed) << installed.error().code;
  {
    const auto lease = store_on(one).lease(*installed);
    ASSERT_TRUE(lease);
    // The other machine sees new names after a while.
    for (int i = 0; i < 300 && !inside::in_use(two / "cache", installed->digest); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto refused = store_on(two).remove("used");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "EH-F18");
    CollectOptions everything;
    everything.max_bytes = 0;
    const auto done = store_on(two).collect(everything);
    ASSERT_TRUE(done) << done.error().code;
    EXPECT_TRUE(done->removed.empty());
  }
  expect_sound();
}

// The name always exists, but the file behind it is replaced all the time.
TEST_F(TwoMachines, NeverSeeAStaleFileUnderAReplacedName) {
  const fs::path name = one / "name";
  test::write_text(name, "first");
  std::atomic<bool> done = false;
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i)
    writers.emplace_back([&, i] {
      const fs::path fresh = one / ("fresh" + std::to_string(i));
      while (!done) {
        test::write_text(fresh, "again");
        EXPECT_EQ(calls::rename(fresh, name), 0) << error_name(errno);
      }
    });
  int stale = 0, found = 0;
  const auto count = [&](bool seen) {
    if (seen)
      ++found;
    else if (errno == ESTALE)
      ++stale;
  };
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
       std::chrono::steady_clock::now() < end;) {
    calls::Status status{};
    const FileDescriptor opened(calls::open(name, O_RDONLY | O_CLOEXEC));
    count(opened.valid());
    count(calls::stat(name, &status) == 0);
    count(calls::access(name, F_OK) == 0);
  }
  done = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(stale, 0);
  EXPECT_GT(found, 0);
}

TEST_F(TwoMachines, ReadWhatTheOtherRepaired) {
  const auto installed = test::install_small_build(store_on(one), "hurt");
  ASSERT_TRUE(installed) << installed.error().code;
  const fs::path library = exported / installed->folder.lexically_relative(one) / "lib/plugin-hurt.so.1";
  ASSERT_TRUE(fs::exists(library));
  fs::remove(library);
  const ChildOutcome repaired =
      run({test::build_path("/tests/cache_install_child"), (two / "cache").native(), "hurt", "repair"});
  EXPECT_EQ(repaired.output, "repaired\n") << repaired.error;
  expect_sound();
  EXPECT_EQ(test::read_text(library), test::library_bytes("plugin hurt"));
}

}  // namespace
}  // namespace enginehost::cache
