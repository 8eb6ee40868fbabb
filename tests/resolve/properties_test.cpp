// Rules for every machine, catalog and request, checked with thousands of random ones, always the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "host/explain/explain.hpp"
#include "host/resolve/describe.hpp"
#include "tests/resolve/machines.hpp"

namespace enginehost::resolve {
namespace {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  bool one_in(unsigned sides) { return engine_() % sides == 0; }
  template <class T>
  T of(const std::vector<T>& choices) {
    return choices[engine_() % choices.size()];
  }

 private:
  std::mt19937 engine_;
};

Platform random_machine(Dice& dice) {
  Platform machine =
      dice.of<Platform>({ubuntu20, ubuntu22, centos7, windows_machine(), mac_machine(), musl_machine()});
  if (!dice.one_in(3)) {
    const auto [driver, cuda] = dice.of<std::pair<std::string, std::string>>({{"440.33", "10.2"},
                                                                              {"470.82", "11.4"},
                                                                              {"525.60.13", "12.0"},
                                                                              {"570.26", "12.8"},
                                                                              {"580.65.06", "13.0"}});
    std::vector<std::pair<std::string, std::string>> gpus;
    while (!dice.one_in(2))
      gpus.emplace_back("card",
                        dice.of<std::string>({"3.5", "6.1", "7.0", "8.9", "9.0", "12.0", "13.0", ""}));
    machine = with_gpus(machine, driver, cuda, gpus);
  }
  if (dice.one_in(4))
    machine = with_visible(machine, dice.of<std::string>({"", "0", "1,0", "0,0", "GPU-0", "MIG-x"}));
  if (dice.one_in(4)) machine.cuda.driver_cuda = Fact<std::string>::unknown("time-out");
  if (dice.one_in(4)) machine.cuda.devices = Fact<std::vector<CudaDevice>>::unknown("time-out");
  if (dice.one_in(4)) machine.cuda.driver = Fact<std::string>::unknown("time-out");
  if (dice.one_in(6)) machine.libc = Fact<platform::Libc>::unknown("not readable");
  if (dice.one_in(6)) machine.cpu = Fact<platform::Cpu>::unknown("not readable");
  if (dice.one_in(6)) machine.os = Fact<std::string>::unknown("not readable");
  return machine;
}

Request random_request(Dice& dice) {
  Request request;
  request.engine = dice.of<std::string>({"pytorch", "pytorch", "onnxruntime", "reference", "other"});
  if (dice.one_in(3)) request.version = dice.of<std::string>({"2", "2.0", "1", "2.8.0", "9"});
  if (dice.one_in(3)) request.flavor = dice.of<std::string>({"cpu", "cu118", "cu126", "mps", "rocm62"});
  if (dice.one_in(3)) request.device = dice.of<std::string>({"cpu", "cuda:0", "cuda:1,cpu", "mps", "tpu:0"});
  request.require = dice.one_in(3);
  request.offline = dice.one_in(3);
  if (dice.one_in(3)) request.force = dice.of(catalog().builds)->id;
  for (const auto& build : catalog().builds)
    if (dice.one_in(5)) request.installed.insert(build->id);
  if (dice.one_in(2)) request.installed_here = request.installed;
  request.update = dice.of<Update>({Update::report, Update::open, Update::never});
  return request;
}

history::History random_history(Dice& dice) {
  history::History history;
  for (const auto& build : catalog().builds) {
    if (!dice.one_in(4)) continue;
    history::Record record;
    record.build = build->id;
    record.artifacts_digest = dice.one_in(3) ? std::string(64, 'f') : build->artifacts_digest();
    record.state =
        dice.of<history::State>({history::State::proven, history::State::unfit, history::State::suspect,
                                 history::State::quarantined, history::State::disabled});
    record.retry_after = dice.one_in(2) ? 0 : now + (dice.one_in(2) ? 100 : -100);
    history.records[build->id] = record;
  }
  return history;
}

bool is_excluded_without_reason(const Candidate& candidate) {
  return candidate.rank == 0 && !decisive_check(candidate) && !candidate.diagnosis();
}

std::string written(const Plan& plan) {
  std::string text = describe_plan(plan, explain::one_line) +
                     (plan.diagnosis ? std::string(plan.diagnosis->code_text()) : "");
  return text;
}

class Properties : public testing::TestWithParam<unsigned> {};

TEST_P(Properties, HoldForEveryMachineAndRequest) {
  Dice dice(GetParam());
  const Platform machine = random_machine(dice);
  const Request request = random_request(dice);
  const history::History history = random_history(dice);
  const Plan plan = plan_for(machine, request, history);

  std::size_t of_engine = 0;
  for (const auto& build : catalog().builds) of_engine += build->engine == request.engine ? 1u : 0u;
  EXPECT_EQ(plan.candidates.size(), of_engine) << "every build is listed";

  int expected_rank = 0;
  bool ranked_part = true, unknown_seen = false;
  for (const Candidate& candidate : plan.candidates) {
    const std::vector<Check> checks = candidate.checks;
    const bool any_no = std::any_of(checks.begin(), checks.end(), [](const Check& check) {
      return check.result == Answer::no && !check.overridden;
    });
    const bool any_unknown = std::any_of(checks.begin(), checks.end(),
                                         [](const Check& check) { return check.result == Answer::unknown; });
    EXPECT_FALSE(is_excluded_without_reason(candidate)) << candidate.build->id;
    if (candidate.rank == 0) {
      ranked_part = false;
      continue;
    }
    EXPECT_TRUE(ranked_part) << "ranked ones come first";
    EXPECT_EQ(candidate.rank, ++expected_rank);
    EXPECT_FALSE(any_no) << candidate.build->id << " is tried in spite of a requirement that does not hold";
    EXPECT_TRUE(candidate.verdict == Verdict::chosen || candidate.verdict == Verdict::fits);
    if (request.require && !request.flavor.empty()) {
      EXPECT_EQ(candidate.build->flavor, request.flavor);
    }
    // Unknown never counts as yes: among equals of the request it ranks last.
    if (request.flavor.empty() && request.device.empty() && candidate.build->id != request.force) {
      EXPECT_FALSE(unknown_seen && !any_unknown) << candidate.build->id;
      unknown_seen = unknown_seen || any_unknown;
    }
    for (const Check& check : candidate.checks)
      EXPECT_TRUE(std::string(text_of(check.code)).empty() || check.overridden);
    EXPECT_TRUE(!candidate.forced || candidate.build->id == request.force);
  }
  EXPECT_EQ(plan.diagnosis.has_value(), expected_rank == 0);
  for (const Candidate& candidate : plan.candidates)
    for (const Check& check : candidate.checks)
      EXPECT_EQ(check.result == Answer::no, !std::string(text_of(check.code)).empty()) << check.requirement;
  // Verdicts come from answers alone and texts are made afterwards: both must have the same refusal.
  for (const Candidate& candidate : plan.candidates) {
    const auto decisive = decisive_check(candidate);
    const std::string refusal =
        decisive && decisive->result == Answer::no ? std::string(text_of(decisive->code)) : "";
    const bool not_at_hand = refusal == "EH-S10" || refusal == "EH-S12" || refusal == "EH-S13";
    EXPECT_EQ(candidate.verdict == Verdict::rejected, !refusal.empty() && !not_at_hand)
        << candidate.build->id;
    EXPECT_EQ(candidate.verdict == Verdict::unavailable, not_at_hand) << candidate.build->id;
  }

  EXPECT_EQ(written(plan), written(plan_for(machine, request, history)))
      << "the same question, the same answer";
}

TEST_P(Properties, TheOrderOfTheCatalogMattersOnlyBetweenEquals) {
  Dice dice(GetParam());
  const Platform machine = random_machine(dice);
  const Request request = random_request(dice);
  manifest::Catalog reversed = catalog();
  std::reverse(reversed.builds.begin(), reversed.builds.end());
  // No two builds of an engine and system have the same rank in this catalog.
  EXPECT_EQ(ranked(plan_for(machine, request)), ranked(decide(machine, reversed, {}, request, now)));
}

INSTANTIATE_TEST_SUITE_P(Resolve, Properties, testing::Range(0u, 400u));

}  // namespace
}  // namespace enginehost::resolve
