// Recorded Macs: which of them get a build for mps.
#include <gmock/gmock.h>

#include "tests/resolve/machines.hpp"

namespace enginehost::resolve {
namespace {

using ::testing::HasSubstr;

constexpr const char* mps = "2.0.1-mps";

const Check* refusal_of(const Plan& plan, const std::string& build) {
  const Candidate* candidate = find(plan, build, "macos");
  if (candidate == nullptr) return nullptr;
  static std::vector<Check> checks;
  checks = candidate->checks;
  for (const Check& check : checks)
    if (check.result == Answer::no) return &check;
  return nullptr;
}

TEST(Macs, AppleSiliconGetsTheMpsBuild) {
  const Plan plan = plan_for(recorded("macos-arm64-m2"));
  EXPECT_EQ(chosen(plan), mps);
  EXPECT_EQ(code_of(plan, mps, "macos"), "");
}

TEST(Macs, AnIntelMacWithAMetalDeviceDoesNotGetIt) {
  const Platform intel = recorded("macos-x86_64-intel");
  EXPECT_TRUE(intel.metal.is_known());
  const Plan plan = plan_for(intel);
  EXPECT_EQ(chosen(plan), "");
  const Check* refusal = refusal_of(plan, mps);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->code, "EH-S03");
  EXPECT_THAT(refusal->requirement + refusal->observed, HasSubstr("x86_64"));
}

// The device exists and the libraries are on disk, but the process cannot load them.
TEST(Macs, AProgramUnderRosettaDoesNotGetIt) {
  const Platform rosetta = recorded("macos-x86_64-rosetta-m2"), native = recorded("macos-arm64-m2");
  EXPECT_EQ(rosetta.metal, native.metal);
  const Plan plan = plan_for(rosetta);
  EXPECT_EQ(chosen(plan), "");
  EXPECT_EQ(code_of(plan, mps, "macos"), "EH-S03");
}

TEST(Macs, AMacWithoutAMetalDeviceIsReported) {
  Platform bare = recorded("macos-arm64-m2");
  bare.metal = Fact<platform::Metal>::absent("MTLCreateSystemDefaultDevice");
  EXPECT_EQ(code_of(plan_for(bare), mps, "macos"), "EH-S17");
}

TEST(Macs, ASystemThatIsTooOldIsRefusedWithBothVersions) {
  Platform old = recorded("macos-arm64-m2");
  old.distribution =
      Fact<platform::Distribution>::known({"macos", "macOS 12.2", "12.2"}, "SystemVersion.plist");
  const Plan plan = plan_for(old);
  const Check* refusal = refusal_of(plan, mps);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->code, "EH-S06");
  EXPECT_EQ(refusal->observed, "12.2");
  EXPECT_THAT(refusal->requirement, HasSubstr("12.3"));
}

}  // namespace
}  // namespace enginehost::resolve
