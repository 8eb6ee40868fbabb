// Builds for GPUs whose GPUs failed on this machine and that work on its processor.
#include "tests/resolve/toy.hpp"

namespace enginehost::resolve {
namespace {

class OnProcessor : public testing::Test {
 protected:
  Plan plan(const std::string& builds, const std::string& device = {}, const std::string& required = {}) {
    const manifest::Catalog catalog = toy_catalog(builds);
    history::History history;
    for (const auto& build : catalog.builds) {
      if (build->flavor != "cu126") continue;
      history::Record& record = history.records[build->id];
      record.build = build->id;
      record.artifacts_digest = build->artifacts_digest();
      record.state = history::State::unfit;
      record.diagnosis = Json::object().set("code", "EH-G23").set("cause", "cuda:0 fails");
      record.facts = Json::object().set("works_on_processor", true);
    }
    Request request;
    request.engine = "toy";
    request.device = device;
    request.flavor = required;
    request.require = !required.empty();
    return decide(with_gpus(ubuntu22, "560.35", "12.6", {{"A card", "8.0"}}), catalog, history, request, now);
  }
};

TEST_F(OnProcessor, ABuildIsTriedLastAndAsAFallback) {
  const Plan both = plan(toy_cu126 + "," + toy_cpu);
  EXPECT_EQ(toy_candidate(both, "cpu").rank, 1);
  EXPECT_TRUE(both.fallback) << "the GPU was better";
  const Candidate& last = toy_candidate(both, "cu126");
  EXPECT_EQ(last.rank, 2);
  EXPECT_TRUE(last.on_processor);
  EXPECT_EQ(last.verdict, Verdict::quarantined);
  ASSERT_TRUE(last.diagnosis());
  EXPECT_EQ(last.diagnosis()->value(Key::first_code), "EH-G23");

  const Plan alone = plan(toy_cu126);
  EXPECT_EQ(toy_candidate(alone, "cu126").rank, 1);
  EXPECT_EQ(toy_candidate(alone, "cu126").verdict, Verdict::chosen);
  EXPECT_TRUE(alone.fallback);
}

TEST_F(OnProcessor, ARequestForTheGpuDoesNotGetTheProcessor) {
  for (const Plan& refused :
       {plan(toy_cu126, "gpu"), plan(toy_cu126, "cuda:0"), plan(toy_cu126, "", "cu126")}) {
    EXPECT_EQ(toy_candidate(refused, "cu126").rank, 0);
    ASSERT_TRUE(refused.diagnosis);
    EXPECT_EQ(refused.diagnosis->code, "EH-S14");
  }
  EXPECT_EQ(toy_candidate(plan(toy_cu126, "cuda:0,cpu"), "cu126").rank, 1);
}

TEST_F(OnProcessor, ARequestForTheProcessorGetsItAsAnyOther) {
  const Plan asked = plan(toy_cu126, "cpu");
  EXPECT_EQ(toy_candidate(asked, "cu126").verdict, Verdict::chosen);
  EXPECT_FALSE(toy_candidate(asked, "cu126").turned_down);
  EXPECT_TRUE(toy_candidate(asked, "cu126").proven);
}

}  // namespace
}  // namespace enginehost::resolve
