#include <gtest/gtest.h>

#include "host/history/store.hpp"

namespace enginehost::history {
namespace {

constexpr std::int64_t day = 24 * 60 * 60, now = 1'000'000;

Failure failure_of(Category category, bool in_host = false) {
  Failure failure;
  failure.build = "b";
  failure.digest = "d1";
  failure.category = category;
  failure.in_host = in_host;
  return failure;
}

TEST(Transitions, WrongBytesAndTransientFailuresAreNotRemembered) {
  for (const Category category : {Category::content, Category::transient, Category::request})
    EXPECT_FALSE(after_failure(failure_of(category), nullptr, {}, now)) << static_cast<int>(category);
}

TEST(Transitions, AMissingHostLibraryHasNoTimeLimit) {
  const auto record = after_failure(failure_of(Category::host), nullptr, {}, now);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->state, State::unfit);
  EXPECT_EQ(record->retry_after, 0);
}

// A GPU can be reset without a sign, and works again after a restart.
TEST(Transitions, AGpuThatFailsEndsWithARestartAndAfterAnHour) {
  Failure failure;
  failure.build = "b";
  failure.of_device = true;
  failure.facts = Json::object().set("works_on_processor", true);
  const Fingerprint machine = {{std::string(boot_part), "1"}, {"kernel", "6"}};
  const auto record = after_failure(failure, nullptr, machine, now);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->state, State::unfit);
  EXPECT_EQ(record->retry_after, now + 60 * 60);
  EXPECT_TRUE(works_on_processor(*record));
  EXPECT_NE(what_changed(record->host, {{std::string(boot_part), "2"}, {"kernel", "6"}}), "");
  const Record proof = proof_of("b", "d", "a", machine, {}, Json::object(), now, true);
  EXPECT_NE(what_changed(proof.host, {{std::string(boot_part), "2"}}), "");
  EXPECT_FALSE(works_on_processor(proof));
}

TEST(Transitions, AForbiddenBuildIsTriedAgainAfterTenMinutes) {
  const auto record = after_failure(failure_of(Category::policy), nullptr, {}, now);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->state, State::blocked);
  EXPECT_EQ(record->retry_after, now + 600);
}

TEST(Transitions, AQuarantineDoublesUpToHalfAYear) {
  std::optional<Record> record;
  for (const int days : {7, 14, 28, 56, 112, 180, 180}) {
    record = after_failure(failure_of(Category::crash), record ? &*record : nullptr, {}, now);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->state, State::quarantined);
    EXPECT_EQ(record->retry_after, now + days * day);
  }
  EXPECT_EQ(record->count, 7);
}

TEST(Transitions, ACrashMarkerTakesTheEngineFromTheProof) {
  Record proof = proof_of("b", "d1", "", {}, {}, Json(), now);
  proof.engine = "toy";
  EXPECT_EQ(after_failure(failure_of(Category::crash, true), &proof, {}, now)->engine, "toy");
  proof.digest = "d2";
  EXPECT_EQ(after_failure(failure_of(Category::crash, true), &proof, {}, now)->engine, "") << "another build";
}

TEST(Transitions, AnotherDigestStartsOver) {
  const auto first = after_failure(failure_of(Category::crash), nullptr, {}, now);
  Failure other = failure_of(Category::crash);
  other.digest = "d2";
  EXPECT_EQ(after_failure(other, &*first, {}, now)->count, 1);
}

TEST(Transitions, OneCrashInTheHostIsASuspicionTheSecondAQuarantine) {
  const auto first = after_failure(failure_of(Category::crash, true), nullptr, {}, now);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->state, State::suspect);
  const auto second = after_failure(failure_of(Category::crash, true), &*first, {}, now);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->state, State::quarantined);
}

TEST(Transitions, ABuildThatTheUserDisabledStaysDisabled) {
  Record before;
  before.build = "b";
  before.state = State::disabled;
  for (const Category category : {Category::host, Category::policy, Category::crash})
    EXPECT_EQ(after_failure(failure_of(category), &before, {}, now)->state, State::disabled);
}

TEST(Transitions, AProofHoldsTheMachineAndItsDependencyStamps) {
  const Record proof =
      proof_of("b", "d", "a", {{"kernel", "6"}}, {DependencyStamp{"/x", false, {}}}, Json::object(), now);
  EXPECT_EQ(proof.state, State::proven);
  EXPECT_EQ(proof.host.size(), 1u);
  EXPECT_EQ(proof.dependency_stamps.size(), 1u);
  EXPECT_EQ(proof.last_seen, now);
}

}  // namespace
}  // namespace enginehost::history
