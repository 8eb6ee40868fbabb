// Plugins that misbehave, one class and one fixture each: the host survives and names the misbehavior.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "host/explain/explain.hpp"
#include "host/load/probe_outcome.hpp"
#include "tests/load/probe_request.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::load {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class Hostile : public ::testing::Test {
 protected:
  ProbeRequest request(const std::filesystem::path& plugin) { return probe_request(workshop_, plugin); }
  ProbeResult tried(const std::string& flags) {
    return probe(request(workshop_.plugin("libengine_x.so", flags)));
  }
  // A plugin in C++ that uses the system's runtime, not the probe's.
  ProbeResult tried_in_cxx(const std::string& body_of_create, const std::string& flags = {}) {
    std::ifstream text(test::source_path("/tests/faults/plugin.c"));
    std::string source{std::istreambuf_iterator<char>(text), {}};
    // C++ needs explicit conversions, and still initializes the descriptor.
    const std::string calloc = "*out = calloc(1, sizeof **out);";
    source.replace(source.find(calloc), calloc.size(),
                   "*out = static_cast<engine_instance *>(calloc(1, sizeof **out));");
    const std::string hook = "AT_CREATE;";
    source.replace(source.find(hook, source.find("static engine_status create")), hook.size(),
                   body_of_create);
    return probe(request(workshop_.cxx_library(
        "libengine_x.so", "#include <stdexcept>\n#include <thread>\n" + source,
        "-fpermissive -w -I" + test::source_path("/plugin-api/include -pthread ") + flags)));
  }
  std::string changed(const ProbeResult& result) {
    std::string all;
    for (const Diagnosis& warning : result.warnings)
      if (warning.code == "EH-R09") all += std::string(warning.value(Key::changed)) + ";";
    return all;
  }
  const Diagnosis* warning(const ProbeResult& result, std::string_view code) {
    for (const Diagnosis& one : result.warnings)
      if (one.code == code) return &one;
    return nullptr;
  }
  std::string plugin_path() const { return workshop_.path("libengine_x.so").native(); }
  faults::Workshop workshop_;
};

TEST_F(Hostile, R07PrintedTextIsAWarningAndNoAnswer) {
  const ProbeResult result = tried("-DAT_LOAD='puts(\"Welcome to {\\\"ok\\\":true}\")'");
  EXPECT_TRUE(result.passed);
  ASSERT_THAT(result.warnings, SizeIs(1));
  EXPECT_EQ(result.warnings[0].code, "EH-R07");
  EXPECT_EQ(result.warnings[0].value(Key::output), "Welcome to {\"ok\":true}");
  EXPECT_EQ(result.warnings[0].value(Key::file), plugin_path());
}

TEST_F(Hostile, R08AnotherFloatingPointModeAtLoadingOrLater) {
  const ProbeResult loading = tried("-DAT_LOAD='__builtin_ia32_ldmxcsr(0x9fc0)'");
  ASSERT_NE(warning(loading, "EH-R08"), nullptr);
  EXPECT_EQ(warning(loading, "EH-R08")->value(Key::before), "1f80");
  EXPECT_EQ(warning(loading, "EH-R08")->value(Key::after), "9fc0");
  const ProbeResult later = tried("-DAT_SELFTEST='__builtin_ia32_ldmxcsr(0x9fc0)'");
  EXPECT_TRUE(later.passed);
  ASSERT_NE(warning(later, "EH-R08"), nullptr);
  EXPECT_EQ(warning(later, "EH-R08")->value(Key::when), "making or testing the engine");
}

struct Change {
  const char *name, *statement, *reported;
};
void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

class HostileChange : public Hostile, public ::testing::WithParamInterface<Change> {};

// Each change alone, so that none hides another.
TEST_P(HostileChange, R09IsReportedWithWhatItWas) {
  const ProbeResult result = tried("-pthread -include fcntl.h -include pthread.h -DAT_LOAD='" +
                                   std::string(GetParam().statement) + "'");
  EXPECT_TRUE(result.passed) << explain::describe(*result.diagnosis);
  ASSERT_THAT(result.warnings, SizeIs(1)) << changed(result);
  EXPECT_EQ(result.warnings[0].code, "EH-R09");
  EXPECT_THAT(std::string(result.warnings[0].value(Key::changed)), HasSubstr(GetParam().reported));
  EXPECT_NE(result.warnings[0].value(Key::before), result.warnings[0].value(Key::after));
}

