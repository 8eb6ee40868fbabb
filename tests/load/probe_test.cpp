// Real builds in the probe: they crash, hang, misreport or work.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/child_process.hpp"
#include "base/environment.hpp"
#include "base/process.hpp"
#include "host/explain/explain.hpp"
#include "host/load/probe_outcome.hpp"
#include "host/preflight/preflight.hpp"
#include "tests/load/probe_request.hpp"

namespace enginehost::load {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ProbeOf : public ::testing::Test {
 protected:
  ProbeRequest request(const std::filesystem::path& plugin) { return probe_request(workshop_, plugin); }
  ProbeResult tried(const std::string& flags) {
    return probe(request(workshop_.plugin("libengine_x.so", flags)));
  }
  void expect(const ProbeResult& result, const std::string& code, const std::string& stage) {
    EXPECT_FALSE(result.passed);
    ASSERT_TRUE(result.diagnosis);
    EXPECT_EQ(result.diagnosis->code, code) << explain::describe(*result.diagnosis);
    EXPECT_EQ(result.stage, stage);
    EXPECT_EQ(result.diagnosis->value(Key::stage), stage);
    EXPECT_FALSE(result.diagnosis->value(Key::file).empty());
  }
  std::string plugin_path() const { return workshop_.path("libengine_x.so").native(); }
  faults::Workshop workshop_;
};

TEST_F(ProbeOf, AGoodBuildPassesAllStages) {
  const ProbeResult result = tried("");
  ASSERT_TRUE(result.passed) << (result.diagnosis ? explain::describe(*result.diagnosis) : "");
  EXPECT_THAT(result.stages, ElementsAre("start", "load", "entry", "create", "selftest", "unload", "exit"));
  ASSERT_EQ(result.devices.size(), 1u);
  EXPECT_EQ(result.devices[0].text(), "cpu:0");
  EXPECT_THAT(result.facts, ElementsAre(std::pair<std::string, std::string>("version", "1.2.3")));
  ASSERT_FALSE(result.libraries.empty());
  EXPECT_EQ(result.libraries[0].path, plugin_path());
  EXPECT_EQ(result.libraries[0].origin, "cache");
  EXPECT_TRUE(result.warnings.empty()) << explain::describe(result.warnings[0]);
  EXPECT_TRUE(result.to_json()["passed"].as_bool());
}

TEST_F(ProbeOf, ALibraryFoundByProgramRpathIsPassedToTheProbe) {
  const auto leaf =
      workshop_.library("home/libleaf.so", "int leaf(void) { return 1; }", "-Wl,-soname,libleaf.so");
  const auto middle =
      workshop_.library("home/libmiddle.so", "int leaf(void); int middle(void) { return leaf(); }",
                        "-Wl,-soname,libmiddle.so " + faults::quoted(leaf));
  const std::string source = workshop_.file("main.c", "int main(void) { return 0; }\n").native();
  const std::string program = workshop_.path("program").native();
  ASSERT_EQ(faults::shell("gcc -o " + faults::quoted(program) + " " + faults::quoted(source) +
                          " -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN/home'"),
            0);
  preflight::Spec spec;
  spec.plugin = workshop_.plugin("view/libengine_x.so", "-Wl,--no-as-needed " + faults::quoted(middle));
  spec.view = workshop_.path("view");
  spec.machine = linker::describe_this_machine();
  spec.machine.program.clear();
  EXPECT_EQ(preflight::check(spec).verdict, preflight::Verdict::fails);
  spec.machine.program = program;
  const preflight::Report report = preflight::check(spec);
  EXPECT_EQ(report.verdict, preflight::Verdict::loads);
  EXPECT_THAT(report.via_program_rpath, ElementsAre(leaf, middle));
  // The probe does not have the libraries of this process.
  spec.machine.loaded = {{"libmiddle.so", middle}, {"libleaf.so", leaf}};
  EXPECT_EQ(preflight::check(spec).via_program_rpath, report.via_program_rpath);

  ProbeRequest wanted = request(spec.plugin);
  wanted.load.view = spec.view;
  expect(probe(wanted), "EH-L01", "load");
  wanted.load.preload = report.via_program_rpath;
  const ProbeResult result = probe(wanted);
  EXPECT_TRUE(result.passed) << (result.diagnosis ? explain::describe(*result.diagnosis) : "");
}

TEST_F(ProbeOf, AnIllegalInstructionIsR01AndItsLibraryIsNamed) {
  const ProbeResult result = tried("-DAT_LOAD='__asm__(\"ud2\")'");
  expect(result, "EH-R01", "load");
  EXPECT_EQ(result.diagnosis->value(Key::in_library), plugin_path());
  EXPECT_EQ(result.diagnosis->value(Key::instruction).substr(0, 4), "0f0b");
  EXPECT_EQ(result.diagnosis->value(Key::tries), "2");
}

TEST_F(ProbeOf, ASegmentationFaultIsR02AndItsLibraryIsNamed) {
  const ProbeResult result = tried("-DAT_LOAD='*(volatile int*)8=1'");
  expect(result, "EH-R02", "load");
  EXPECT_EQ(result.diagnosis->value(Key::signal), "SIGSEGV");
  EXPECT_EQ(result.diagnosis->value(Key::in_library), plugin_path());
  EXPECT_EQ(result.diagnosis->value(Key::address), "0x8");
}

// The kernel then keeps no exit status of the probe.
TEST_F(ProbeOf, AHostThatIgnoresItsChildrenGetsNoFalseStatus) {
  for (const auto& [statement, code] :
       {std::pair{"", "passed"}, std::pair{"*(volatile int*)8=1", "EH-R02"}, std::pair{"abort()", "EH-R03"},
        std::pair{"_exit(0)", "EH-R04"}, std::pair{"kill(getpid(),SIGKILL)", "EH-R04"}}) {
    const auto plugin = workshop_.plugin(
        "libengine_x.so", "-include unistd.h -include signal.h -DAT_LOAD='" + std::string(statement) + "'");
    const auto before = std::signal(SIGCHLD, SIG_IGN);
    const ProbeResult result = probe(request(plugin));
    std::signal(SIGCHLD, before);
    EXPECT_EQ(result.passed ? "passed" : std::string(result.diagnosis->code_text()), code) << statement;
    EXPECT_TRUE(result.warnings.empty()) << statement;
    if (result.passed || code != std::string("EH-R04")) continue;
    EXPECT_THAT(std::string(result.diagnosis->value(Key::status_lost)), HasSubstr("SIGCHLD"));
    EXPECT_EQ(result.diagnosis->value(Key::exit_code), "");
    EXPECT_EQ(explain::category(*result.diagnosis), history::Category::transient);
  }
}

TEST_F(ProbeOf, ACrashInTheSelfTestIsReportedWithItsStage) {
  expect(tried("-DAT_SELFTEST='*(volatile int*)8=1'"), "EH-R02", "selftest");
}

TEST_F(ProbeOf, AnAbortIsR03AndItsCallerIsNamed) {
  const ProbeResult result = tried("-DAT_CREATE='fprintf(stderr,\"no license\\n\");abort()'");
  expect(result, "EH-R03", "create");
  EXPECT_EQ(result.diagnosis->value(Key::in_library), plugin_path());
  EXPECT_EQ(result.diagnosis->value(Key::last_words), "no license");
}

TEST_F(ProbeOf, AnUncaughtExceptionIsR03WithItsMessage) {
  const auto plugin = workshop_.cxx_library(
      "libengine_x.so",
      "#include <stdexcept>\nstruct S { S() { throw std::runtime_error(\"no GPU here\"); } } s;");
  const ProbeResult result = probe(request(plugin));
  expect(result, "EH-R03", "load");
  EXPECT_EQ(result.diagnosis->value(Key::exception), "std::runtime_error");
  EXPECT_EQ(result.diagnosis->value(Key::what), "no GPU here");
  EXPECT_THAT(explain::describe(*result.diagnosis), HasSubstr("no GPU here"));
}

TEST_F(ProbeOf, ExitZeroInAConstructorIsR04AndNoSuccess) {
  const ProbeResult result = tried("-DAT_LOAD='exit(0)'");
  expect(result, "EH-R04", "load");
  EXPECT_EQ(result.diagnosis->value(Key::exit_code), "0");
}

TEST_F(ProbeOf, AHangIsR05AfterTheDeadline) {
  ProbeRequest request = this->request(workshop_.plugin("libengine_x.so", "-DAT_LOAD='for(;;)pause()'"));
  request.deadline = std::chrono::milliseconds(300);
  const ProbeResult result = probe(request);
  expect(result, "EH-R05", "load");
  EXPECT_EQ(result.diagnosis->value(Key::in_library), plugin_path());
  EXPECT_LT(result.duration, std::chrono::seconds(5));
}

TEST_F(ProbeOf, AStackOverflowIsR06) {
  const auto plugin =
      workshop_.library("libengine_x.so",
                        "int deeper(volatile char*p){volatile char b[4096];b[0]=p[0];return deeper(b)+b[1];}"
                        "__attribute__((constructor)) void f(void){char c=0;deeper(&c);}",
                        "-O0 -fno-optimize-sibling-calls");
  expect(probe(request(plugin)), "EH-R06", "load");
}

TEST_F(ProbeOf, ALazySymbolThatIsMissingIsFoundAtLoading) {
  const auto plugin = workshop_.library(
      "libengine_x.so", "int missing_kernel(void); int f(void){return missing_kernel();}", "-Wl,-z,lazy");
  const ProbeResult result = probe(request(plugin));
  expect(result, "EH-L12", "load");
  EXPECT_EQ(result.diagnosis->value(Key::symbol), "missing_kernel");
  EXPECT_THAT(std::string(result.diagnosis->value(Key::os_said)),
              HasSubstr("undefined symbol: missing_kernel"));
}

TEST_F(ProbeOf, ASymbolThatIsMissingAtItsFirstCallIsL13) {
  // The plugin opens its own library lazily, as engines do, and calls into it.
  const auto part = workshop_.library(
      "libpart.so", "int missing_kernel(void); int g(void){return missing_kernel();}", "-Wl,-z,lazy");
  const ProbeResult result = tried("-include dlfcn.h -DAT_SELFTEST='((int(*)(void))dlsym(dlopen(\"" +
                                   part.native() + "\",1),\"g\"))()'");
  expect(result, "EH-L13", "selftest");
  EXPECT_EQ(result.diagnosis->value(Key::symbol), "missing_kernel");
}

TEST_F(ProbeOf, AMissingLibraryIsReadFromTheLoadersText) {
  const auto gone = workshop_.library("libgone.so.2", "int g(void){return 1;}", "-Wl,-soname,libgone.so.2");
  const auto plugin = workshop_.plugin(
      "libengine_x.so", "-Wl,--no-as-needed -L" + faults::quoted(workshop_.folder()) + " -l:libgone.so.2");
  workshop_.remove(gone);
  const ProbeResult result = probe(request(plugin));
  expect(result, "EH-L01", "load");
  EXPECT_EQ(result.diagnosis->value(Key::library), "libgone.so.2");
}

TEST_F(ProbeOf, ATruncatedLibraryIsDamagedContentNotAnEngineCrash) {
  const auto whole = workshop_.plugin("whole.so", "");
  const auto plugin = workshop_.cut(whole, "libengine_x.so", 4096);
  expect(probe(request(plugin)), "EH-F08", "load");
}

TEST_F(ProbeOf, WithoutADescriptorItIsR11) {
  expect(probe(request(workshop_.library("libengine_x.so", "int f(void){return 1;}"))), "EH-R11", "entry");
}

TEST_F(ProbeOf, R11ANullMemberOfTheDescriptorIsNamed) {
  const ProbeResult result = tried("-DENGINE=NULL");
  expect(result, "EH-R11", "entry");
  EXPECT_EQ(result.diagnosis->value(Key::problem), "`engine` of its descriptor is NULL");
  EXPECT_EQ(tried("-D'CREATE=NULL'").diagnosis->value(Key::problem), "`create` of its descriptor is NULL");
}

TEST_F(ProbeOf, ADescriptorOfADependencyIsNotThePlugins) {
  workshop_.plugin("libinner.so", "-Wl,-soname,libinner.so");
  const auto plugin = workshop_.library(
      "libengine_x.so", "int f(void){return 1;}",
      "-Wl,--no-as-needed -L" + faults::quoted(workshop_.folder()) + " -l:libinner.so -Wl,-rpath,'$ORIGIN'");
  const ProbeResult result = probe(request(plugin));
  expect(result, "EH-R11", "entry");
  EXPECT_THAT(std::string(result.diagnosis->value(Key::problem)), HasSubstr("libinner.so"));
}

TEST_F(ProbeOf, AnotherAbiIsR12) { expect(tried("-DMAJOR=9"), "EH-R12", "entry"); }

TEST_F(ProbeOf, KeepsThePluginsReports) {
  const ProbeResult result = tried(
      "-DAT_CREATE='call->detail(call,\"missing_library\",\"libcudnn.so.8\");return "
      "call->fail(call,ENGINE_UNAVAILABLE,"
      "\"\",0,\"cannot open cuDNN\")'");
  expect(result, "EH-E01", "create");
  EXPECT_EQ(result.diagnosis->value(Key::status), "ENGINE_UNAVAILABLE");
  EXPECT_EQ(result.diagnosis->value(Key::missing_library), "libcudnn.so.8");
  EXPECT_THAT(explain::describe(*result.diagnosis), HasSubstr("cuDNN 8"));
}

TEST_F(ProbeOf, AnErrorReportedBeforeOkIsAWarningAndNoFailure) {
  const ProbeResult result = tried(
      "-DAT_CREATE='call->fail(call,ENGINE_UNAVAILABLE,\"cuda\",100,\"no device, used the processor\")'");
  ASSERT_TRUE(result.passed);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].code, "EH-E01");
  EXPECT_EQ(result.warnings[0].value(Key::message), "no device, used the processor");
}

