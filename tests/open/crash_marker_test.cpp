// After a process died while it loaded a proven build, the next one does not trust the proof.
#include <gmock/gmock.h>

#include "host/explain/explain.hpp"
#include "host/history/sentinel.hpp"
#include "tests/open/fixture.hpp"
#include "tests/support/posix/dying_child.hpp"

namespace enginehost::open {
namespace {

class CrashMarkerTest : public LoadOrder {
 protected:
  void SetUp() override {
    open_until_ready();
    const Outcome outcome = open();
    ASSERT_TRUE(outcome.by_cached_decision);
    installed_ = outcome.opened->installed;
  }
  void die_while_loading(std::string marker = {}) {
    const cache::Store store = cache::Store::open(folder_ / "cache");
    if (marker.empty())
      marker = history::crash_marker_of(
          history::crash_while_loading(installed_.build, installed_.digest, installed_.artifacts_digest));
    test::in_dying_child([&] {
      auto lease = store.lease(installed_);
      if (lease && lease->write_marker(marker)) test::die();
    });
  }
  cache::Installed installed_;
};

TEST_F(CrashMarkerTest, TheNextOpenProbesAgainAndWarns) {
  die_while_loading();
  const Outcome outcome = open();
  ASSERT_EQ(outcome.state, State::opened);
  EXPECT_FALSE(outcome.by_cached_decision);
  EXPECT_TRUE(outcome.probed);
  ASSERT_FALSE(outcome.warnings.empty());
  EXPECT_EQ(outcome.warnings.front().code, "EH-R02");
  EXPECT_EQ(outcome.warnings.front().value(Key::stage), "load");
  EXPECT_DOUBLE_EQ(context_->history().find(installed_.build)->strikes, 1) << "until its first work";
  const Outcome next = open();
  EXPECT_TRUE(next.proven_before) << "reported once";
}

TEST_F(CrashMarkerTest, AnOpenWithoutTheCacheWarnsToo) {
  die_while_loading();
  request_.bypass_cache = true;
  const Outcome outcome = open();
  ASSERT_EQ(outcome.state, State::opened);
  EXPECT_TRUE(outcome.probed);
  ASSERT_FALSE(outcome.warnings.empty());
  EXPECT_EQ(outcome.warnings.front().code, "EH-R02");
}

TEST_F(CrashMarkerTest, TheSecondStrikeQuarantines) {
  for (int strike = 1; strike <= 2; ++strike) {
    die_while_loading();
    const Outcome outcome = open();
    EXPECT_EQ(outcome.state, strike == 1 ? State::opened : State::failed);
  }
  EXPECT_EQ(context_->history().find(installed_.build)->state, history::State::quarantined);
}

// A full disk cannot be simulated for root; a file in the place of each folder has the same effect.
TEST_F(CrashMarkerTest, IsRespectedWhereNothingCanBeWritten) {
  die_while_loading();
  for (const char* folder : {"running", "history"}) {
    std::filesystem::remove_all(state() / folder);
    test::write_text(state() / folder, "in the way");
  }
  const Outcome outcome = open();
  EXPECT_TRUE(outcome.probed);
  ASSERT_FALSE(outcome.warnings.empty());
  EXPECT_EQ(outcome.warnings.front().code, "EH-R02");
}

TEST_F(CrashMarkerTest, AMarkerOfAnEarlierBootIsNoStrike) {
  std::string marker = history::crash_marker_of(
      history::crash_while_loading(installed_.build, installed_.digest, installed_.artifacts_digest));
  const std::size_t at = marker.find("moment ");
  ASSERT_NE(at, std::string::npos);
  marker.replace(at, marker.find('\n', at) - at, "moment 1");
  die_while_loading(marker);
  EXPECT_TRUE(open().by_cached_decision);
}

TEST_F(CrashMarkerTest, NoneIsLeftAfterAnOpen) {
  const auto file = folder_ / ("cache/leases/" + installed_.digest + ".lk");
  const Outcome outcome = open();
  ASSERT_TRUE(outcome.by_cached_decision);
  const std::string lease = test::read_text(file);
  ASSERT_FALSE(lease.empty()) << "one stood";
  EXPECT_EQ(lease.front(), '\0') << "while the engine is open";
}

// A process that held another engine died: alone the build may work, so two such crashes say nothing.
class CrashesBesideOthers : public CrashMarkerTest {
 protected:
  history::Crash crash() const {
    history::Crash crash =
        history::crash_while_loading(installed_.build, installed_.digest, installed_.artifacts_digest);
    crash.beside = "another-engine-1.0";
    return crash;
  }
  void expect_a_warning_only() {
    const Outcome outcome = open();
    ASSERT_EQ(outcome.state, State::opened);
    EXPECT_TRUE(outcome.proven_before);
    EXPECT_EQ(context_->history().find(installed_.build)->strikes, 0);
    EXPECT_EQ(context_->history().find(installed_.build)->state, history::State::proven);
    EXPECT_THAT(context_->warnings(),
                testing::Contains(testing::AllOf(testing::HasSubstr("beside another-engine-1.0"),
                                                 testing::HasSubstr("nothing is remembered"))));
  }
};

TEST_F(CrashesBesideOthers, OfAProvenBuildAreNoStrike) {
  for (int times = 0; times < 2; ++times) {
    die_while_loading(history::crash_marker_of(crash()));
    expect_a_warning_only();
  }
}

TEST_F(CrashesBesideOthers, WithASentinelAreNoStrike) {
  for (int times = 0; times < 2; ++times) {
    test::in_dying_child([&] {
      const history::Crash one = crash();
      const auto sentinel = history::Sentinel::raise(state(), one.build, one.digest, "warmup",
                                                     one.artifacts_digest, one.beside);
      if (sentinel) test::die();
    });
    request_.bypass_cache = true;
    expect_a_warning_only();
  }
}

TEST_F(CrashesBesideOthers, AreReadFromTheirMarkers) {
  const auto read = history::crash_of(history::crash_marker_of(crash()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->beside, "another-engine-1.0");
}

}  // namespace
}  // namespace enginehost::open
