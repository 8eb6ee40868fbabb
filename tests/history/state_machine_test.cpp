// Every transition of the state machine as a table: the record before, the event, the record after.
#include <gtest/gtest.h>

#include <optional>
#include <ostream>

#include "host/history/program.hpp"
#include "host/history/store.hpp"
#include "tests/history/folder.hpp"

namespace enginehost::history {
namespace {

constexpr std::int64_t minute = 60, day = 24 * 60 * minute, now = 1'000'000;
const Fingerprint machine = {{"NVIDIA driver", "535.1"}, {std::string(boot_part), "boot1"}};
const Fingerprint other_machine = {{"NVIDIA driver", "580.2"}, {std::string(boot_part), "boot1"}};

struct Before {
  State state;
  double strikes = 0;
  int count = 1;
  const char* digest = "d1";
  const char* program = "app1";
  const char* boot = "boot1";
};
struct Event {
  Category category;
  bool in_host = false, repeated = true;
  const char* program = "app1";
  const char* boot = "boot1";
  const char* code = "EH-R02";
};
struct After {
  State state;
  std::int64_t retry_after;  // from now; 0: no limit
  double strikes = 0;
  int count = 1;
};
struct Row {
  const char* name;
  std::optional<Before> before;
  Event event;
  std::optional<After> after;  // nothing: not remembered
  bool elsewhere = false;      // the record was made on another machine
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

constexpr Event probe_crash{Category::crash}, host_crash{Category::crash, true};
constexpr Event flaky{Category::crash, false, false};

const Row rows[] = {
    // Unknown builds.
    {"ContentOfUnknown", {}, {Category::content}, {}},
    {"TransientOfUnknown", {}, {Category::transient}, {}},
    {"RequestOfUnknown", {}, {Category::request}, {}},
    {"HostOfUnknown", {}, {Category::host}, After{State::unfit, 0}},
    {"PolicyOfUnknown", {}, {Category::policy}, After{State::blocked, 10 * minute}},
    {"CrashTwiceInProbeOfUnknown", {}, probe_crash, After{State::quarantined, 7 * day}},
    {"CrashOnceInProbeOfUnknown", {}, flaky, After{State::suspect, 0}},
    {"CrashInHostOfUnknown", {}, host_crash, After{State::suspect, 0, 1}},
    // Proven builds.
    {"ContentOfProven", Before{State::proven}, {Category::content}, {}},
    {"TransientOfProven", Before{State::proven}, {Category::transient}, {}},
    {"HostOfProven", Before{State::proven}, {Category::host}, After{State::unfit, 0}},
    {"PolicyOfProven", Before{State::proven}, {Category::policy}, After{State::blocked, 10 * minute}},
    {"CrashInProbeOfProven", Before{State::proven}, probe_crash, After{State::quarantined, 7 * day}},
    {"CrashInHostOfProven", Before{State::proven}, host_crash, After{State::suspect, 0, 1}},
    {"SecondCrashInHostOfWhatWasProvenBetween", Before{State::proven, 1}, host_crash,
     After{State::quarantined, 7 * day, 2}},
    // Suspect builds.
    {"TransientOfSuspect", Before{State::suspect, 1}, {Category::transient}, {}},
    {"HostOfSuspect", Before{State::suspect, 1}, {Category::host}, After{State::unfit, 0, 1}},
    {"CrashOnceMoreInProbeOfSuspect", Before{State::suspect}, flaky, After{State::suspect, 0, 0, 2}},
    {"CrashTwiceInProbeOfSuspect", Before{State::suspect, 1}, probe_crash,
     After{State::quarantined, 7 * day, 1}},
    {"SecondCrashInHost", Before{State::suspect, 1}, host_crash, After{State::quarantined, 7 * day, 2}},
    {"FirstCrashInHostAfterAFlakyProbe", Before{State::suspect, 0}, host_crash,
     After{State::suspect, 0, 1, 2}},
    {"SecondCrashInAnotherHost",
     Before{State::suspect, 1},
     {Category::crash, true, true, "app2", "boot1"},
     After{State::suspect, 0, 1.5, 2}},
    {"SecondCrashAfterARestart",
     Before{State::suspect, 1},
     {Category::crash, true, true, "app1", "boot2"},
     After{State::suspect, 0, 1.5, 2}},
    {"ThirdCrashInAnotherHostThatCrashedBefore",
     Before{State::suspect, 1.5, 2, "d1", "app2"},
     {Category::crash, true, true, "app2", "boot1"},
     After{State::quarantined, 7 * day, 2.5}},
    {"SecondCrashOfOtherBytes", Before{State::suspect, 1, 1, "d0"}, host_crash, After{State::suspect, 0, 1}},
    {"SecondCrashOnAnotherMachine", Before{State::suspect, 1}, host_crash, After{State::suspect, 0, 1, 2},
     true},
    // Quarantined builds whose time is over, or that are forced for one run.
    {"CrashInProbeAgain", Before{State::quarantined}, probe_crash, After{State::quarantined, 14 * day, 0, 2}},
    {"CrashInHostOfQuarantined", Before{State::quarantined}, host_crash,
     After{State::quarantined, 14 * day, 1, 2}},
    {"CrashForTheNinthTime", Before{State::quarantined, 0, 8}, probe_crash,
     After{State::quarantined, 180 * day, 0, 9}},
    {"TransientOfQuarantined", Before{State::quarantined}, {Category::transient}, {}},
    {"HostOfQuarantined", Before{State::quarantined}, {Category::host}, After{State::unfit, 0}},
    {"CrashOnceInProbeOfQuarantined", Before{State::quarantined}, flaky, After{State::suspect, 0}},
    // Unfit and blocked builds.
    {"HostAgain", Before{State::unfit}, {Category::host}, After{State::unfit, 0, 0, 2}},
    {"PolicyAgain", Before{State::blocked}, {Category::policy}, After{State::blocked, 10 * minute, 0, 2}},
    {"PolicyOfUnfit", Before{State::unfit}, {Category::policy}, After{State::blocked, 10 * minute}},
    {"HostOfBlocked", Before{State::blocked}, {Category::host}, After{State::unfit, 0}},
    {"CrashOfUnfit", Before{State::unfit}, probe_crash, After{State::quarantined, 7 * day}},
    {"CrashInHostOfUnfit", Before{State::unfit}, host_crash, After{State::suspect, 0, 1}},
    // A build that the user disabled stays so, whatever the result of a forced run.
    {"HostOfDisabled", Before{State::disabled}, {Category::host}, After{State::disabled, 0}},
    {"PolicyOfDisabled", Before{State::disabled}, {Category::policy}, After{State::disabled, 0}},
    {"CrashOfDisabled", Before{State::disabled}, probe_crash, After{State::disabled, 0}},
    {"CrashInHostOfDisabled", Before{State::disabled}, host_crash, After{State::disabled, 0}},
    {"TransientOfDisabled", Before{State::disabled}, {Category::transient}, After{State::disabled, 0}},
};

Record record_of(const Before& before, bool elsewhere) {
  Record record;
  record.build = "b";
  record.digest = before.digest;
  record.state = before.state;
  record.count = before.count;
  record.strikes = before.strikes;
  record.program = before.program;
  record.boot = before.boot;
  record.host = elsewhere ? other_machine : machine;
  return record;
}

class Transition : public testing::TestWithParam<Row> {};

TEST_P(Transition, LeadsToTheStateOfTheTable) {
  const Row& row = GetParam();
  Failure failure;
  failure.build = "b";
  failure.digest = "d1";
  failure.category = row.event.category;
  failure.in_host = row.event.in_host;
  failure.repeated = row.event.repeated;
  failure.program = row.event.program;
  failure.boot = row.event.boot;
  failure.diagnosis = Json::object().set("code", row.event.code);
  std::optional<Record> before;
  if (row.before) before = record_of(*row.before, row.elsewhere);
  const auto after = after_failure(failure, before ? &*before : nullptr, machine, now);
  ASSERT_EQ(after.has_value(), row.after.has_value());
  if (!after) return;
  EXPECT_EQ(after->state, row.after->state) << name_of(after->state);
  EXPECT_EQ(after->retry_after, row.after->retry_after == 0 ? 0 : now + row.after->retry_after);
  EXPECT_DOUBLE_EQ(after->strikes, row.after->strikes);
  EXPECT_EQ(after->count, row.after->count);
}

INSTANTIATE_TEST_SUITE_P(Table, Transition, testing::ValuesIn(rows),
                         [](const auto& row) { return std::string(row.param.name); });

Record proof() { return proof_of("b", "d1", "", machine, {}, Json::object(), now); }

TEST(Strikes, OutliveAProof) {
  const Record suspect = record_of({State::suspect, 1}, false);
  const auto proven = after_success(proof(), &suspect);
  ASSERT_TRUE(proven);
  EXPECT_EQ(proven->state, State::proven);
  EXPECT_DOUBLE_EQ(proven->strikes, 1);
}

TEST(Strikes, AreNotThoseOfOtherBytesOrAnotherMachine) {
  const Record other_bytes = record_of({State::suspect, 1, 1, "d0"}, false);
  EXPECT_DOUBLE_EQ(after_success(proof(), &other_bytes)->strikes, 0);
  const Record elsewhere = record_of({State::suspect, 1}, true);
  EXPECT_DOUBLE_EQ(after_success(proof(), &elsewhere)->strikes, 0);
}

Record proof_by(const std::string& helper, std::int64_t size_of_library = 1) {
  Fingerprint here = machine;
  here.emplace_back(helper_part, helper);
  FileStamp stamp;
  stamp.size = static_cast<std::uint64_t>(size_of_library);
  return proof_of("b", "d1", "", here, {{"/lib/needed.so", true, stamp}}, Json::object(), now);
}

bool holds_for(const Record& record, const std::string& helper) {
  return what_changed(record.host, {{std::string(helper_part), helper}}).empty();
}

TEST(Probes, ThatProvedTheSameBuildBothCount) {
  const Record first = proof_by("one");
  EXPECT_TRUE(holds_for(first, "one"));
  EXPECT_FALSE(holds_for(first, "two"));
  const auto both = after_success(proof_by("two"), &first);
  ASSERT_TRUE(both);
  EXPECT_TRUE(holds_for(*both, "one"));
  EXPECT_TRUE(holds_for(*both, "two"));
  EXPECT_FALSE(holds_for(*both, "o"));
  EXPECT_FALSE(holds_for(*both, "one,two"));
  // Proven again by the first, each is named once.
  const auto again = after_success(proof_by("one"), &*both);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->host.back().second, "one,two");
}

TEST(Probes, AreForgottenWhenTheProofIsOfAnotherBuild) {
  const Record of_other_files = proof_by("one", 2);
  EXPECT_FALSE(holds_for(*after_success(proof_by("two"), &of_other_files), "one"));
  Record of_other_bytes = proof_by("one");
  of_other_bytes.digest = "d0";
  EXPECT_FALSE(holds_for(*after_success(proof_by("two"), &of_other_bytes), "one"));
  Record elsewhere = proof_by("one");
  elsewhere.host.front().second += " of another machine";
  EXPECT_FALSE(holds_for(*after_success(proof_by("two"), &elsewhere), "one"));
  Record failed = proof_by("one");
  failed.state = State::suspect;
  EXPECT_FALSE(holds_for(*after_success(proof_by("two"), &failed), "one"));
}

TEST(Probes, OlderThanTheLastFourAreForgotten) {
  Record record = proof_by("0");
  for (int i = 1; i < 10; ++i) record = *after_success(proof_by(std::to_string(i)), &record);
  EXPECT_EQ(record.host.back().second, "9,8,7,6");
}

TEST(Survived, IsKeptByBuildAndProgramUntilItIsForgotten) {
  const Folder folder;
  note_survived(folder.path, "d1", First::opening, "app1");
  EXPECT_TRUE(was_survived(folder.path, "d1", First::opening, "app1"));
  EXPECT_FALSE(was_survived(folder.path, "d1", First::work, "app1"));
  EXPECT_FALSE(was_survived(folder.path, "d1", First::opening, "app2"));
  EXPECT_FALSE(was_survived(folder.path, "d2", First::opening, "app1"));
  forget_survived(folder.path, "d1");
  EXPECT_FALSE(was_survived(folder.path, "d1", First::opening, "app1"));
}

TEST(Disabled, AForcedRunThatSucceedsDoesNotEnableTheBuild) {
  const Record disabled = record_of({State::disabled}, false);
  EXPECT_FALSE(after_success(proof(), &disabled));
}

TEST(Restart, EndsOnlyTheRecordsThatARestartRepairs) {
  Failure failure;
  failure.build = "b";
  const auto holds_boot = [&](const char* code) {
    failure.diagnosis = Json::object().set("code", code);
    const auto record = after_failure(failure, nullptr, machine, now);
    return !what_changed(record->host, {{std::string(boot_part), "boot2"}}).empty();
  };
  EXPECT_TRUE(holds_boot("EH-G09"));  // 803: the parts of the driver differ in version until the next restart
  EXPECT_TRUE(holds_boot("EH-G08"));
  EXPECT_TRUE(holds_boot("EH-G13"));
  EXPECT_FALSE(holds_boot("EH-L01"));
  EXPECT_TRUE(what_changed(proof().host, {{std::string(boot_part), "boot2"}}).empty());
}

// The limits by ulimit and the settings under which a build failed, and the current ones.
TEST(Limits, EndOnlyTheRecordsWhoseRemedyIsToRaiseThem) {
  const Fingerprint tight = {{std::string(deadline_part), "1 s"},
                             {std::string(stack_part), "8192 KiB"},
                             {std::string(probe_memory_part), probe_memory_text(300u << 20)}};
  const auto ended_by = [&](const char* code, std::string_view part, const char* value) {
    Failure failure;
    failure.build = "b";
    failure.diagnosis = Json::object().set("code", code);
    return !what_changed(after_failure(failure, nullptr, tight, now)->host, {{std::string(part), value}})
                .empty();
  };
  EXPECT_TRUE(ended_by("EH-R05", deadline_part, "30 s"));
  EXPECT_TRUE(ended_by("EH-R06", stack_part, "unlimited"));
  EXPECT_TRUE(ended_by("EH-R06", stack_part, "16384 KiB"));
  EXPECT_TRUE(ended_by("EH-R19", probe_memory_part, probe_memory_text(0).c_str()));
  EXPECT_TRUE(ended_by("EH-R19", probe_memory_part, probe_memory_text(400u << 20).c_str()));
  EXPECT_FALSE(ended_by("EH-R19", probe_memory_part, probe_memory_text(200u << 20).c_str()));
  EXPECT_FALSE(ended_by("EH-R19", stack_part, "unlimited"));
  EXPECT_FALSE(ended_by("EH-R05", probe_memory_part, "unlimited"));
  EXPECT_FALSE(ended_by("EH-R06", probe_memory_part, "unlimited"));
  EXPECT_FALSE(ended_by("EH-R05", stack_part, "unlimited"));
  EXPECT_FALSE(ended_by("EH-R06", deadline_part, "30 s"));
  EXPECT_FALSE(ended_by("EH-R06", stack_part, "8192 KiB"));
  EXPECT_FALSE(ended_by("EH-R06", stack_part, "1024 KiB")) << "a lower one says nothing against the record";
  EXPECT_TRUE(what_changed(proof_of("b", "d", "a", tight, {}, Json(), now).host,
                           {{std::string(stack_part), "unlimited"}})
                  .empty());
}

TEST(Limits, CompareTheDeadlineThatTheBuildWasGiven) {
  Failure failure;
  failure.build = "b";
  failure.diagnosis =
      Json::object()
          .set("code", "EH-R05")
          .set("evidence", Json::array().push(Json::object().set("what", "deadline").set("value", "120 s")));
  const auto record = after_failure(failure, nullptr, {{std::string(deadline_part), "30 s"}}, now);
  EXPECT_TRUE(what_changed(record->host, {{std::string(deadline_part), "30 s"}}).empty());
  EXPECT_FALSE(what_changed(record->host, {{std::string(deadline_part), "121 s"}}).empty());
}

TEST(Limits, AreThoseOfThisProcess) {
  for (const auto& [name, value] : process_limits()) EXPECT_FALSE(value.empty()) << name;
  EXPECT_EQ(deadline_text(std::chrono::seconds(30)), "30 s");
}

}  // namespace
}  // namespace enginehost::history
