// The environment of a program that has more rights than its caller: none.
#include "base/environment.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/child_process.hpp"
#include "tests/base/temporary_folder.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string said(std::vector<std::string> command) {
  ChildRequest request;
  request.argv = std::move(command);
  request.environment = {"ENGINEHOST_PROBE_LAUNCHER=/tmp/anything"};
  const auto outcome = run_child(request);
  return outcome ? outcome->output + outcome->error : "not started";
}

TEST(EnvironmentOfAProcess, CountsInAnOrdinaryProgram) {
  const std::string output = said({BASE_FIXTURE, "variable", "ENGINEHOST_PROBE_LAUNCHER"});
  EXPECT_THAT(output, HasSubstr("here: /tmp/anything\n"));
  EXPECT_THAT(output, HasSubstr("ENGINEHOST_PROBE_LAUNCHER=/tmp/anything\n"));
}

class ProgramsWithMoreRights : public testing::TestWithParam<const char*> {};

TEST_P(ProgramsWithMoreRights, IgnoreTheEnvironmentOfTheirCaller) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a program more rights";
  const TemporaryFolder folder;
  const fs::path program = folder / "program";
  fs::copy_file(BASE_FIXTURE, program);
  const std::string rights = GetParam();
  if (rights == "cap_dac_override+ep") {
    if (said({"setcap", rights, program.native()}) != "") GTEST_SKIP() << "setcap does not work here";
  } else {
    ASSERT_EQ(::chmod(program.c_str(), static_cast<mode_t>(std::stoi(rights, nullptr, 8))), 0);
  }
  const std::string output = said({"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                                   program.native(), "variable", "ENGINEHOST_PROBE_LAUNCHER"});
  // A container or a mount may give no program more rights.
  if (output.find("user 65534 group 65534 CapEff:\t0000000000000000\n") != std::string::npos)
    GTEST_SKIP() << "this system ignores " << rights;
  EXPECT_THAT(output, HasSubstr("here: not set\nchild:\n"));
  EXPECT_THAT(output, Not(HasSubstr("ENGINEHOST_PROBE_LAUNCHER")));
}

INSTANTIATE_TEST_SUITE_P(Each, ProgramsWithMoreRights,
                         testing::Values("4755", "2755", "cap_dac_override+ep"));

}  // namespace
}  // namespace enginehost
