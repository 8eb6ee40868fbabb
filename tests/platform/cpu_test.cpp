// This machine's processor compared with its kernel and /proc/cpuinfo.

#include <gmock/gmock.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#endif

#include <set>
#include <sstream>

#include "base/child_process.hpp"
#include "base/text.hpp"
#include "host/platform/parts.hpp"
#include "tests/platform/fixtures.hpp"

namespace enginehost::platform {
namespace {

TEST(Cpu, OfThisMachineAgreesWithTheKernel) {
#if defined(__aarch64__)
  constexpr const char* title = "Features";
  const std::vector<const char*> looked_for = {"asimd", "atomics", "asimddp", "sve", "i8mm", "bf16"};
#else
  constexpr const char* title = "flags";
  const std::vector<const char*> looked_for = {"avx",    "avx2",   "avx512f", "fma",
                                               "sse4_2", "popcnt", "amx_tile"};
#endif
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> flags;
  for (std::string line; std::getline(file, line) && flags.empty();)
    if (line.starts_with(title)) {
      std::istringstream words(line.substr(line.find(':') + 1));
      for (std::string word; words >> word;) flags.insert(word);
    }
  if (flags.empty())
    GTEST_SKIP() << "/proc/cpuinfo has no " << title << " here (an emulator shows the real machine's)";
  const auto fact = detect_cpu();
  ASSERT_TRUE(fact.is_known());
  EXPECT_GT(fact.value().cores, 0);
  for (const std::string& feature : fact.value().features)
    EXPECT_TRUE(flags.contains(feature) || feature == "sse3" || feature == "lzcnt") << feature;
  for (const char* feature : looked_for)
    EXPECT_EQ(flags.contains(feature),
              std::binary_search(fact.value().features.begin(), fact.value().features.end(), feature))
        << feature;
}

#if defined(__x86_64__)
// Each leaf that the processor has is read, and no other.
TEST(Cpu, AnswersAreThoseOfTheProcessor) {
  const Cpuid& answers = cpuid_of_this_processor();
  Cpuid::Registers said;
  __cpuid_count(0, 0, said.eax, said.ebx, said.ecx, said.edx);
  const std::uint32_t highest = said.eax;
  EXPECT_EQ(answers.intel, said.ebx == 0x756e6547);
  __cpuid_count(1, 0, said.eax, said.ebx, said.ecx, said.edx);
  EXPECT_EQ(answers.leaf1.eax, said.eax);
  EXPECT_EQ(answers.leaf1.ecx, said.ecx);
  EXPECT_EQ(answers.leaf1.edx, said.edx);
  __cpuid_count(0x80000001, 0, said.eax, said.ebx, said.ecx, said.edx);
  EXPECT_EQ(answers.extended1.ecx, said.ecx);
  if (highest < 7) return;
  __cpuid_count(7, 0, said.eax, said.ebx, said.ecx, said.edx);
  EXPECT_EQ(answers.leaf7.ebx, said.ebx);
  EXPECT_EQ(answers.leaf7.ecx, said.ecx);
  EXPECT_EQ(answers.leaf7.edx, said.edx);
  if (said.eax < 1) return;
  __cpuid_count(7, 1, said.eax, said.ebx, said.ecx, said.edx);
  EXPECT_EQ(answers.leaf7_1.eax, said.eax);
}

TEST(Cpu, LevelOfThisMachineMatchesTheLoaders) {
  const std::string loader = "/lib64/ld-linux-x86-64.so.2";
  if (!std::filesystem::exists(loader)) GTEST_SKIP() << "no " << loader;
  ChildRequest request;
  request.argv = {loader, "--help"};
  const auto outcome = run_child(request);
  ASSERT_TRUE(outcome.has_value());
  if (outcome->output.find("x86-64-v2") == std::string::npos) GTEST_SKIP() << "this loader lists no levels";
  std::string best = "x86-64-v1";
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"})
    if (outcome->output.find(std::string(level) + " (supported") != std::string::npos) best = level;
  EXPECT_EQ(detect_cpu().value().level, best);
}
#elif defined(__aarch64__)
// The kernel's promise to programs is the auxiliary vector; arm64 has no levels.
TEST(Cpu, OfArm64IsWhatTheKernelPromises) {
  const Cpu cpu = detect_cpu().value();
  EXPECT_EQ(detect_cpu().source(), "AT_HWCAP");
  EXPECT_EQ(cpu.level, "");
  EXPECT_TRUE(std::is_sorted(cpu.features.begin(), cpu.features.end()));
  const auto has = [&](const char* feature) {
    return std::binary_search(cpu.features.begin(), cpu.features.end(), feature);
  };
  EXPECT_EQ(has("asimd"), (::getauxval(AT_HWCAP) & HWCAP_ASIMD) != 0);
  EXPECT_EQ(has("atomics"), (::getauxval(AT_HWCAP) & HWCAP_ATOMICS) != 0);
  EXPECT_EQ(has("sve"), (::getauxval(AT_HWCAP) & HWCAP_SVE) != 0);
  EXPECT_EQ(has("bf16"), (::getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0);
  EXPECT_TRUE(has("fp")) << "every arm64 Linux has it";
}
#endif

}  // namespace
}  // namespace enginehost::platform
