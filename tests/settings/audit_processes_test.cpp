// One audit log, many writers.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "host/settings/audit.hpp"
#include "tests/settings/fixture.hpp"

namespace enginehost::settings {
namespace {

class AuditOfMany : public SettingsTest {
 protected:
  std::filesystem::path state() const { return root_ / "state"; }
  void add(const std::string& event) {
    const auto added = add_event(state(), 1u << 20, event, Json::object());
    ASSERT_TRUE(added) << added.error().code;
  }
};

TEST_F(AuditOfMany, ManyProcessesAndThreadsWriteOneChain) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool good = true;
      for (int k = 0; k < 10; ++k)
        good = add_event(state(), 4096, "install", Json::object()).has_value() && good;
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  std::thread one([&] { add("fetch"); }), two([&] { add("remove"); });
  one.join();
  two.join();
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(check_audit(state())->events, 42);
  EXPECT_TRUE(check_audit(state())->problems.empty());
}

// Applications write the log too, and SIGXFSZ would end them.
TEST_F(SettingsTest, ALineBeyondTheFileSizeLimitIsAFailureAndNoSignal) {
  ASSERT_TRUE(add_event(root_, 0, "one", Json::object()));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {64, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto added = add_event(root_, 0, "two", Json::object());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, "EH-F17");
}

}  // namespace
}  // namespace enginehost::settings
