// The table of the candidates: every row has its reason.
#include "host/resolve/describe.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>

#include "base/text.hpp"
#include "tests/resolve/machines.hpp"

namespace enginehost::resolve {
namespace {

using platform::Platform;
using testing::HasSubstr;

const Platform described = with_gpus(ubuntu22, "535.104.05", "12.2", {{"A100", "8.0"}});

TEST(DescribeTest, ACandidateKeepsItsReasonsAfterMachineAndCatalog) {
  std::optional<Candidate> kept;
  {
    const auto machine = std::make_unique<Platform>(described);
    const auto offered = std::make_unique<manifest::Catalog>(catalog());
    Request request;
    request.engine = "pytorch";
    Plan plan = decide(*machine, *offered, {}, request, now);
    kept = *find(plan, "2.8.0-cu128");
  }
  const std::vector<Check> checks = kept->checks;
  ASSERT_GE(checks.size(), 5u);
  EXPECT_EQ(checks[0].observed, "linux x86_64");
  EXPECT_EQ(checks[4].observed, "driver 535.104.05 (CUDA 12.2), by minor-version compatibility");
}

// A diagnosis is without a sentence until host/explain completes it.
std::string sentence_of(const Diagnosis& diagnosis) {
  return std::string(diagnosis.code_text()) + " sentence of " + std::string(diagnosis.code_text());
}

// The reason in the last column of a build's row.
std::string reason_in(const std::string& table, const std::string& build) {
  for (const std::string& line : split(table, '\n'))
    if (const std::size_t at = line.find(" " + build + " "); at != std::string::npos) {
      const std::string verdict_and_reason(trim(line.substr(at + build.size() + 2)));
      const std::size_t verdict = verdict_and_reason.find(' ');
      return verdict == std::string::npos ? "" : std::string(trim(verdict_and_reason.substr(verdict)));
    }
  return "no row";
}

TEST(DescribeTest, ARejectedCandidateHasItsReason) {
  for (const auto& [verdict, diagnosis, said] :
       {std::tuple{Verdict::failed, diagnose(Code::library_missing).with(Key::library, "libx.so.1"),
                   "EH-L01 sentence of EH-L01"},
        {Verdict::failed, diagnose(Code::consent_missing).with(Key::license, "vendor"),
         "EH-P03 sentence of EH-P03"},
        {Verdict::failed, diagnose(Code::host_not_found), "EH-N01 sentence of EH-N01"},
        {Verdict::quarantined, diagnose(Code::quarantined).with(Key::reason, "it crashed"),
         "EH-S14 it crashed"},
        {Verdict::disabled, diagnose(Code::quarantined), "EH-S14 sentence of EH-S14"}}) {
    Plan plan = plan_for(described);
    Candidate& first = plan.candidates.front();
    EXPECT_FALSE(first.diagnosis());
    first.turn_down(verdict, diagnosis);
    EXPECT_EQ(first.verdict, verdict);
    EXPECT_EQ(first.diagnosis()->code, diagnosis.code);
    for (const std::string& table :
         {describe_plan(plan, sentence_of), describe_choice(plan, sentence_of, {})})
      EXPECT_EQ(reason_in(table, first.build->id), said) << table;
  }
  EXPECT_EQ(Candidate().checks.size(), 0u);
}

TEST(DescribeTest, EveryRowThatIsNotTriedHasAReason) {
  for (const Platform& machine : {described, ubuntu22, mac_machine()}) {
    const Plan plan = plan_for(machine);
    const std::string table = describe_plan(plan, sentence_of);
    for (const Candidate& candidate : plan.candidates)
      if (candidate.rank == 0) {
        EXPECT_THAT(reason_in(table, candidate.build->id), testing::ContainsRegex("^EH-[A-Z][0-9]+ [^ ]"));
      }
  }
}

TEST(DescribeTest, AChoiceShowsThreeBuildsAndCountsTheOthers) {
  const Plan plan = plan_for(described);
  const auto fitting =
      std::ranges::count_if(plan.candidates, [](const Candidate& one) { return one.rank != 0; });
  ASSERT_GT(fitting, 3);
  const std::string table = describe_choice(plan, sentence_of, [](const Candidate&) { return "1 MiB"; });
  EXPECT_THAT(table,
              testing::EndsWith("and " + std::to_string(fitting - 3) + " more that fit, " +
                                std::to_string(plan.candidates.size() - static_cast<std::size_t>(fitting)) +
                                " that do not fit: --explain lists them\n"));
  EXPECT_EQ(split(std::string(trim(table)), '\n').size(), 8u) << table;
}

TEST(DescribeTest, TheTableNamesTheDecidingFactsAndJsonHoldsThemToo) {
  const Plan plan = plan_for(with_gpus(ubuntu22, "470.223.02", "11.4", {{"GTX 1080", "6.1"}}));
  const std::string table = describe_plan(plan, sentence_of);
  EXPECT_THAT(table, HasSubstr("1     pytorch-2.0.1-cu118-linux-x86_64"));
  EXPECT_THAT(table,
              HasSubstr("EH-G03 needs NVIDIA driver for CUDA 12.6, found driver 470.223.02 (CUDA 11.4)"));
  EXPECT_THAT(table, HasSubstr("glibc >= 2.17"));
  const Json json = to_json(plan.candidates[0]);
  EXPECT_EQ(json["verdict"].as_string(), "chosen");
  EXPECT_EQ(json["rank"].as_integer(), 1);
  for (const Json& check : json["checks"].as_array()) {
    EXPECT_EQ(check["result"].as_string(), "yes");
    EXPECT_FALSE(check["source"].as_string().empty()) << check.dump();
  }
}

// Whatever repositories offer, a report stays readable.
TEST(DescribeTest, AReportListsTheFirstCandidatesAndCountsTheRest) {
  const auto offered = std::make_unique<manifest::Catalog>(catalog());
  Request request;
  request.engine = "pytorch";
  Plan plan = decide(described, *offered, {}, request, now);
  ASSERT_FALSE(plan.candidates.empty());
  const Candidate one = plan.candidates.front();
  plan.candidates.assign(most_listed + 150'000, one);
  const std::string table = describe_plan(plan, sentence_of);
  EXPECT_LT(table.size(), 5'000'000u);
  EXPECT_THAT(table, testing::EndsWith("and 150000 more builds, which no report lists\n"));
  plan.candidates.resize(most_listed);
  EXPECT_THAT(describe_plan(plan, sentence_of), testing::Not(HasSubstr("more build")));
}

TEST(DescribeTest, LongTextsOfAManifestAreCut) {
  const auto offered = std::make_unique<manifest::Catalog>(catalog());
  Request request;
  request.engine = "pytorch";
  Plan plan = decide(described, *offered, {}, request, now);
  Candidate& first = plan.candidates.front();
  first.checks.assign(5000, first.checks.front());
  first.checks.front().requirement = std::string(8'000'000, 'x');
  first.checks.front().observed = std::string(8'000'000, 'y');
  plan.candidates.resize(1);
  EXPECT_LT(describe_plan(plan, sentence_of).size(), 100'000u);
}

}  // namespace
}  // namespace enginehost::resolve
