// Left-over sentinels come from processes that really die.
#include "host/history/sentinel.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/process.hpp"
#include "host/binary/binary.hpp"
#include "host/history/program.hpp"
#include "tests/history/folder.hpp"
#include "tests/support/posix/dying_child.hpp"

namespace enginehost::history {
namespace {

std::size_t failed_load_libraries(const Folder& folder) {
  std::size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder.path / "running", error), end; !error && at != end; ++at)
    ++count;
  return count;
}

// Counts sentinels under their final name; one that is being raised has another.
std::size_t raised(const Folder& folder) {
  std::size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder.path / "running", error), end; !error && at != end; ++at)
    count += at->path().extension() == ".json" ? 1u : 0u;
  return count;
}

// Raises a sentinel in a child, which enters a phase and dies there.
void die_in(const Folder& folder, const char* phase) {
  test::in_dying_child([&] {
    auto sentinel = Sentinel::raise(folder.path, "b", "d1", "dlopen");
    if (sentinel && sentinel->enter(phase)) test::die();
  });
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
  EXPECT_EQ(failed_load_libraries(folder), 0u);
}

TEST(SentinelTest, ACrashInTheCallersCodeIsReportedWithItsPhase) {
  Folder folder;
  EXPECT_FALSE(standing_here());
  const auto other = Sentinel::raise(folder.path, "a", "d0", "dlopen");
  const int code = 0;
  set_running_here(&code);
  auto sentinel = Sentinel::raise(folder.path, "b", "d1", "dlopen");
  ASSERT_TRUE(other && sentinel && sentinel->enter("create"));
  const auto standing = standing_here();
  ASSERT_TRUE(standing);
  EXPECT_EQ(standing->build, "b");
  EXPECT_EQ(standing->phase, "create");
  sentinel->lower();
  set_running_here(nullptr);
  ASSERT_TRUE(standing_here()) << "of a thread that runs none, any";
  EXPECT_EQ(standing_here()->build, "a");
}

TEST(SentinelTest, ALivingProcessIsNoCrash) {
  Folder folder;
  auto sentinel = Sentinel::raise(folder.path, "b", "d1", "dlopen");
  ASSERT_TRUE(sentinel);
  EXPECT_TRUE(collect_crashes(folder.path).empty());
  EXPECT_EQ(failed_load_libraries(folder), 1u);
  sentinel->lower();
  EXPECT_EQ(failed_load_libraries(folder), 0u);
  EXPECT_TRUE(collect_crashes(folder.path).empty());
}

TEST(SentinelTest, IsLoweredWithItsOwner) {
  Folder folder;
  {
    auto sentinel = Sentinel::raise(folder.path, "b", "d1", "dlopen");
    ASSERT_TRUE(sentinel);
    Sentinel moved = std::move(*sentinel);
    EXPECT_EQ(failed_load_libraries(folder), 1u);
  }
  EXPECT_EQ(failed_load_libraries(folder), 0u);
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
  EXPECT_EQ(failed_load_libraries(folder), 0u);
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

TEST(SentinelTest, TwoInOneProcessAreIndependent) {
  Folder folder;
  auto one = Sentinel::raise(folder.path, "b", "d1", "dlopen");
  auto two = Sentinel::raise(folder.path, "b", "d1", "dlopen");
  ASSERT_TRUE(one && two);
  EXPECT_EQ(failed_load_libraries(folder), 2u);
}

// Runs `body` with a sentinel in a child that ends in its own way.
template <class Body>
int end_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) body();
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(SentinelTest, ExitWithoutClosingTheEngineIsNoCrash) {
  Folder folder;
  end_of_child([&] {
    static auto sentinel = new Result<Sentinel>(Sentinel::raise(folder.path, "b", "d1", "warmup"));
    ::exit(*sentinel ? 0 : 9);
  });
  EXPECT_TRUE(collect_crashes(folder.path).empty());
  EXPECT_EQ(failed_load_libraries(folder), 0u);
}

TEST(SentinelTest, ExitFromTheBuildsOwnCodeIsACrash) {
  Folder folder;
  end_of_child([&] {
    const int code = 0, other = 0;
    set_running_here(&other);
    static auto ended = new Result<Sentinel>(Sentinel::raise(folder.path, "other", "d2", "warmup"));
    set_running_here(&code);
    static auto sentinel = new Result<Sentinel>(Sentinel::raise(folder.path, "b", "d1", "create"));
    ::exit(*sentinel && *ended ? 0 : 9);
  });
  const auto crashes = collect_crashes(folder.path);
  ASSERT_EQ(crashes.size(), 1u);
  EXPECT_EQ(crashes[0].build, "b");
  EXPECT_EQ(crashes[0].phase, "create");
}

TEST(SentinelTest, ExitWhileAnotherThreadRunsTheBuildIsNoCrash) {
  Folder folder;
  end_of_child([&] {
    const int code = 0;
    std::thread([&] {
      set_running_here(&code);
      static auto sentinel = new Result<Sentinel>(Sentinel::raise(folder.path, "b", "d1", "create"));
      if (!*sentinel) ::_exit(9);
    }).join();
    set_running_here(&code);
    set_running_here(nullptr);
    ::exit(0);
  });
  EXPECT_TRUE(collect_crashes(folder.path).empty());
  EXPECT_EQ(failed_load_libraries(folder), 0u);
}

