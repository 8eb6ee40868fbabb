// Child processes on Windows: CreateProcess, a job object, and the exit codes.
#include "base/child_process.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "base/paths.hpp"
#include "base/windows/system.hpp"
#include "tests/base/temporary_folder.hpp"

namespace enginehost {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

ChildRequest fixture(std::vector<std::string> arguments, std::chrono::milliseconds deadline = 30s) {
  ChildRequest request;
  request.argv = std::move(arguments);
  request.argv.insert(request.argv.begin(), BASE_FIXTURE);
  request.deadline = deadline;
  return request;
}

// The outcome of a child; one that could not be started fails the test with the reason.
ChildOutcome ended(Result<ChildOutcome> outcome) {
  if (outcome) return std::move(*outcome);
  std::string why(outcome.error().code_text());
  for (const Evidence& fact : outcome.error().evidence)
    why += " " + std::string(fact.name()) + "=" + fact.value;
  ADD_FAILURE() << why;
  return {};
}

TEST(WindowsChild, ReportsTheExitCodeAndBothStreams) {
  const ChildOutcome outcome = ended(run_child(fixture({"say"})));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.output, "out");
  EXPECT_EQ(outcome.error, "err");
  EXPECT_FALSE(outcome.succeeded());
  EXPECT_TRUE(ended(run_child(fixture({"exit", "0"}))).succeeded());
  EXPECT_EQ(ended(run_child(fixture({"exit", "255"}))).exit_code, 255);
}

TEST(WindowsChild, ArgumentsArriveAsTheyWereGiven) {
  const std::vector<std::string> hard{"",          "a b",         "\"",        "a\\",
                                      "a b\\",     "\\\"x\\\\\"", "C:\\x y\\", "caf\u00e9 \u6f22",
                                      "tab\there", "100%PATH%",   "a\\\\b",    "^&|<>"};
  std::vector<std::string> arguments{"arguments"};
  arguments.insert(arguments.end(), hard.begin(), hard.end());
  std::string expected;
  for (const std::string& one : hard) expected += "[" + one + "]\n";
  EXPECT_EQ(ended(run_child(fixture(arguments))).output, expected);
}

TEST(WindowsChild, TheEnvironmentIsTheHostsWithTheRequestedChanges) {
  ChildRequest request = fixture({"environment", "ENGINEHOST_TEST"});
  EXPECT_EQ(ended(run_child(request)).output, "not set");
  request.environment = {"enginehost_test=caf\u00e9"};
  EXPECT_EQ(ended(run_child(request)).output, "caf\u00e9") << "names are one in upper and lower case";
  ASSERT_TRUE(::SetEnvironmentVariableW(L"EngineHost_Inherited", L"yes"));
  request = fixture({"environment", "ENGINEHOST_INHERITED"});
  EXPECT_EQ(ended(run_child(request)).output, "yes");
  request.environment = {"enginehost_inherited"};
  EXPECT_EQ(ended(run_child(request)).output, "not set");
}