TEST_F(ProbeOf, CudaNumbersBecomeTheirClasses) {
  const ProbeResult old = tried(
      "-DAT_CREATE='return call->fail(call,ENGINE_UNAVAILABLE,\"cuda\",35,\"CUDA driver version is "
      "insufficient\")'");
  expect(old, "EH-G03", "create");
  const ProbeResult none = tried(
      "-DAT_CREATE='call->detail(call,\"found\",\"0\");return "
      "call->fail(call,ENGINE_UNAVAILABLE,\"cuda\",35,\"old\")'");
  expect(none, "EH-G01", "create");
  expect(tried("-DAT_SELFTEST='return call->fail(call,ENGINE_UNAVAILABLE,\"cuda\",100,\"no device\")'"),
         "EH-G07", "selftest");
}

TEST_F(ProbeOf, ADeviceThatIsNotOfferedIsG16) {
  ProbeRequest request = this->request(workshop_.plugin("libengine_x.so"));
  request.devices = {"cuda:0"};
  const ProbeResult result = probe(request);
  expect(result, "EH-G16", "selftest");
  EXPECT_EQ(result.diagnosis->value(Key::devices), "cpu:0");
}

TEST_F(ProbeOf, G16TheDevicesOfferedInsteadOfAGpuAreNamed) {
  ProbeRequest request = this->request(workshop_.plugin("libengine_x.so"));
  request.devices = {"gpu"};
  const ProbeResult result = probe(request);
  expect(result, "EH-G16", "selftest");
  EXPECT_THAT(explain::describe(*result.diagnosis), HasSubstr("offers cpu:0, but gpu was asked for"));
}

