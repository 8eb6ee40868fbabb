// Changes of a build to the thread and the process that load it are restored and reported.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files.hpp"
#include "host/load/in_process/engine.hpp"
#include "tests/faults/workshop.hpp"

namespace enginehost::load {
namespace {

using ::testing::HasSubstr;

class ProcessStateGuardTest : public ::testing::Test {
 protected:
  std::shared_ptr<LoadedPlugin> loaded(const std::string& flags) {
    auto plugin = load_plugin({workshop_.plugin("libengine_" + std::to_string(++number_) + ".so", flags),
                               workshop_.folder(),
                               {},
                               {}});
    EXPECT_TRUE(plugin);
    return plugin ? std::shared_ptr<LoadedPlugin>(std::move(*plugin)) : nullptr;
  }
  static bool blocks(int signal) {
    sigset_t blocked{};
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return sigismember(&blocked, signal) == 1;
  }
  static std::string reported(const std::vector<Diagnosis>& warnings) {
    std::string text;
    for (const Diagnosis& one : warnings)
      text += std::string(one.code_text()) + " " + std::string(one.value(Key::changed)) + " became " +
              std::string(one.value(Key::after)) + ";";
    return text;
  }
  faults::Workshop workshop_;

 private:
  int number_ = 0;
};

constexpr const char* block = "sigset_t s;sigemptyset(&s);sigaddset(&s,SIGUSR2);sigprocmask(SIG_BLOCK,&s,0)";

TEST_F(ProcessStateGuardTest, RestoresTheSignalMaskAfterLoading) {
  const auto plugin = loaded("-DAT_LOAD='" + std::string(block) + "'");
  EXPECT_FALSE(blocks(SIGUSR2));
  EXPECT_THAT(reported(plugin->warnings()), HasSubstr("EH-R09 the blocked signals of this thread (SIGUSR2)"));
}

TEST_F(ProcessStateGuardTest, RestoresSignalMaskAndFloatingPointModeAfterCreate) {
  const std::uint32_t mode = floating_point_mode();
  const std::uint16_t x87 = x87_mode();
  const auto plugin = loaded(
      "-DAT_CREATE='" + std::string(block) +
      ";__builtin_ia32_ldmxcsr(0x9fc0);unsigned short w=0x27f;__asm__ volatile(\"fldcw %0\"::\"m\"(w))'");
  EXPECT_TRUE(plugin->warnings().empty());
  const auto engine = Engine::create(plugin);
  ASSERT_TRUE(engine);
  EXPECT_FALSE(blocks(SIGUSR2));
  EXPECT_EQ(floating_point_mode(), mode);
  EXPECT_EQ(x87_mode(), x87);
  const std::string said = reported((*engine)->warnings());
  EXPECT_THAT(said, HasSubstr("EH-R08"));
  EXPECT_THAT(said, HasSubstr("the control word of the x87 unit became 027f"));
  EXPECT_THAT(said, HasSubstr("the blocked signals of this thread (SIGUSR2)"));
  EXPECT_EQ((*engine)->warnings()[0].value(Key::when), "making the engine");
}

TEST_F(ProcessStateGuardTest, KeepsAMaskThatTheProgramSet) {
  sigset_t mine{}, before{};
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &mine, &before);
  const auto plugin = loaded("-DAT_LOAD='" + std::string(block) + "'");
  EXPECT_TRUE(blocks(SIGUSR2));
  EXPECT_TRUE(plugin->warnings().empty());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The target of a descriptor of this process.
std::string leads_to(int descriptor) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error).native();
}

TEST_F(ProcessStateGuardTest, RestoresRedirectedOrClosedStandardOutput) {
  const std::string before = leads_to(1), errors = leads_to(2);
  const auto plugin = loaded(
      "-include fcntl.h -DAT_LOAD='dup2(open(\"/dev/zero\",O_WRONLY),1)' -DAT_CREATE='close(1);close(2)'");
  EXPECT_EQ(leads_to(1), before);
  EXPECT_EQ(reported(plugin->warnings()), "EH-R09 standard output became another one; it was restored;");
  const auto engine = Engine::create(plugin);
  ASSERT_TRUE(engine);
  EXPECT_EQ(leads_to(1), before);
  EXPECT_EQ(leads_to(2), errors);
  EXPECT_EQ(reported((*engine)->warnings()),
            "EH-R09 standard output became closed; it was restored;"
            "EH-R09 standard error became closed; it was restored;");
}

// It closes the copies that the streams would be restored from, so nothing else may be restored from those
// numbers.
TEST_F(ProcessStateGuardTest, ReportsForeignDescriptorsThatAPluginCloses) {
  const std::string input = leads_to(0);
  int lowest = -1;
  {
    const FileDescriptor next(::fcntl(0, F_DUPFD_CLOEXEC, 3));
    lowest = next.get();
  }
  const std::string first = std::to_string(lowest);
  const auto plugin = loaded("-include fcntl.h -DAT_LOAD='for(int n=0;n<3;n++)close(" + first +
                             "+n);open(\"/dev/zero\",O_RDONLY)'");
  EXPECT_EQ(reported(plugin->warnings()), "EH-R09 descriptors that it did not open became closed;");
  EXPECT_EQ(leads_to(0), input);
  EXPECT_EQ(leads_to(lowest), "/dev/zero") << "the plugin's own";
  ::close(lowest);
}

// The child that the plugin forked returns from create() as a second program: it must not continue here.
TEST_F(ProcessStateGuardTest, EndsAForkedChildThatReturns) {
  ::unsetenv("FIXTURE_CHILD");
  const pid_t self = ::getpid();
  const auto plugin = loaded(
      "-DAT_CREATE='int p=fork();if(p)setenv(\"FIXTURE_CHILD\",p<0?\"-1\":"
      "(char[12]){p/1000000%10+48,p/100000%10+48,p/10000%10+48,p/1000%10+48,"
      "p/100%10+48,p/10%10+48,p%10+48,0},1)'");
  const auto engine = Engine::create(plugin);
  if (::getpid() != self) ::_exit(77);
  ASSERT_TRUE(engine);
  ASSERT_NE(std::getenv("FIXTURE_CHILD"), nullptr);
  int status = 0;
  const pid_t child = std::atoi(std::getenv("FIXTURE_CHILD"));
  ::unsetenv("FIXTURE_CHILD");
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

}  // namespace
}  // namespace enginehost::load
