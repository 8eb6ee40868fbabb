// EH-R: the plugin links, but what runs while it is opened crashes, ends the process, hangs, or is no plugin.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "tests/end-to-end/fault.hpp"

namespace enginehost::test {
namespace {

constexpr const char* plugin = "libengine_reference.so";

// The plugin with a library that runs this when it is loaded.
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
  return read_text(std::string(ENGINEHOST_BUILD_DIR) + "/tests/hostile/libhostile_" + name + ".so");
}

TEST(RunningFaults, R01_AnInstructionThatTheProcessorLacksIsToldWithTheLibrary) {
  expect_fault({with_constructor("__builtin_trap();"), "EH-R01", {"libstart.so"}});
}

// The instruction is AVX2's, and nothing in the file says that it is there.
TEST(RunningFaults, R01_AnInstructionOfANewerProcessorIsToldOnAnOlderOne) {
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

TEST(RunningFaults, R02_ACrashWhileLoadingIsToldWithTheLibraryAndHarmsNobody) {
  expect_fault({with_constructor("*nowhere = 1;"), "EH-R02", {"libstart.so"}});
}

TEST(RunningFaults, R03_AnAbortIsToldWithItsLastWords) {
  expect_fault({with_constructor("(void)!write(2, \"no such device, sorry\\n\", 22); abort();"),
                "EH-R03",
                {"no such device, sorry"}});
}

TEST(RunningFaults, R04_AnEngineThatEndsTheProcessSuccessfullyHasFailed) {
  expect_fault({with_constructor("exit(0);"), "EH-R04", {"0"}});
}

// Takes the deadline of the probe (30 s), once for each of the two openings.
TEST(RunningFaultsSlow, R05_AnEngineThatNeverFinishesLoadingIsEndedAtTheDeadline) {
  expect_fault({with_constructor("for (;;) pause();"), "EH-R05", {"load"}});
}

TEST(RunningFaults, R11_ALibraryThatIsNoPluginIsToldWithWhatItExports) {
  expect_fault({faulty_build({{plugin, compile_library("int something_else(void) { return 1; }\n")}}),
                "EH-R11",
                {"engine_plugin_v1"}});
}

TEST(RunningFaults, R12_APluginOfANewerInterfaceIsToldWithBothVersions) {
  expect_fault({faulty_build({{plugin, hostile("abi_major_2")}}), "EH-R12", {"2"}});
}

TEST(RunningFaults, AnAdapterWhoseRuntimeIsMissingIsBelieved) {
  expect_fault({faulty_build({{plugin, hostile("missing_runtime")}}), "EH-E01", {"libnosuchruntime.so.1"}});
}

}  // namespace
}  // namespace enginehost::test