TEST_F(ProbeOf, ADeviceBeyondThoseOfItsKindIsTheRequestsMistake) {
  ProbeRequest request = this->request(workshop_.plugin("libengine_x.so"));
  for (const char* device : {"cpu:7", "cpu:x"}) {
    request.devices = {device};
    const ProbeResult result = probe(request);
    expect(result, "EH-S09", "selftest");
    EXPECT_EQ(result.diagnosis->value(Key::offered), "cpu:0");
  }
}

// Having none is no error (engine_plugin.h).
TEST_F(ProbeOf, AnEngineThatPromisesTheProcessorOnlyMayHaveNoDevice) {
  const ProbeResult result = tried("-DDEVICES=0");
  EXPECT_TRUE(result.passed) << explain::describe(*result.diagnosis);
  EXPECT_TRUE(result.devices.empty());
}

TEST_F(ProbeOf, AnEngineWithoutDevicesReportsItsReason) {
  const ProbeResult none = tried("-DDEVICES=0 -DCAPABILITIES='\"device.cuda\"'");
  expect(none, "EH-G16", "selftest");
  expect(tried("-DDEVICES=0 -DAT_SELFTEST='return call->fail(call,ENGINE_UNAVAILABLE,\"cuda\",802,\"not "
               "ready\")'"),
         "EH-G11", "selftest");
}