TEST(WindowsChild, ReadsItsInputToTheEnd) {
  ChildRequest request = fixture({"echo"});
  EXPECT_EQ(ended(run_child(request)).output, "");
  request.input = std::string(300'000, 'x');
  request.keep_bytes = 1u << 20;
  EXPECT_EQ(ended(run_child(request)).output.size(), 300'000u);
  request = fixture({"exit", "0"});
  request.input = std::string(300'000, 'x');
  EXPECT_TRUE(ended(run_child(request)).succeeded()) << "a child need not read";
}

TEST(WindowsChild, ThePrivateChannelIsDescriptorThree) {
  ChildRequest request = fixture({"channel"});
  EXPECT_EQ(ended(run_child(request)).exit_code, 1) << "not asked for";
  request.private_channel = true;
  const ChildOutcome outcome = ended(run_child(request));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.channel, "private");
  EXPECT_EQ(outcome.output, "");
}

TEST(WindowsChild, OutputCanBeDiscarded) {
  ChildRequest request = fixture({"say"});
  request.discard_output = true;
  const ChildOutcome outcome = ended(run_child(request));
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(outcome.error, "err");
}

TEST(WindowsChild, ReportsAnExceptionsCodeAndTheMatchingSignal) {
  struct Row {
    const char* code;
    std::uint32_t exception;
    const char* like;
  };
  for (const auto& [code, exception, like] :
       {Row{"C0000005", 0xC0000005, "SIGSEGV"}, Row{"C000001D", 0xC000001D, "SIGILL"},
        Row{"C0000094", 0xC0000094, "SIGFPE"}, Row{"C0000374", 0xC0000374, "SIGABRT"},
        Row{"E06D7363", 0xE06D7363, "SIGABRT"}}) {
    const ChildOutcome outcome = ended(run_child(fixture({"exception", code})));
    EXPECT_EQ(outcome.exception, exception) << code;
    EXPECT_EQ(signal_name(outcome.signal), like) << code;
    EXPECT_EQ(outcome.exit_code, -1) << code;
    EXPECT_FALSE(outcome.succeeded());
  }
  EXPECT_EQ(ended(run_child(fixture({"null"}))).exception, 0xC0000005u);
}

TEST(WindowsChild, AChildThatHangsIsEndedAtTheDeadline) {
  const ChildOutcome outcome = ended(run_child(fixture({"hang"}, 300ms)));
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_FALSE(outcome.survived_kill);
  EXPECT_FALSE(outcome.succeeded());
  EXPECT_LT(outcome.duration, 3s);
}

TEST(WindowsChild, ACanceledOneIsEndedSoon) {
  ChildRequest request = fixture({"hang"});
  request.cancel.emplace();
  std::thread canceller([token = *request.cancel] {
    std::this_thread::sleep_for(100ms);
    token.cancel();
  });
  const ChildOutcome outcome = ended(run_child(request));
  canceller.join();
  EXPECT_TRUE(outcome.canceled);
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_LT(outcome.duration, 3s);
}

TEST(WindowsChild, EndsTheProcessesThatItStarted) {
  const ChildOutcome outcome = ended(run_child(fixture({"grandchild"})));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_LT(outcome.duration, 5s) << "the grandchild holds the pipes and writes without end";
}

TEST(WindowsChild, AMissingOrInvalidProgramIsP20WithTheNumber) {
  const TemporaryFolder folder;
  ChildRequest request;
  request.argv = {path_text(folder / "none.exe")};
  const auto missing = run_child(request);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "EH-P20");
  EXPECT_EQ(missing.error().value(Key::program), request.argv[0]);
  EXPECT_EQ(missing.error().value(Key::error), "2");
  EXPECT_EQ(missing.error().value(Key::errno_), "ENOENT");
  ASSERT_TRUE(write_file(folder / "text.exe", "this is no program at all", false));
  request.argv = {path_text(folder / "text.exe")};
  EXPECT_EQ(run_child(request).error().value(Key::error), "193");
  request.argv = {"no-program-of-this-name"};
  EXPECT_EQ(run_child(request).error().value(Key::errno_), "ENOENT");
  request.argv = {"cmd", "/c", "exit 5"};
  EXPECT_EQ(ended(run_child(request)).exit_code, 5) << "found in PATH, with .exe";
}

TEST(WindowsChild, AProgramWhoseDllIsMissingNeverStarted) {
  // The name in the import table is changed to that of a missing DLL.
  std::string bytes = read_file(BASE_FIXTURE).value();
  const std::size_t at = bytes.find("msvcrt.dll");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 10, "gone42.dll");
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "lacks.exe", bytes, false));
  ChildRequest request;
  request.argv = {path_text(folder / "lacks.exe"), "exit", "0"};
  const ChildOutcome outcome = ended(run_child(request));
  EXPECT_EQ(outcome.exit_code, 127);
  EXPECT_EQ(outcome.exception, 0xC0000135u);
}

TEST(WindowsChild, ProgramsWithNamesBeyondAsciiRun) {
  const TemporaryFolder folder;
  const std::filesystem::path program = folder / L"caf\u00e9 \u6f22\u5b57" / L"pr\u00f8gram.exe";
  ASSERT_TRUE(make_folders(program.parent_path()));
  std::filesystem::copy_file(BASE_FIXTURE, program);
  ChildRequest request;
  request.argv = {path_text(program), "exit", "7"};
  EXPECT_EQ(ended(run_child(request)).exit_code, 7);
}

}  // namespace
}  // namespace enginehost