INSTANTIATE_TEST_SUITE_P(
    Each, HostileChange,
    ::testing::Values(Change{"Handler", "signal(SIGTERM,SIG_IGN)", "the signal handlers of SIGTERM"},
                      Change{"CrashHandler", "signal(SIGSEGV,SIG_DFL)", "the signal handlers of SIGSEGV"},
                      Change{"RealTimeHandler", "signal(SIGRTMIN+3,(void(*)(int))abort)",
                             "the signal handlers of"},
                      Change{"Locale", "setlocale(LC_ALL,\"C.UTF-8\")", "the locale"},
                      Change{"Folder", "chdir(\"/\")", "the current folder"},
                      Change{"Umask", "umask(0077)", "the umask"},
                      Change{"Descriptors", "open(\"/dev/null\",O_RDONLY)", "the number of open descriptors"},
                      Change{"Threads", "pthread_t t;pthread_create(&t,0,(void*(*)(void*))pause,0)",
                             "the number of threads"}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(Hostile, R09ClosingForeignDescriptorsIsReported) {
  const ProbeResult result = tried("-DAT_LOAD='for(int n=3;n<64;n++)close(n)'");
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(changed(result), "descriptors that it did not open;");
  EXPECT_THAT(explain::describe(result.warnings[0]),
              HasSubstr("open the build before other files and connections"));
}

// The probe's own channel is closed too. Its results follow on the stream of the build's output, and the two
// are kept apart.
TEST_F(Hostile, R09WithTheChannelClosedItsTextIsReportedAlone) {
  const ProbeResult result = tried("-DAT_LOAD='for(int n=3;n<1024;n++)close(n);puts(\"hello\")'");
  EXPECT_TRUE(result.passed) << explain::describe(*result.diagnosis);
  EXPECT_THAT(changed(result), HasSubstr("descriptors that it did not open;"));
  EXPECT_THAT(changed(result), Not(HasSubstr("standard")));
  ASSERT_NE(warning(result, "EH-R07"), nullptr);
  EXPECT_EQ(warning(result, "EH-R07")->value(Key::output), "hello");
}

TEST_F(Hostile, R09WithoutAnyChannelItIsNotASilentEnd) {
  const ProbeResult result = tried("-DAT_LOAD='for(int n=0;n<1024;n++)close(n)'");
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R09") << explain::describe(*result.diagnosis);
  EXPECT_EQ(explain::category(*result.diagnosis), history::Category::request);
}

// As code that turns a program into a service does.
TEST_F(Hostile, R09WithAllDescriptorsReplacedItIsNotASilentEnd) {
  const std::string closed = "for(int n=0;n<1024;n++)close(n);";
  const ProbeResult result =
      tried("-include fcntl.h -DAT_LOAD='" + closed + "open(\"/dev/null\",O_RDWR),dup(0),dup(0)'");
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R09") << explain::describe(*result.diagnosis);
  EXPECT_EQ(explain::category(*result.diagnosis), history::Category::request);
}

// The channel's number and stdout's are not written to once a file of the library has them.
TEST_F(Hostile, R09NoFileOfTheLibraryIsWrittenTo) {
  const std::string file = workshop_.path("of_its_own").native();
  const ProbeResult result =
      tried("-include fcntl.h -DAT_LOAD='for(int n=0;n<1024;n++)close(n);for(int n=0;n<1000;n++)open(\"" +
            file + "\",O_RDWR|O_CREAT,0600)'");
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R09") << explain::describe(*result.diagnosis);
  EXPECT_EQ(std::filesystem::file_size(file), 0u);
}

TEST_F(Hostile, R09WithTheChannelClosedTheAnswerSurvivesLongOutput) {
  const ProbeResult result =
      tried("-DAT_LOAD='for(int n=3;n<1024;n++)close(n);for(int n=0;n<20000;n++)puts(\"line after line\")'");
  EXPECT_TRUE(result.passed) << explain::describe(*result.diagnosis);
  ASSERT_NE(warning(result, "EH-R07"), nullptr);
}

TEST_F(Hostile, R09ChangesByCreateAndSelfTestAreReportedToo) {
  const ProbeResult result = tried("-DAT_CREATE='umask(0)' -DAT_SELFTEST='signal(SIGPIPE,SIG_IGN)'");
  EXPECT_TRUE(result.passed);
  EXPECT_THAT(changed(result), HasSubstr("the umask"));
  EXPECT_THAT(changed(result), HasSubstr("SIGPIPE"));
  EXPECT_THAT(explain::describe(result.warnings[0]), HasSubstr("making or testing the engine changed"));
}

TEST_F(Hostile, R10AnExceptionOutOfAPluginsFunctionIsNamed) {
  const ProbeResult result = tried_in_cxx("throw std::runtime_error(\"no license for this\");");
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R10") << explain::describe(*result.diagnosis);
  EXPECT_EQ(result.stage, "create");
  EXPECT_EQ(result.diagnosis->value(Key::exception), "std::runtime_error");
  EXPECT_EQ(result.diagnosis->value(Key::what), "no license for this");
  EXPECT_EQ(result.diagnosis->value(Key::tries), "2");
}

TEST_F(Hostile, R03AnExceptionInAThreadOfItsOwnCrossesNothing) {
  const ProbeResult result =
      tried_in_cxx("std::thread([] { throw std::runtime_error(\"worker died\"); }).join();");
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R03") << explain::describe(*result.diagnosis);
  EXPECT_EQ(result.diagnosis->value(Key::what), "worker died");
  EXPECT_EQ(result.diagnosis->value(Key::threads), "2");
}

TEST_F(Hostile, R13ACrashAtUnloadingHasItsStage) {
  const ProbeResult result = tried("-DFLAGS=ENGINE_PLUGIN_UNLOADABLE -DAT_UNLOAD='*(volatile int*)8=1'");
  EXPECT_TRUE(result.passed);
  ASSERT_THAT(result.warnings, SizeIs(1));
  EXPECT_EQ(result.warnings[0].code, "EH-R13");
  EXPECT_EQ(result.warnings[0].value(Key::stage), "unload");
  EXPECT_EQ(result.warnings[0].value(Key::in_library), plugin_path());
}

TEST_F(Hostile, R13ACrashAtTheEndOfTheProcessHasItsStage) {
  const ProbeResult result = tried("-DAT_UNLOAD='*(volatile int*)8=1'");
  EXPECT_TRUE(result.passed);
  ASSERT_THAT(result.warnings, SizeIs(1));
  EXPECT_EQ(result.warnings[0].code, "EH-R13");
  EXPECT_EQ(result.warnings[0].value(Key::stage), "exit");
  EXPECT_EQ(result.warnings[0].value(Key::signal), "SIGSEGV");
  EXPECT_EQ(result.warnings[0].value(Key::in_library), plugin_path());
}

TEST_F(Hostile, R13AnUnloadThatHangsIsEnded) {
  const ProbeResult result = tried("-DAT_UNLOAD='for(;;)pause()'");
  EXPECT_TRUE(result.passed);
  ASSERT_THAT(result.warnings, SizeIs(1));
  EXPECT_EQ(result.warnings[0].code, "EH-R13");
  EXPECT_EQ(result.warnings[0].value(Key::problem), "it did not end");
  EXPECT_LT(result.duration, std::chrono::seconds(10));
}

TEST_F(Hostile, R14AProbeThatWasKilledIsNoStrike) {
  const ProbeResult result = tried("-DAT_CREATE='kill(getpid(),SIGKILL)'");
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R14");
  EXPECT_EQ(result.stage, "create");
  EXPECT_EQ(explain::category(*result.diagnosis), history::Category::transient);
  EXPECT_EQ(result.diagnosis->value(Key::tries), "2");
  EXPECT_EQ(result.diagnosis->value(Key::oom_kills), "") << "the kernel did not do it";
}

// The real killer, where this test may make a control group.
TEST_F(Hostile, R14TheKernelsOutOfMemoryKillerIsRecognized) {
  const std::string group = "/sys/fs/cgroup/memory/enginehost-test-" + std::to_string(::getpid());
  std::error_code error;
  if (!std::filesystem::create_directory(group, error))
    GTEST_SKIP() << "no control group can be made: " << group;
  std::ofstream(group + "/memory.limit_in_bytes") << (32 << 20) << std::flush;
  ProbeRequest limited = request(workshop_.plugin(
      "libengine_x.so",
      "-DAT_CREATE='size_t n=(size_t)256<<20;char*p=malloc(n);memset(p,1,n);host->log(host,1,\"x\",p+n-1)'"));
  limited.launcher = {"/bin/sh", "-c", "echo $$ >" + group + "/tasks && exec \"$0\" \"$@\""};
  const ProbeResult result = probe(limited);
  std::filesystem::remove(group, error);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R14") << explain::describe(*result.diagnosis);
  EXPECT_EQ(result.stage, "create");
}

// As in cuDNN 9: the parts are opened at the first call, and a missing one ends the process.
TEST_F(Hostile, R15APartThatIsOpenedLaterAndIsMissingIsNamed) {
  const char* source =
      "#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
      "size_t cudnnGetVersion(void) {\n"
      "  static const char *parts[] = {\"libpart_ops.so.9\", \"libpart_graph.so.9\"};\n"
      "  for (int n = 0; n < 2; ++n)\n"
      "    if (!dlopen(parts[n], RTLD_NOW)) {\n"
      "      fprintf(stderr, \"Unable to load any of {%s.1.0, %s.1, %s, libpart}\\n\", parts[n], parts[n], "
      "parts[n]);\n"
      "      fprintf(stderr, \"Invalid handle. Cannot load symbol cudnnGetVersion\\n\");\n"
      "      abort();\n"
      "    }\n"
      "  return 91900;\n}\n";
  workshop_.library("libpart_ops.so.9", "int ops;");
  workshop_.library("libwhole.so.9", source, "-Wl,-soname,libwhole.so.9 -Wl,-rpath,'$ORIGIN'");
  const ProbeResult result =
      tried("-DAT_SELFTEST='extern size_t cudnnGetVersion(void);cudnnGetVersion()' -L" +
            faults::quoted(workshop_.folder()) + " -l:libwhole.so.9 -Wl,-rpath,'$ORIGIN'");
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R15") << explain::describe(*result.diagnosis);
  EXPECT_EQ(result.stage, "selftest");
  EXPECT_EQ(result.diagnosis->value(Key::library), "libpart_graph.so.9.1.0");
  EXPECT_EQ(result.diagnosis->value(Key::in_library), workshop_.path("libwhole.so.9").native());
  EXPECT_THAT(std::string(result.diagnosis->value(Key::os_said)), HasSubstr("cudnnGetVersion"));
}

TEST_F(Hostile, KeepsTheLast64KibibytesOfItsOutput) {
  const ProbeResult result = tried(
      "-DAT_LOAD='for(int i=0;i<20000;++i)fprintf(stderr,\"line %d of chatter\\n\",i)' "
      "-DAT_CREATE='abort()'");
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.error_output.size(), 64u * 1024);
  EXPECT_THAT(result.error_output, EndsWith("line 19999 of chatter\n"));
}

TEST_F(Hostile, ACrashIsReportedWithTheNumberOfThreads) {
  const ProbeResult result = tried(
      "-pthread -include pthread.h -DAT_CREATE='pthread_t t;for(int i=0;i<3;++i)pthread_create(&t,0,"
      "(void*(*)(void*))pause,0);*(volatile int*)8=1'");
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-R02");
  EXPECT_EQ(result.diagnosis->value(Key::threads), "4");
  EXPECT_THAT(std::string(result.diagnosis->value(Key::instruction)), SizeIs(8));
}

}  // namespace
}  // namespace enginehost::load