TEST_F(ProbeOf, R13ACrashWhileUnloadingIsAWarningOnly) {
  const ProbeResult result = tried("-DAT_DESTROY='*(volatile int*)8=1'");
  EXPECT_TRUE(result.passed);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].code, "EH-R13");
  EXPECT_EQ(result.warnings[0].value(Key::in_library), plugin_path());
}

TEST_F(ProbeOf, R09WhatALibraryChangesInTheProcessIsWarnedOf) {
  const ProbeResult result = tried("-DAT_LOAD='umask(0);signal(SIGINT,SIG_IGN);chdir(\"/\")'");
  EXPECT_TRUE(result.passed);
  std::string changed;
  for (const Diagnosis& warning : result.warnings)
    if (warning.code == "EH-R09") changed += std::string(warning.value(Key::changed)) + ";";
  EXPECT_THAT(changed, HasSubstr("the umask"));
  EXPECT_THAT(changed, HasSubstr("SIGINT"));
  EXPECT_THAT(changed, HasSubstr("the current folder"));
}

TEST_F(ProbeOf, R08AChangedFloatingPointModeIsWarnedOf) {
  const ProbeResult result = tried("-ffast-math");
  EXPECT_TRUE(result.passed);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].code, "EH-R08");
}

TEST_F(ProbeOf, PrintingToStandardOutputHarmsNothing) {
  EXPECT_TRUE(tried("-DAT_LOAD='puts(\"{\\\"ok\\\":\\\"forged\\\"}\");fflush(stdout)'").passed);
}

