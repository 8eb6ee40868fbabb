// Builds that take memory, processes, descriptors or output without end: the probe ends them, reports what
// was too much, and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "base/files.hpp"
#include "host/explain/explain.hpp"
#include "tests/load/probe_request.hpp"
#include "tests/support/posix/limit.hpp"

namespace enginehost::load {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

class ProbeLimits : public ::testing::Test {
 protected:
  // A plugin that calls `take()` of that C text at a stage: "LOAD", "CREATE", "SELFTEST".
  ProbeRequest taking(const std::string& text, const std::string& stage = "LOAD",
                      const std::string& then = {}) const {
    const auto header = workshop_.file("take.h",
                                       "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <pthread.h>\n"
                                       "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                                       "#include <string.h>\n#include <sys/mman.h>\n"
                                       "#include <sys/resource.h>\n#include <unistd.h>\n"
                                       "static void take(void) {" +
                                           text + "}\n");
    ProbeRequest request = probe_request(
        workshop_, workshop_.plugin("libengine_x.so", "-w -include " + faults::quoted(header) + " -DAT_" +
                                                          stage + "='take();" + then + "'"));
    request.memory_source = "the test";
    return request;
  }
  std::filesystem::path pids() const { return workshop_.path("pids"); }
  // The processes of the file that still run.
  std::vector<std::string> still_running() const {
    std::vector<std::string> left;
    std::istringstream lines(read_file(pids()).value_or(""));
    for (std::string pid; std::getline(lines, pid);) {
      const std::string status = read_kernel_file("/proc/" + pid + "/stat");
      if (status.find("(enginehost-prob) ") != std::string::npos &&
          status.find("(enginehost-prob) Z") == std::string::npos)
        left.push_back(pid);
    }
    return left;
  }
  std::size_t started() const {
    const std::string text = read_file(pids()).value_or("");
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  faults::Workshop workshop_;
};

std::string described(const ProbeResult& result) {
  return result.diagnosis ? explain::describe(*result.diagnosis) : "passed";
}

// Maps 64 MiB at a time and touches one page of each.
std::string memory_until(const std::string& refused) {
  return "for(;;){char*p=mmap(0,64<<20,PROT_READ|PROT_WRITE,MAP_PRIVATE|MAP_ANONYMOUS,-1,0);"
         "if(p==MAP_FAILED){" +
         refused + "}*p=1;}";
}

struct Refused {
  const char *name, *stage, *at_once, *then;
};

class MemoryWithoutEnd : public ProbeLimits, public ::testing::WithParamInterface<Refused> {};

TEST_P(MemoryWithoutEnd, IsR19WithTheLimitAndTheSetting) {
  ProbeRequest request = taking(memory_until(GetParam().at_once), GetParam().stage, GetParam().then);
  request.memory_bytes = 512 * mebibyte;
  const ProbeResult result = probe(request);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R19") << described(result);
  EXPECT_EQ(result.diagnosis->value(Key::limit), std::to_string(512 * mebibyte));
  EXPECT_TRUE(result.diagnosis->value(Key::tries).empty()) << "a second try finds the same";
  EXPECT_EQ(explain::category(*result.diagnosis), history::Category::host);
  EXPECT_THAT(described(result), HasSubstr("512 MiB"));
  EXPECT_THAT(described(result), HasSubstr("probe_memory_bytes"));
}

INSTANTIATE_TEST_SUITE_P(
    Then, MemoryWithoutEnd,
    ::testing::Values(Refused{"Aborts", "LOAD", "abort();", ""},
                      Refused{"Crashes", "CREATE", "*(volatile int*)0=1;", ""},
                      Refused{"Reports", "SELFTEST", "return;",
                              "return call->fail(call,ENGINE_UNAVAILABLE,\"\",0,\"no memory\")"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(ProbeLimits, R19TheDefaultEndsABuildThatTakesAllMemory) {
  ProbeRequest request = taking(memory_until("abort();"));
  request.memory_bytes = default_memory_limit();
  ASSERT_GE(request.memory_bytes, 4096 * mebibyte);
  const ProbeResult result = probe(request);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R19") << described(result);
}

TEST_F(ProbeLimits, WithoutALimitMemoryIsTheBuildsAffair) {
  ProbeRequest request = taking("for(int i=0;i<16;++i)if(mmap(0,64<<20,3,0x22,-1,0)==MAP_FAILED)abort();");
  EXPECT_TRUE(probe(request).passed);
  request.memory_bytes = 512 * mebibyte;
  EXPECT_FALSE(probe(request).passed);
}

TEST_F(ProbeLimits, MemoryThatIsOnlyReservedDoesNotCount) {
  // As the drivers of GPUs do; and threads, whose stacks count.
  ProbeRequest request = taking(
      "if(mmap(0,1ull<<40,PROT_NONE,MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE,-1,0)==MAP_FAILED)abort();"
      "for(int i=0;i<64;++i){pthread_t t;if(pthread_create(&t,0,(void*(*)(void*))pause,0))abort();}");
  request.memory_bytes = 2048 * mebibyte;
  const ProbeResult result = probe(request);
  EXPECT_TRUE(result.passed) << described(result);
}

TEST_F(ProbeLimits, ALowerLimitOfTheCallerIsNotCalledTheProbes) {
  ProbeRequest request = taking(memory_until("abort();"));
  request.memory_bytes = std::uint64_t{1} << 50;
  request.launcher = {"/bin/sh", "-c", "ulimit -d 500000; exec \"$0\" \"$@\""};
  const ProbeResult result = probe(request);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R03") << described(result);
}

#ifndef __SANITIZE_ADDRESS__  // its own operator new ends the process
TEST_F(ProbeLimits, R19RefusedMemoryOfCxxIsRecognizedByItsException) {
  ProbeRequest request = probe_request(
      workshop_, workshop_.cxx_library("libengine_x.so",
                                       "char* all; struct S { S() { all = new char[1ull << 35]; } } s;"));
  request.memory_bytes = 512 * mebibyte;
  const ProbeResult result = probe(request);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R19") << described(result);
  EXPECT_EQ(result.diagnosis->value(Key::exception), "std::bad_alloc");
}
#endif

// The loader maps the data of a library in place of other pages, which no limit refuses. What comes after it
// is.
TEST_F(ProbeLimits, R19ALibraryWhoseDataIsLargerThanTheLimitIsRefused) {
  ProbeRequest request = taking(
      "static volatile char large[2000000000]; large[0] = 1; if (mmap(0, 64 << 20, 3, 0x22, -1, 0) == "
      "MAP_FAILED) "
      "abort();");
  request.memory_bytes = 512 * mebibyte;
  const ProbeResult result = probe(request);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R19") << described(result);
}

TEST_F(ProbeLimits, OtherFailuresOfALargeBuildKeepTheirDiagnosis) {
  ProbeRequest request = probe_request(
      workshop_,
      workshop_.library("libengine_x.so", "char large[2000000000]; int f(void) {return large[1];}"));
  request.memory_bytes = 512 * mebibyte;
  const ProbeResult result = probe(request);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R11") << described(result);
}

// Every process that it starts writes its number, leaves the group and starts others, up to 200.
std::string bomb(const std::filesystem::path& pids) {
  return "int file=open(\"" + pids.native() +
         "\",O_CREAT|O_WRONLY|O_APPEND,0600);"
         "int*n=mmap(0,4096,3,MAP_SHARED|MAP_ANONYMOUS,-1,0);pid_t first=getpid();"
         "while(__atomic_add_fetch(n,1,5)<=200){pid_t p=fork();if(p<0)break;"
         "if(p==0){setsid();dprintf(file,\"%d\\n\",getpid());}}"
         "while(getpid()!=first)pause();"
         "while(lseek(file,0,SEEK_END)<600)usleep(1000);";
}

struct LeftBehind {
  const char *name, *then, *code;
};

class ProcessesWithoutEnd : public ProbeLimits, public ::testing::WithParamInterface<LeftBehind> {};

TEST_P(ProcessesWithoutEnd, AreEndedWithTheProbe) {
  ProbeRequest request = taking(bomb(pids()), "LOAD", GetParam().then);
  const std::string name = GetParam().name;
  const bool canceled = name == "Canceled";
  request.deadline = std::chrono::seconds(name.starts_with("Hangs") ? 3 : 30);
  if (canceled) request.cancel = CancelToken();
  std::thread cancels([&] {
    if (!canceled) return;
    for (int i = 0; i < 1000 && started() < 100; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    request.cancel->cancel();
  });
  const ProbeResult result = probe(request);
  cancels.join();
  EXPECT_EQ(result.diagnosis ? std::string(result.diagnosis->code_text()) : "passed", GetParam().code)
      << described(result);
  EXPECT_TRUE(!result.diagnosis || result.diagnosis->value(Key::survived_kill).empty());
  EXPECT_GT(started(), 50u);
  EXPECT_THAT(still_running(), ::testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(When, ProcessesWithoutEnd,
                         ::testing::Values(LeftBehind{"ItPasses", "", "passed"},
                                           LeftBehind{"ItCrashes", "*(volatile int*)8=1", "EH-R02"},
                                           LeftBehind{"ItEndsTheProcess", "_exit(0)", "EH-R04"},
                                           LeftBehind{"ItIsKilled", "kill(getpid(),SIGKILL)", "EH-R14"},
                                           LeftBehind{"Hangs", "for(;;)pause()", "EH-R05"},
                                           LeftBehind{"HangsInASessionOfItsOwn",
                                                      "setsid();signal(SIGABRT,SIG_IGN);for(;;)pause()",
                                                      "EH-R05"},
                                           LeftBehind{"Canceled", "for(;;)pause()", "EH-P10"}),
                         [](const auto& info) { return std::string(info.param.name); });

// A build has the rights to stop or end the processes that watch it.
class ProcessesWithoutAWatcher : public ProbeLimits, public ::testing::WithParamInterface<LeftBehind> {};

TEST_P(ProcessesWithoutAWatcher, AreEndedAllTheSame) {
  ProbeRequest request = taking(bomb(pids()) + GetParam().then + ";", "LOAD");
  request.deadline = std::chrono::seconds(3);
  static_cast<void>(probe(request));
  EXPECT_GT(started(), 50u);
  // A watcher that outlives the others may be at work.
  for (int waits = 0; waits < 300 && !still_running().empty(); ++waits)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_THAT(still_running(), ::testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    When, ProcessesWithoutAWatcher,
    ::testing::Values(
        LeftBehind{"ItIsStopped", "kill(getppid(),SIGSTOP)", ""},
        LeftBehind{"ItIsKilled", "kill(getppid(),SIGKILL)", ""},
        LeftBehind{"TheGroupIsKilled", "kill(0,SIGKILL)", ""},
        LeftBehind{"TheGroupIsStopped", "kill(0,SIGSTOP)", ""},
        LeftBehind{"TheOuterOneIsStopped",
                   "char b[64];int a=0,g=0;snprintf(b,64,\"/proc/%d/stat\",getppid());FILE*f=fopen(b,\"r\");"
                   "fscanf(f,\"%d %*s %*c %d\",&a,&g);kill(g,SIGSTOP);for(;;)pause()",
                   ""},
        LeftBehind{"TheOuterOneIsKilled",
                   "char b[64];int a=0,g=0;snprintf(b,64,\"/proc/%d/stat\",getppid());FILE*f=fopen(b,\"r\");"
                   "fscanf(f,\"%d %*s %*c %d\",&a,&g);kill(g,SIGKILL);for(;;)pause()",
                   ""}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(ProbeLimits, ADaemonIsEndedWithTheProbe) {
  ProbeRequest request =
      taking("int file=open(\"" + pids().native() +
             "\",O_CREAT|O_WRONLY|O_APPEND,0600);"
             "if(fork()==0){setsid();if(fork()!=0)_exit(0);dprintf(file,\"%d\\n\",getpid());"
             "for(int i=0;i<1024;++i)close(i);for(;;)pause();}"
             "while(lseek(file,0,SEEK_END)==0)usleep(1000);");
  EXPECT_TRUE(probe(request).passed);
  EXPECT_EQ(started(), 1u);
  EXPECT_THAT(still_running(), ::testing::IsEmpty());
}

class DescriptorsWithoutEnd : public ProbeLimits, public ::testing::WithParamInterface<const char*> {};

// The probe has what it needs already, so the build is judged by what it does without any.
TEST_P(DescriptorsWithoutEnd, R09AreBoundedAndWarnedOf) {
  const ProbeRequest request = taking(
      "struct rlimit l;getrlimit(RLIMIT_NOFILE,&l);if(l.rlim_cur>65536)abort();"
      "while(open(\"/dev/null\",O_RDONLY)>=0);",
      GetParam());
  const ProbeResult result = probe(request);
  EXPECT_TRUE(result.passed) << described(result);
  const bool loading = std::string(GetParam()) == "LOAD";  // a living engine may keep some
  ASSERT_EQ(result.warnings.size(), loading ? 1u : 0u);
  if (!loading) return;
  EXPECT_EQ(result.warnings[0].code, "EH-R09");
  EXPECT_EQ(result.warnings[0].value(Key::changed), "the number of open descriptors");
}

INSTANTIATE_TEST_SUITE_P(At, DescriptorsWithoutEnd, ::testing::Values("LOAD", "CREATE", "SELFTEST"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(ProbeLimits, ABuildThatFailsWithoutDescriptorsReportsWhy) {
  const ProbeResult result = probe(taking("while(open(\"/dev/null\",O_RDONLY)>=0);", "CREATE",
                                          "return call->fail(call,ENGINE_UNAVAILABLE,\"\",0,strerror(24))"));
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-E01") << described(result);
  EXPECT_THAT(described(result), HasSubstr("Too many open files"));
}

// An engine that gets no thread says so in many ways. None of them is a fault of the build.
struct RefusedThread {
  const char *name, *ends;
};
class RefusedThreads : public ProbeLimits, public ::testing::WithParamInterface<RefusedThread> {};

TEST_P(RefusedThreads, P52IsReportedAtEachStage) {
  const std::string ends = GetParam().ends;
  for (const std::string stage : {"LOAD", "CREATE", "SELFTEST"}) {
    if (ends.find("call->") != std::string::npos && stage == "LOAD") continue;
    const ProbeResult result = probe(taking("", stage, ends));
    ASSERT_TRUE(result.diagnosis) << stage;
    EXPECT_EQ(result.diagnosis->code, "EH-P52") << stage << "\n" << described(result);
    EXPECT_EQ(result.diagnosis->value(Key::resource), "threads") << stage;
    EXPECT_EQ(explain::category(*result.diagnosis), history::Category::transient) << stage;
  }
}

INSTANTIATE_TEST_SUITE_P(
    As, RefusedThreads,
    ::testing::Values(
        RefusedThread{
            "OnnxRuntime",
            "return call->fail(call,ENGINE_INTERNAL,\"x\",11,\"pthread_create failed, error code: 11 "
            "error msg: Resource temporarily unavailable\")"},
        RefusedThread{"AnException",
                      "return call->fail(call,ENGINE_INTERNAL,\"\",0,\"Resource temporarily unavailable\")"},
        RefusedThread{"Libgomp",
                      "fputs(\"libgomp: Thread creation failed: Resource temporarily unavailable\\n\","
                      "stderr);exit(1)"},
        RefusedThread{
            "OpenBlas",
            "fputs(\"OpenBLAS blas_thread_init: pthread_create failed for thread 2 of 64: \",stderr);"
            "perror(\"\");raise(SIGINT)"},
        RefusedThread{"TensorFlow",
                      "fputs(\"Check failed: ret == 0 (11 vs. 0)Thread tf_Compute creation via "
                      "pthread_create() failed.\\n\",stderr);abort()"}),
    [](const auto& info) { return std::string(info.param.name); });

// A build that gets no memory under a limit of the caller: by its message, or by a crash without a word.
TEST_F(ProbeLimits, P52NamesTheLimitOfTheAddressSpace) {
  constexpr rlim_t space = 600 * mebibyte;
  const std::string fill =
      "size_t "
      "n=64u<<20;while(n>4096){char*p=mmap(0,n,PROT_NONE,MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE,-1,0);"
      "if(p==MAP_FAILED)n/=2;}";
  for (const std::string stage : {"LOAD", "CREATE", "SELFTEST"})
    for (const std::string& ends :
         {std::string("*(volatile int*)8=1"), std::string("abort()"),
          std::string("return call->fail(call,ENGINE_NO_MEMORY,\"\",0,\"std::bad_alloc\")")}) {
      if (ends.find("call->") != std::string::npos && stage == "LOAD") continue;
      const ProbeRequest request = taking(fill, stage, ends);
      const auto ended = [&] {
        const test::Limit limit(RLIMIT_AS, space);
        return probe(request);
      };
      const ProbeResult result = ended();
      ASSERT_TRUE(result.diagnosis) << stage << ends;
      EXPECT_EQ(result.diagnosis->code, "EH-P52") << stage << ends << "\n" << described(result);
      EXPECT_EQ(result.diagnosis->value(Key::address_space_limit), std::to_string(space)) << stage << ends;
      const ProbeResult without = probe(taking("", stage, ends));
      ASSERT_TRUE(without.diagnosis) << stage << ends;
      EXPECT_NE(without.diagnosis->code, "EH-P52") << "no limit holds: " << stage << ends;
    }
}

std::size_t peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) << 10;
}

struct PrintsTo {
  const char *name, *descriptor;
};

class OutputWithoutEnd : public ProbeLimits, public ::testing::WithParamInterface<PrintsTo> {};

TEST_P(OutputWithoutEnd, IsReadUntilTheDeadlineAndNotKept) {
  ProbeRequest request = taking(std::string("static char b[1<<16];memset(b,'x',sizeof b);for(;;)write(") +
                                GetParam().descriptor + ",b,sizeof b);");
  request.deadline = std::chrono::seconds(1);
  const std::size_t before = peak_memory();
  const ProbeResult result = probe(request);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R05") << described(result);
  EXPECT_LT(peak_memory() - before, 256 * mebibyte);
}

TEST_P(OutputWithoutEnd, ButOfAGigabyteHarmsNothingUnlessItFillsTheChannel) {
  ProbeRequest request =
      taking(std::string("static char b[1<<16];memset(b,'x',sizeof b);for(int i=0;i<1<<14;++i)write(") +
             GetParam().descriptor + ",b,sizeof b);");
  request.deadline = std::chrono::seconds(60);
  const std::size_t before = peak_memory();
  const ProbeResult result = probe(request);
  EXPECT_LT(peak_memory() - before, 256 * mebibyte);
  if (std::string(GetParam().name) != "TheChannel") {
    EXPECT_TRUE(result.passed) << described(result);
    return;
  }
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R09") << described(result);
  EXPECT_THAT(described(result), HasSubstr("16 MiB"));
}

INSTANTIATE_TEST_SUITE_P(To, OutputWithoutEnd,
                         ::testing::Values(PrintsTo{"StandardOutput", "1"}, PrintsTo{"StandardError", "2"},
                                           PrintsTo{"TheChannel", "200"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace enginehost::load
