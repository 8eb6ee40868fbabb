// EH-R: the plugin links, but its code crashes, ends the process or hangs while it is opened, or it is no
// plugin.
#include <gmock/gmock.h>

#include "base/text.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/reference_plugin.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

// tests/faults/plugin.c for the engine "reference", unless `flag` says otherwise.
std::string played_plugin(const std::string& flag) {
  return compile_library(read_text(source_path("/tests/faults/plugin.c")),
                         {"-w", "-I" + source_path("/plugin-api/include"),
                          flag.find("ENGINE=") == std::string::npos ? "-DENGINE=\"reference\"" : flag, flag});
}

// The plugin with a library that runs `body` when it is loaded.
TestBuild with_constructor(const std::string& body) {
  const std::string source =
      "#include <stdlib.h>\n#include <unistd.h>\nint* volatile nowhere;\n__attribute__((constructor)) static "
      "void begin(void) { " +
      body + " }\n";
  TestBuild build = faulty_build({{plugin, plugin_that_needs({"libstart.so"}, "$ORIGIN/lib")},
                                  {"lib/libstart.so", compile_library(source, {"-Wl,-soname,libstart.so"})}});
  build.search = {"lib"};
  return build;
}

std::string hostile(const std::string& name) {
  return read_text(build_path("/tests/hostile/libhostile_") + name + ".so");
}

TEST(RunningFaults, ReportsR01WithTheLibraryOfAnIllegalInstruction) {
  expect_fault({with_constructor("__builtin_trap();"), "EH-R01", {"libstart.so"}});
}

// The instruction is AVX2's, and the file does not declare it.
TEST(RunningFaults, ReportsR01ForAnInstructionOfANewerProcessor) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "needs an x86-64 processor to play an older one";
#endif
  const std::vector<std::string> older = {"qemu-x86_64", "-cpu", "Nehalem"};
  ChildRequest request;
  request.argv = older;
  request.argv.emplace_back("/bin/true");
  const auto child = run_child(request);
  if (!child || !child->succeeded()) GTEST_SKIP() << "qemu-user is not installed";
  RunOptions played;
  played.environment = {"ENGINEHOST_PROBE_LAUNCHER=" + join(older, " ")};
  expect_fault({with_constructor("__asm__ volatile(\"vpaddd %ymm0, %ymm1, %ymm2\");"),
                "EH-R01",
                {"libstart.so", "c5f5fed0"},
                played});
}

TEST(RunningFaults, ReportsR02WithTheLibraryThatCrashedWhileLoading) {
  expect_fault({with_constructor("*nowhere = 1;"), "EH-R02", {"libstart.so"}});
}

TEST(RunningFaults, ReportsR03WithTheLastWordsOfAnAbort) {
  expect_fault({with_constructor("(void)!write(2, \"no such device, sorry\\n\", 22); abort();"),
                "EH-R03",
                {"no such device, sorry"}});
}

// Prints the text to standard error, then ends the process.
TestBuild that_says(const std::string& text, const std::string& end) {
  return with_constructor("(void)!write(2, \"" + text + "\\n\", " + std::to_string(text.size() + 1) + "); " +
                          end);
}

TEST(RunningFaults, ReportsR15ForTheFatalErrorOfMkl) {
  expect_fault(
      {that_says("Intel MKL FATAL ERROR: Cannot load libmkl_avx2.so.2 or libmkl_def.so.2.", "exit(2);"),
       "EH-R15",
       {"libmkl_def.so.2"}});
}

TEST(RunningFaults, ReportsL45ForTheSameProtoFileInTwoLibraries) {
  for (const char* end : {"abort();", "exit(1);"})
    expect_fault({that_says("[libprotobuf ERROR] File already exists in database: onnx/onnx-ml.proto", end),
                  "EH-L45",
                  {"onnx/onnx-ml.proto"}});
}

TEST(RunningFaults, ReportsR21BeforeTheBuildIsLoaded) {
  TestBuild build =
      faulty_build({{plugin, plugin_that_needs({"libpart.so"}, "$ORIGIN/lib")},
                    {"lib/libpart.so", compile_library("int one(void) { return 1; }\n",
                                                       {"-fsanitize=address", "-Wl,-soname,libpart.so"})}});
  build.search = {"lib"};
  expect_fault({build, "EH-R21", {"libasan.so", "libpart.so"}});
}

TEST(RunningFaults, ReportsR04ForAnExitWithStatus0) {
  expect_fault({with_constructor("exit(0);"), "EH-R04", {"0"}});
}

// A parent that ignores SIGCHLD passes that on.
TEST(RunningFaults, KnowsTheProbesStatusUnderIgnoredSIGCHLD) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(with_constructor("exit(7);"));
  repository.write();
  RunOptions options;
  options.launcher = {"/usr/bin/env", "--ignore-signal=CHLD"};
  const Ended ended =
      workplace.info({"reference", "--repository", repository.root().native(), "--json"}, options);
  EXPECT_EQ(ended.code(), "EH-R04") << ended.said();
  EXPECT_EQ(evidence(ended.diagnosis(), "exit_code"), "7") << ended.said();
}

// Takes the probe's timeout (30 s) in each of the two opens.
TEST(RunningFaultsSlow, ReportsR05AtTheDeadlineOfAHangingLoad) {
  expect_fault({with_constructor("for (;;) pause();"), "EH-R05", {"load"}});
}