TEST(SentinelTest, ACrashNamesTheProgramAndItsBuild) {
  Folder folder;
  end_of_child([&] {
    auto sentinel = Sentinel::raise(folder.path, "b", "d1", "create", "a1");
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
  });
  const auto crashes = collect_crashes(folder.path);
  ASSERT_EQ(crashes.size(), 1u);
  EXPECT_EQ(crashes[0].artifacts_digest, "a1");
  EXPECT_EQ(crashes[0].program, program_id());
  EXPECT_EQ(crashes[0].boot, boot_id());
}

TEST(SentinelTest, TheProgramsBuildIdIsReadFromMemory) {
  EXPECT_EQ(program_id(), executable_path() + " " + program_build_id());
  const auto read = binary::read_binary(executable_path());
  ASSERT_TRUE(read);
  EXPECT_EQ(program_build_id(), read->build_id);
}

TEST(SentinelTest, AForkedChildLeavesItsParentsSentinelRaised) {
  Folder folder;
  auto sentinel = Sentinel::raise(folder.path, "b", "d1", "create");
  ASSERT_TRUE(sentinel);
  end_of_child([&] { ::exit(0); });
  end_of_child([&] {
    sentinel->lower();
    ::_exit(0);
  });
  EXPECT_EQ(failed_load_libraries(folder), 1u);
  EXPECT_TRUE(collect_crashes(folder.path).empty());
}

TEST(SentinelTest, TwoProcessesNeverBlameEachOtherDuringConcurrentReads) {
  Folder folder;
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  const auto living = [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      auto sentinel = Sentinel::raise(folder.path, "b", "d1", "warmup");
      char byte = 0;
      ::close(go[1]);
      while (::read(go[0], &byte, 1) > 0) {
      }
      ::kill(::getpid(), SIGKILL);
    }
    return child;
  };
  const pid_t one = living(), two = living();
  while (raised(folder) < 2) std::this_thread::yield();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(collect_crashes(folder.path).empty());
  EXPECT_EQ(failed_load_libraries(folder), 2u);
  // Only the killed process is reported.
  ::kill(one, SIGKILL);
  ::waitpid(one, nullptr, 0);
  const auto crashes = collect_crashes(folder.path);
  ASSERT_EQ(crashes.size(), 1u);
  EXPECT_EQ(crashes[0].pid, one);
  EXPECT_TRUE(collect_crashes(folder.path).empty());
  ::close(go[1]);
  ::close(go[0]);
  ::waitpid(two, nullptr, 0);
  EXPECT_EQ(collect_crashes(folder.path).size(), 1u);
}

TEST(SentinelTest, AMarkerNamesTheCrashItWasWrittenFor) {
  const auto crash = crash_of(crash_marker_of(crash_while_loading("b", "d1", "a1")));
  ASSERT_TRUE(crash);
  EXPECT_EQ(crash->build, "b");
  EXPECT_EQ(crash->digest, "d1");
  EXPECT_EQ(crash->artifacts_digest, "a1");
  EXPECT_EQ(crash->phase, "load");
  EXPECT_EQ(crash->program, program_id());
  EXPECT_EQ(crash->pid, ::getpid());
  EXPECT_EQ(crash->boot, boot_id());
}

TEST(SentinelTest, AnInvalidMarkerIsNoCrash) {
  const std::string whole = crash_marker_of(crash_while_loading("b", "d1", "a1"));
  const std::string cut = whole.substr(0, whole.rfind("end\n"));
  std::string of_another_start = whole;
  const std::size_t moment = of_another_start.find("moment ");
  ASSERT_NE(moment, std::string::npos);
  of_another_start.replace(moment, of_another_start.find('\n', moment) - moment, "moment 1");
  const std::pair<const char*, std::string> words[] = {
      {"nothing", ""},
      {"another's", "something else\n"},
      {"cut", cut},
      {"of another start", of_another_start},
      {"a digest that leads elsewhere", crash_marker_of(crash_while_loading("b", "../d1", "a1"))},
      {"no digest", crash_marker_of(crash_while_loading("b", "", "a1"))},
      {"no build", crash_marker_of(crash_while_loading("", "d1", "a1"))}};
  for (const auto& [what, word] : words) EXPECT_FALSE(crash_of(word)) << what;
  EXPECT_EQ(crash_marker_of(crash_while_loading("b\nbuild c", "d1", "a1")), "")
      << "it could not be read back";
}

TEST(SentinelTest, AFolderThatCannotBeWrittenIsAnError) {
  Folder folder;
  folder.file("state", "a file where the folder should be");
  EXPECT_FALSE(Sentinel::raise(folder.path / "state", "b", "d1", "dlopen"));
  EXPECT_TRUE(collect_crashes(folder.path / "state").empty());
}

}  // namespace
}  // namespace enginehost::history
