// Runtimes that a process may hold only once, recognized by their names.
#include "tests/open/open_engines_fixture.hpp"

namespace enginehost::open {
namespace {

using testing::Contains;

std::vector<std::string> codes(const std::vector<Diagnosis>& warnings) {
  std::vector<std::string> codes;
  for (const Diagnosis& warning : warnings) codes.push_back(std::string(warning.code_text()));
  return codes;
}

TEST_F(OpenEngines, RefuseL35UnlessTheUserAllowsASecondOpenMp) {
  publish(intels_openmp, llvms_openmp, 2);
  const Outcome held = first();
  const Outcome outcome = open_flavor("");
  EXPECT_EQ(outcome.opened->installed.build, "reference-good");
  const Diagnosis refused = why_not(outcome, "second");
  EXPECT_EQ(refused.code, "EH-L35");
  EXPECT_EQ(refused.value(Key::held_by), "first");
  EXPECT_THAT(refused.values(Key::library), testing::UnorderedElementsAre(intels_openmp, llvms_openmp));
  test::set_variable("KMP_DUPLICATE_LIB_OK", "TRUE");
  const Outcome allowed = open_flavor("");
  test::remove_variable("KMP_DUPLICATE_LIB_OK");
  EXPECT_EQ(allowed.opened->installed.build, "second");
  EXPECT_THAT(codes(allowed.warnings), Contains("EH-L35"));
}

TEST_F(OpenEngines, WarnG18OfTwoCudaMajorVersions) {
  publish(runtime_of_cuda_11, runtime_of_cuda_13, 2);
  const Outcome held = first();
  const Outcome outcome = open_flavor("");
  EXPECT_EQ(outcome.opened->installed.build, "second");
  ASSERT_THAT(codes(outcome.warnings), Contains("EH-G18"));
  for (const Diagnosis& warning : outcome.warnings)
    if (warning.code == "EH-G18") {
      EXPECT_EQ(warning.value(Key::cuda), "13");
      EXPECT_EQ(warning.value(Key::held_cuda), "11");
    }
}

}  // namespace
}  // namespace enginehost::open