TEST(RunningFaults, ReportsR11WithTheExportsOfALibrary) {
  expect_fault({faulty_build({{plugin, compile_library("int something_else(void) { return 1; }\n")}}),
                "EH-R11",
                {"engine_plugin_v1"}});
}

TEST(RunningFaults, ReportsR12WithBothInterfaceVersions) {
  expect_fault({faulty_build({{plugin, hostile("abi_major_2")}}), "EH-R12", {"2"}});
}

// A build that works and runs `body` with `attribute` ("constructor", "destructor").
TestBuild that_works_and(const std::string& attribute, const std::string& body) {
  const std::string source = "#include <stdio.h>\nint* volatile nowhere;\n__attribute__((" + attribute +
                             ")) static void here(void) { " + body + " }\n";
  TestBuild build = faulty_build({{plugin, plugin_that_needs({"libend.so"}, "$ORIGIN/lib")},
                                  {"lib/libend.so", compile_library(source, {"-Wl,-soname,libend.so"})}});
  build.search = {"lib"};
  return build;
}

const Json* warning_of(const Ended& run, const std::string& code) {
  for (const Json& warning : run.document["warnings"].as_array())
    if (warning["diagnosis"]["code"].as_string() == code) return &warning["diagnosis"];
  return nullptr;
}

// Opens it three times (with a probe, twice by the proof) and expects the warning each time, and status 0.
void expect_warned_at_each_open(const TestBuild& build, const std::string& code) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(build);
  repository.write();
  for (const bool probed : {true, false, false}) {
    const Ended run = workplace.info({"reference", "--repository", repository.root().native(), "--json"});
    EXPECT_EQ(run.status, 0) << run.said();
    EXPECT_EQ(run.outcome()["state"].as_string(), "opened") << run.said();
    EXPECT_EQ(run.outcome()["timings_ms"].find("probe") != nullptr, probed);
    ASSERT_NE(warning_of(run, code), nullptr) << run.said();
    EXPECT_EQ(run.document["warnings"].as_array().size(), 1u) << run.said();
  }
  const Ended text = workplace.info({"reference", "--repository", repository.root().native()});
  EXPECT_EQ(text.status, 0) << text.said();
  EXPECT_THAT(text.error, testing::HasSubstr(code));
  EXPECT_THAT(text.output, testing::HasSubstr("is open"));
  const Ended ran = workplace.run("engine-run", {"reference", "/nonexistent.model", "--repository",
                                                 repository.root().native(), "--json"});
  EXPECT_LT(ran.status, 128) << ran.said();
}

TEST(RunningFaults, R13WarnsAtEachOpenOfACrashAtTheEnd) {
  expect_warned_at_each_open(that_works_and("destructor", "*nowhere = 1;"), "EH-R13");
}

TEST(RunningFaults, R07WarnsAtEachOpenAndKeepsTheDocumentClean) {
  expect_warned_at_each_open(that_works_and("constructor", "puts(\"{}\"); fflush(stdout);"), "EH-R07");
}

// Buffered output is also printed when the process ends.
TEST(RunningFaults, R07KeepsBufferedOutputOutOfTheDocument) {
  expect_warned_at_each_open(that_works_and("constructor", "printf(\"{\");"), "EH-R07");
}

TEST(RunningFaults, R12WarnsOfAPluginOfAnotherEngine) {
  expect_warned_at_each_open(faulty_build({{plugin, played_plugin("-DENGINE=\"storm\"")}}), "EH-R12");
}

// The manifest promises only the processor.
TEST(RunningFaults, AnEngineThatOffersNoDeviceIsOpened) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(faulty_build({{plugin, played_plugin("-DDEVICES=0")}}));
  repository.write();
  const Ended run = workplace.info({"reference", "--repository", repository.root().native(), "--json"});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_TRUE(run.outcome()["devices"].as_array().empty()) << run.said();
}

TEST(RunningFaults, AnAdapterReportsItsMissingRuntime) {
  expect_fault({faulty_build({{plugin, hostile("missing_runtime")}}), "EH-E01", {"libnosuchruntime.so.1"}});
}

// The user who opens the build passed nothing that could be corrected.
TEST(RunningFaults, AWrongOptionIsBlamedOnTheManifest) {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"--no-probe"}}) {
    const Workplace workplace;
    TestRepository repository(workplace.folder() / "repository");
    TestBuild build = faulty_build({{plugin, reference_plugin()}});
    build.options.set("reference.speed", "high");
    repository.add(build);
    repository.write();
    std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(), "--json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Ended run = workplace.info(arguments);
    EXPECT_EQ(run.status, 6) << run.said();
    EXPECT_EQ(run.code(), "EH-E01") << run.said();
    EXPECT_EQ(evidence(run.diagnosis(), "option"), "reference.speed");
    const auto& remedies = run.diagnosis()["remedy"].as_array();
    ASSERT_EQ(remedies.size(), 2u) << run.said();
    EXPECT_EQ(remedies[0].as_string(),
              "correct \"options\" of " + build.id +
                  " in its manifest, which sets reference.speed, or ask its publisher to do so");
    EXPECT_EQ(remedies[1].as_string(), "use another version or build: engine-info --repository " +
                                           repository.root().native() +
                                           " reference --plan --explain lists them");
  }
}

}  // namespace
}  // namespace enginehost::test
