// Recorded Macs: who gets a build for mps.
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
  checks = candidate->checks();
  for (const Check& check : checks)
    if (check.result == Answer::no) return &check;
  return nullptr;
}

TEST(Macs, Apple_silicon_gets_the_mps_build) {
  const Plan plan = plan_for(recorded("macos-arm64-m2"));
  EXPECT_EQ(chosen(plan), mps);
  EXPECT_EQ(code_of(plan, mps, "macos"), "");
}

TEST(Macs, an_Intel_Mac_does_not_though_it_has_a_Metal_device) {
  const Platform intel = recorded("macos-x86_64-intel");
  EXPECT_TRUE(intel.metal.is_known());
  const Plan plan = plan_for(intel);
  EXPECT_EQ(chosen(plan), "");
  const Check* refusal = refusal_of(plan, mps);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->code, "EH-S03");
  EXPECT_THAT(refusal->requirement + refusal->observed, HasSubstr("x86_64"));
}

// The device is there and the libraries lie on disk; the process cannot load them.
TEST(Macs, a_program_under_Rosetta_does_not_either) {
  const Platform rosetta = recorded("macos-x86_64-rosetta-m2"), native = recorded("macos-arm64-m2");
  EXPECT_EQ(rosetta.metal, native.metal);
  const Plan plan = plan_for(rosetta);
  EXPECT_EQ(chosen(plan), "");
  EXPECT_EQ(code_of(plan, mps, "macos"), "EH-S03");
}

TEST(Macs, a_Mac_without_a_Metal_device_is_told_that_it_lacks_one) {
  Platform bare = recorded("macos-arm64-m2");
  bare.metal = Fact<platform::Metal>::absent("MTLCreateSystemDefaultDevice");
  EXPECT_EQ(code_of(plan_for(bare), mps, "macos"), "EH-S17");
}

TEST(Macs, a_system_that_is_too_old_is_refused_with_both_versions) {
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
