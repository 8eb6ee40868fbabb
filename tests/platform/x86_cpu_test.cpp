// Features and levels from the results of CPUID.
#include <gmock/gmock.h>

#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

using ::testing::Contains;
using ::testing::Not;

// A processor that has everything that the tables list.
Cpuid everything() {
  Cpuid answers;
  for (auto* leaf : {&answers.leaf1, &answers.leaf7, &answers.leaf7_1, &answers.extended1})
    *leaf = {0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu};
  answers.xcr0 = 0x600e7;
  return answers;
}

TEST(Cpu, LevelIsFourWhenEverythingIsThere) { EXPECT_EQ(x86_cpu(everything()).level, "x86-64-v4"); }

TEST(Cpu, RegistersThatTheSystemDoesNotSaveDisableTheirFeatures) {
  Cpuid answers = everything();
  answers.xcr0 = 0x7;  // AVX is saved, AVX-512 and AMX are not
  const Cpu cpu = x86_cpu(answers);
  EXPECT_EQ(cpu.level, "x86-64-v3");
  EXPECT_THAT(cpu.features, Contains("avx2"));
  EXPECT_THAT(cpu.features, Not(Contains("avx512f")));
  EXPECT_THAT(cpu.features, Not(Contains("amx_tile")));
}

TEST(Cpu, WithoutSavedStateNoAvxAtAll) {
  Cpuid answers = everything();
  answers.xcr0 = 0;
  const Cpu cpu = x86_cpu(answers);
  EXPECT_EQ(cpu.level, "x86-64-v2");
  EXPECT_THAT(cpu.features, Not(Contains("avx")));
  EXPECT_THAT(cpu.features, Contains("sse4_2"));
}

TEST(Cpu, AVirtualMachineIsAFeatureOfNoLevel) {
  Cpuid answers = everything();
  EXPECT_THAT(x86_cpu(answers).features, Contains("hypervisor"));
  answers.leaf1.ecx &= ~(1u << 31);
  EXPECT_THAT(x86_cpu(answers).features, Not(Contains("hypervisor")));
  EXPECT_EQ(x86_cpu(answers).level, "x86-64-v4");
}

TEST(Cpu, EachFeatureOfALevelIsNeededForIt) {
  struct Missing {
    std::uint32_t Cpuid::Registers::*where;
    Cpuid::Registers Cpuid::*leaf;
    int bit;
    const char* level;
  };
  using R = Cpuid::Registers;
  using A = Cpuid;
  const Missing cases[] = {
      {&R::ecx, &A::leaf1, 13, "x86-64-v1"},     // CMPXCHG16B
      {&R::ecx, &A::extended1, 0, "x86-64-v1"},  // LAHF
      {&R::ecx, &A::leaf1, 23, "x86-64-v1"},     // POPCNT
      {&R::ecx, &A::leaf1, 0, "x86-64-v1"},      // SSE3
      {&R::ecx, &A::leaf1, 19, "x86-64-v1"},     // SSE4.1
      {&R::ecx, &A::leaf1, 20, "x86-64-v1"},     // SSE4.2
      {&R::ecx, &A::leaf1, 9, "x86-64-v1"},      // SSSE3
      {&R::ecx, &A::leaf1, 28, "x86-64-v2"},     // AVX
      {&R::ebx, &A::leaf7, 5, "x86-64-v2"},      // AVX2
      {&R::ebx, &A::leaf7, 3, "x86-64-v2"},      // BMI1
      {&R::ebx, &A::leaf7, 8, "x86-64-v2"},      // BMI2
      {&R::ecx, &A::leaf1, 29, "x86-64-v2"},     // F16C
      {&R::ecx, &A::leaf1, 12, "x86-64-v2"},     // FMA
      {&R::ecx, &A::extended1, 5, "x86-64-v2"},  // LZCNT
      {&R::ecx, &A::leaf1, 22, "x86-64-v2"},     // MOVBE
      {&R::ebx, &A::leaf7, 16, "x86-64-v3"},     // AVX512F
      {&R::ebx, &A::leaf7, 30, "x86-64-v3"},     // AVX512BW
      {&R::ebx, &A::leaf7, 28, "x86-64-v3"},     // AVX512CD
      {&R::ebx, &A::leaf7, 17, "x86-64-v3"},     // AVX512DQ
      {&R::ebx, &A::leaf7, 31, "x86-64-v3"},     // AVX512VL
  };
  for (const Missing& missing : cases) {
    Cpuid answers = everything();
    (answers.*missing.leaf).*missing.where &= ~(1u << missing.bit);
    EXPECT_EQ(x86_cpu(answers).level, missing.level) << "bit " << missing.bit;
  }
}

}  // namespace
}  // namespace enginehost::platform
