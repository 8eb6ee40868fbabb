// A publisher's commands are killed, or the disk fails them, before each call that changes names or contents.
// lint still accepts the repository, and the next commands succeed.
#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/publisher.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* add_again =
    "engine-manifest add repository toy --engine reference --version 1.0.1 --flavor cpu --license toy "
    "--license-id "
    "Apache-2.0 --plugin "
    "libengine_toy.so";
constexpr const char* sign = "engine-manifest sign repository --key key.key";
constexpr const char* publish = "engine-manifest publish repository web";

const std::set<std::string> changing{"rename", "renameat", "renameat2", "unlink",
                                     "link",   "linkat",   "sendfile",  "copy_file_range"};

struct Step {
  const char* name;
  std::string before;  // of the command, after a first build was added, signed and published
  std::string command;
};

class KilledPublisher : public Publisher, public testing::WithParamInterface<Step> {
 protected:
  void SetUp() override {
    Publisher::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!can_trace()) GTEST_SKIP() << "strace cannot trace here";
    sh("engine-manifest init repository --name Toy\n"
       "engine-manifest add repository toy --engine reference --version 1.0.0 --flavor cpu --license toy "
       "--license-id "
       "Apache-2.0 --plugin "
       "libengine_toy.so\n"
       "minisign -G -W -p key.pub -s key.key\n" +
       std::string(sign) + "\n" + publish + "\n" + GetParam().before +
       "\nmkdir sound; cp -a repository web sound");
  }
  // The number of times that the command makes each of these calls.
  std::map<std::string, int> calls(const std::set<std::string>& wanted) {
    sh("strace -f -qq -o trace " + GetParam().command + "\nrm -rf repository web; cp -a sound/* .");
    std::map<std::string, int> calls;
    std::istringstream lines(read_text(publisher_ / "trace"));
    for (std::string process, rest; lines >> process && std::getline(lines >> std::ws, rest);)
      if (const std::string call = rest.substr(0, rest.find('(')); wanted.contains(call)) ++calls[call];
    return calls;
  }
  // Runs the command under strace, which injects `how`.
  void disturb(const std::string& how) {
    sh("strace -f -qq -o /dev/null -e inject=" + how + " " + GetParam().command + " >said 2>&1 || true");
    sh("engine-manifest lint repository; engine-manifest lint web");
    EXPECT_THAT(said_, HasSubstr("0 errors, 0 warnings")) << how << "\n" << read_text(publisher_ / "said");
    sh(std::string(add_again) + "\n" + sign + "\n" + publish + "\nengine-manifest lint repository\n" +
       "[ -z \"$(find . -name '.adding*' -o -name '.web.new-*')\" ]\n"
       "rm -rf repository web; cp -a sound/* .");
    EXPECT_THAT(said_, HasSubstr("0 errors, 0 warnings")) << how;
  }
};

TEST_P(KilledPublisher, LosesNothingAndTheNextCommandSucceeds) {
  int killed = 0;
  for (const auto& [call, count] : calls(changing))
    for (int when = 1; when <= count && !HasFailure(); ++when, ++killed)
      disturb(call + ":signal=SIGKILL:when=" + std::to_string(when));
  EXPECT_GE(killed, 4);
  std::printf("[          ] %s: killed at %d calls\n", GetParam().name, killed);
}

TEST_P(KilledPublisher, LosesNothingOnAFullDisk) {
  for (const auto& [call, count] : calls(changing))
    for (int when = 1; when <= count && !HasFailure(); when += 2)
      disturb(call + ":error=ENOSPC:when=" + std::to_string(when));
}

// An unreadable folder does not count as empty: the index would list nothing any more.
TEST_P(KilledPublisher, LosesNothingOnAFailingDisk) {
  const int step = std::getenv("ENGINEHOST_EXHAUSTIVE") != nullptr ? 1 : 5;
  for (const auto& [call, count] : calls({"getdents64", "newfstatat", "statx", "read"}))
    for (int when = 1; when <= count && !HasFailure(); when += step)
      disturb(call + ":error=EIO:when=" + std::to_string(when));
}

// The same archive a second time, under another version. Its file is in the repository already.
INSTANTIATE_TEST_SUITE_P(Of, KilledPublisher,
                         testing::Values(Step{"Add", "", add_again}, Step{"Sign", add_again, sign},
                                         Step{"Publish", std::string(add_again) + "\n" + sign, publish}),
                         [](const auto& step) { return std::string(step.param.name); });

}  // namespace
}  // namespace enginehost::test