TEST_F(ProbeOf, ATokenWithoutTheNonceIsNoSuccess) {
  expect(tried("-DAT_LOAD='dprintf(200,\"{\\\"nonce\\\":\\\"x\\\",\\\"ok\\\":\\\"x\\\"}\\n\");_exit(0)'"),
         "EH-R04", "load");
}

TEST_F(ProbeOf, AFewOpenFilesAreEnough) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const ProbeRequest asked = request(workshop_.plugin("libengine_x.so"));
  const rlimit few{64, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const ProbeResult result = probe(asked);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(result.passed) << (result.diagnosis ? explain::describe(*result.diagnosis) : "");
}

TEST_F(ProbeOf, AMissingProbeIsP20) {
  ProbeRequest request = this->request(workshop_.plugin("libengine_x.so"));
  request.helper = "/nonexistent/enginehost-probe";
  const ProbeResult result = probe(request);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-P20");
}

// The build was not touched yet.
TEST_F(ProbeOf, AProbeThatEndsBeforeItsFirstLineIsP20) {
  ProbeRequest request = this->request(workshop_.plugin("libengine_x.so"));
  struct Case {
    const char *script, *key, *value;
  };
  for (const Case& one :
       {Case{"echo 'error while loading shared libraries: libx.so.1' >&2; exit 127", "exit_code", "127"},
        Case{"kill -SEGV $$", "signal", "SIGSEGV"}, Case{"kill -ABRT $$", "signal", "SIGABRT"},
        Case{"exit 0", "exit_code", "0"}}) {
    SCOPED_TRACE(one.script);
    const auto file = workshop_.file("helper.sh", std::string("#!/bin/sh\n") + one.script + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    request.helper = file;
    const ProbeResult result = probe(request);
    ASSERT_TRUE(result.diagnosis);
    EXPECT_EQ(result.diagnosis->code, "EH-P20");
    EXPECT_EQ(result.diagnosis->value(key_named(one.key).value()), one.value);
    EXPECT_EQ(result.diagnosis->value(Key::program), file.native());
    EXPECT_EQ(explain::category(*result.diagnosis), history::Category::request) << "no strike";
  }
}

// As the outcome of a child on Windows: one signal stands for all similar exceptions.
TEST_F(ProbeOf, TheExceptionThatEndsAProbeOnWindowsIsReported) {
  ChildOutcome ended;
  ended.signal = SIGABRT;
  ended.exception = 0xC0000409;
  const ProbeResult result = judge(ended, "nonce", request("engine.dll"));
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-P20");
  EXPECT_EQ(result.diagnosis->value(Key::exit_code), "0xC0000409");
  EXPECT_THAT(explain::describe(*result.diagnosis), Not(HasSubstr("SIGABRT")));
}

TEST_F(ProbeOf, AProbeThatDoesNotStartInTimeIsP20) {
  ProbeRequest request = this->request(workshop_.plugin("libengine_x.so"));
  request.launcher = {"/bin/sh", "-c", "sleep 30"};
  request.deadline = std::chrono::milliseconds(200);
  const ProbeResult result = probe(request);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-P20");
  EXPECT_EQ(result.diagnosis->value(Key::deadline), "0.2 s");
}

// As the end of a service does to all of its processes.
TEST_F(ProbeOf, AProbeKilledFromOutsideIsNoFaultOfTheBuild) {
  for (const std::string signal : {"SIGTERM", "SIGINT", "SIGHUP"}) {
    const ProbeResult result = tried("-DAT_LOAD='raise(" + signal + ")'");
    ASSERT_TRUE(result.diagnosis);
    EXPECT_EQ(result.diagnosis->code, "EH-R14");
    EXPECT_EQ(result.diagnosis->value(Key::signal), signal);
    EXPECT_EQ(explain::category(*result.diagnosis), history::Category::transient);
    EXPECT_THAT(explain::describe(*result.diagnosis),
                HasSubstr("the probe was ended from outside with " + signal));
    // A shell between the two passes the signal on as its exit status.
    ProbeRequest launched = request(workshop_.plugin("libengine_x.so", "-DAT_LOAD='raise(" + signal + ")'"));
    launched.launcher = {"/bin/sh", "-c", "\"$0\" \"$@\"; exit $?"};
    const ProbeResult reported = probe(launched);
    ASSERT_TRUE(reported.diagnosis);
    EXPECT_EQ(reported.diagnosis->code, "EH-R14") << explain::describe(*reported.diagnosis);
  }
}

TEST_F(ProbeOf, ALauncherPrecedesTheProbe) {
  ProbeRequest request = this->request(workshop_.plugin("libengine_x.so"));
  request.launcher = {"/usr/bin/env", "--"};
  EXPECT_TRUE(probe(request).passed);
}

// The result of the program below.
TEST(ProgramThatProbes, DISABLED_AfterItSetAVariable) {
  ::setenv("LD_LIBRARY_PATH", environment_variable("LATER").value_or("").c_str(), 1);
  ProbeRequest request;
  request.helper = ENGINEHOST_PROBE;
  request.load.plugin = environment_variable("PLUGIN").value_or("");
  request.load.view = request.load.plugin.parent_path();
  const ProbeResult result = probe(request);
  void* const here = ::dlopen(request.load.plugin.c_str(), RTLD_NOW);
  EXPECT_EQ(result.passed, here != nullptr);
  std::fprintf(stderr, "<%s>", result.passed ? "passed" : result.diagnosis->code_text().data());
}

// This process' loader uses the value that the variable had when the process was started.
TEST_F(ProbeOf, AVariableThatTheProgramSetLaterIsNotPassedOn) {
  const auto leaf =
      workshop_.library("home/libleaf_x.so", "int leaf(void) { return 1; }", "-Wl,-soname,libleaf_x.so");
  const auto plugin = workshop_.plugin("view/libengine_x.so", "-Wl,--no-as-needed " + faults::quoted(leaf));
  const auto reported = [&](const std::string& at_start, const std::string& later) {
    ChildRequest child;
    child.argv = {executable_path(), "--gtest_filter=ProgramThatProbes.*", "--gtest_also_run_disabled_tests"};
    child.environment = {"LD_LIBRARY_PATH=" + at_start, "LATER=" + later, "PLUGIN=" + plugin.native()};
    const auto ended = run_child(child);
    EXPECT_TRUE(ended && ended->succeeded()) << (ended ? ended->output : "");
    return ended ? ended->error : "";
  };
  const std::string home = workshop_.path("home").native();
  EXPECT_THAT(reported(home, "/elsewhere"), HasSubstr("<passed>"));
  EXPECT_THAT(reported("/elsewhere", home), HasSubstr("<EH-L01>"));
}

TEST_F(ProbeOf, ItCanBeCanceled) {
  ProbeRequest request = this->request(workshop_.plugin("libengine_x.so", "-DAT_LOAD='for(;;)pause()'"));
  request.cancel = CancelToken();
  std::thread other([cancel = *request.cancel] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    cancel.cancel();
  });
  const ProbeResult result = probe(request);
  other.join();
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-P10");
}

}  // namespace
}  // namespace enginehost::load
