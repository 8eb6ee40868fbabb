// A build for GPUs whose GPU does not work, opened by a proof, by a cached decision, and through the library.
#include <algorithm>

#include "host/history/program.hpp"
#include "host/history/store.hpp"
#include "tests/open/fixture.hpp"

namespace enginehost::open {
namespace {

// The played plugin as a build for CUDA without requirements, so that no driver is needed.
class GpuBuild : public LoadOrder {
 protected:
  void SetUp() override {
    test::remove_variable("DEVICE_BEHAVIOR");
    test::TestBuild build = test::good_build("reference-gpu");
    build.flavor = "cu124";
    build.priority = 90;
    build.files = {{build.plugin, test::read_text(ENGINEHOST_LEAVING_PLUGIN)}};
    gpu_.add(build);
    gpu_.write();
    flags_.repositories = {path_text(gpu_.root())};
  }
  void TearDown() override { test::remove_variable("DEVICE_BEHAVIOR"); }
  void with_cpu_build() {
    gpu_.add(test::good_build());
    gpu_.write();
  }
  static void behave(const char* word) { test::set_variable("DEVICE_BEHAVIOR", word); }
  static std::string devices(const Outcome& outcome) {
    std::string names;
    for (const load::Device& device : outcome.opened->devices) names += device.text() + " ";
    return names;
  }
  static bool warns(const Outcome& outcome, std::string_view code) {
    return std::ranges::any_of(outcome.warnings,
                               [&](const Diagnosis& warning) { return warning.code == code; });
  }

  test::TestRepository gpu_{folder_ / "gpu"};
};

TEST_F(GpuBuild, ACachedDecisionComparesTheEnginesDevices) {
  with_cpu_build();
  open_until_ready();
  const Outcome works = open();
  ASSERT_TRUE(works.by_cached_decision);
  EXPECT_EQ(works.opened->installed.build, "reference-gpu");
  EXPECT_EQ(devices(works), "cuda:0 cpu:0 ");
  EXPECT_FALSE(works.fallback);
  // No input of the decision changes, as when a card falls off the bus.
  behave("no gpu");
  const Outcome gone = open();
  ASSERT_EQ(gone.state, State::opened);
  EXPECT_FALSE(gone.by_cached_decision);
  EXPECT_EQ(gone.opened->installed.build, "reference-good");
  EXPECT_TRUE(gone.fallback);
}

TEST_F(GpuBuild, ACachedDecisionOfTheProcessorStaysAFallback) {
  for (const char* how : {"dead", "no gpu"}) {
    std::filesystem::remove_all(folder_ / "cache");
    behave(how);
    Outcome first = open();
    ASSERT_EQ(first.state, State::opened) << how;
    EXPECT_TRUE(first.fallback) << how;
    first = {};
    open_until_ready();
    const Outcome again = open();
    ASSERT_TRUE(again.by_cached_decision) << how;
    EXPECT_EQ(again.opened->installed.build, "reference-gpu");
    EXPECT_TRUE(again.fallback) << how;
    EXPECT_EQ(devices(again), "cpu:0 ");
    EXPECT_TRUE(warns(again, "EH-G25")) << how;
    ASSERT_EQ(again.opened->unusable.size(), 1u);
    EXPECT_EQ(again.opened->unusable[0].value(Key::device), "cuda:0");
  }
}

TEST_F(GpuBuild, AFailureOfTheMomentLeavesNoRecord) {
  behave("no memory");
  {
    const Outcome busy = open();
    ASSERT_EQ(busy.state, State::opened);
    EXPECT_TRUE(busy.fallback);
    EXPECT_EQ(devices(busy), "cpu:0 ");
    EXPECT_TRUE(context_->history().records.empty());
  }
  behave("");
  const Outcome free = open();
  EXPECT_EQ(devices(free), "cuda:0 cpu:0 ");
  EXPECT_FALSE(free.fallback);
}

TEST_F(GpuBuild, ARequirementOrADeviceIsNoFallback) {
  behave("dead");
  request_.request.device = "gpu";
  EXPECT_EQ(open().state, State::failed);
  request_.request.device = "";
  request_.request.flavor = "cu124";
  request_.request.require = true;
  const Outcome required = open();
  EXPECT_EQ(required.state, State::failed);
  ASSERT_TRUE(required.diagnosis);
  EXPECT_NE(required.exit_status(), 0);
  request_.request.require = false;
  EXPECT_EQ(open().state, State::opened) << "a preferred flavor may be served on the processor";
  request_.request.flavor = "";
  request_.request.device = "cuda:0,cpu";
  const Outcome alternative = open();
  EXPECT_EQ(alternative.state, State::opened);
  EXPECT_TRUE(alternative.fallback);
}

TEST_F(GpuBuild, AProofOfAnOlderVersionIsMadeAgain) {
  ASSERT_EQ(open().state, State::opened);
  history::Record proof = *context_->history().find("reference-gpu");
  EXPECT_FALSE(proof.facts["accelerators"].as_array().empty());
  const auto part = [&](std::string_view name) {
    return std::ranges::any_of(proof.host, [&](const auto& one) { return one.first == name; });
  };
  EXPECT_EQ(part(history::boot_part), !history::boot_id().empty()) << "a proof of a GPU ends with a restart";
  Json facts = Json::object();
  for (const auto& [name, value] : proof.facts.as_object())
    if (name != "accelerators" && name != "tested" && name != "unusable") facts.set(name, value);
  proof.facts = std::move(facts);
  ASSERT_TRUE(history::write(state(), proof));
  EXPECT_TRUE(open().probed);
  EXPECT_FALSE(open().probed);
}

}  // namespace
}  // namespace enginehost::open
