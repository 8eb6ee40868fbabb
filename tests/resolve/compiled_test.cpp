// Builds that have only PTX for a GPU: the driver compiles it at the first run.
#include <gmock/gmock.h>

#include "host/resolve/describe.hpp"
#include "host/resolve/passed_over.hpp"
#include "tests/resolve/toy.hpp"

namespace enginehost::resolve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string machine_code_to_9 =
    toy_build("cu126", R"({"cuda":{"toolkit":"12.6","sass":["6.0","8.0","9.0"],"ptx":["9.0"]}})");

std::vector<std::string> compiled_on(const std::vector<std::pair<std::string, std::string>>& gpus,
                                     const std::string& device = "", const std::string& cuda = "13.0",
                                     const std::string& driver = "580.65.06") {
  const Plan plan = toy_plan(with_gpus(ubuntu22, driver, cuda, gpus), machine_code_to_9, device);
  return compiled_for(plan.candidates.at(0));
}

TEST(CompiledTest, OnlyGpusWithoutMachineCodeAreNamed) {
  EXPECT_THAT(compiled_on({{"RTX 5090", "12.0"}}), ElementsAre("cuda:0 (RTX 5090, 12.0)"));
  EXPECT_THAT(compiled_on({{"H100", "9.0"}}), IsEmpty());
  EXPECT_THAT(compiled_on({{"RTX 4090", "8.9"}, {"RTX 5090", "12.0"}}),
              ElementsAre("cuda:1 (RTX 5090, 12.0)"));
  EXPECT_THAT(compiled_on({{"RTX 3090", "8.6"}}), IsEmpty()) << "machine code of the same major";
  EXPECT_THAT(compiled_on({{"M40", "5.2"}}), IsEmpty()) << "no code at all";
  EXPECT_THAT(compiled_on({{"B200", "10.0"}, {"RTX 5090", "12.0"}}),
              ElementsAre("cuda:0 (B200, 10.0)", "cuda:1 (RTX 5090, 12.0)"));
}

TEST(CompiledTest, OnlyGpusThatTheRequestUsesCount) {
  EXPECT_THAT(compiled_on({{"RTX 4090", "8.9"}, {"RTX 5090", "12.0"}}, "cuda:0"), IsEmpty());
  EXPECT_THAT(compiled_on({{"RTX 4090", "8.9"}, {"RTX 5090", "12.0"}}, "cuda:1"),
              ElementsAre("cuda:1 (RTX 5090, 12.0)"));
}

TEST(CompiledTest, ADriverThatCannotCompileItIsAnotherFailure) {
  EXPECT_THAT(compiled_on({{"RTX 5090", "12.0"}}, "", "12.2", "535.104.05"), IsEmpty());
}

TEST(CompiledTest, TheSentenceNamesTheCommandForThisBuild) {
  const Plan plan =
      toy_plan(with_gpus(ubuntu22, "580.65.06", "13.0", {{"RTX 5090", "12.0"}}), machine_code_to_9);
  const auto note = compiled_at_first_use(plan.candidates.at(0));
  ASSERT_TRUE(note);
  EXPECT_EQ(explain::one_line(*note),
            "EH-G27 the first run compiles for your GPU and may take minutes, because toy-1.0-cu126 has only "
            "PTX for "
            "cuda:0 (RTX 5090, 12.0); engine-info toy@1.0 --flavor cu126 --warm does it now");
  EXPECT_EQ(to_json(plan.candidates.at(0))["compiled_for"].as_array().size(), 1u);
  const Plan served =
      toy_plan(with_gpus(ubuntu22, "580.65.06", "13.0", {{"H100", "9.0"}}), machine_code_to_9);
  EXPECT_FALSE(compiled_at_first_use(served.candidates.at(0)));
  EXPECT_THAT(to_json(served.candidates.at(0))["compiled_for"].as_array(), IsEmpty());
}

}  // namespace
}  // namespace enginehost::resolve
