// Derives a build's new record from a failure or a success.
#include <algorithm>

#include "base/text.hpp"
#include "host/history/store.hpp"

namespace enginehost::history {
namespace {

constexpr std::int64_t minute = 60, day = 24 * 60 * minute;
constexpr std::int64_t blocked_for = 10 * minute;
// A GPU can be reset without any sign of it.
constexpr std::int64_t device_fails_for = 60 * minute;
constexpr std::int64_t quarantined_first = 7 * day, quarantined_at_most = 180 * day;
constexpr double strikes_for_quarantine = 2;
constexpr std::size_t most_other_helpers = 3;

std::int64_t quarantine_time(int count) {
  std::int64_t time = quarantined_first;
  for (int i = 1; i < count && time < quarantined_at_most; ++i) time *= 2;
  return std::min(time, quarantined_at_most);
}

bool same_build(const Record& before, std::string_view digest, std::string_view artifacts_digest) {
  // A build that is not installed is identified by the artifacts it would be made of.
  if (!before.digest.empty() && !digest.empty()) return before.digest == digest;
  return before.artifacts_digest == artifacts_digest;
}

// True for a failure that a restart of the machine repairs; its record must end with the restart.
bool ends_with_a_restart(const Json& diagnosis) {
  constexpr Code codes[] = {Code::gpu_device_files_not_accessible, Code::driver_and_library_differ,
                            Code::cuda_unknown_error};
  const Code code = code_named(diagnosis["code"].as_string());
  if (std::find(std::begin(codes), std::end(codes), code) != std::end(codes)) return true;
  for (const Json& fact : diagnosis["evidence"].as_array())
    if (fact["what"].as_string() == text_of(Key::survived_kill)) return true;
  return false;
}

void leave_out(Fingerprint& host, std::string_view name) {
  std::erase_if(host, [&](const auto& part) { return part.first == name; });
}

// Failures whose remedy is to raise a limit: the record ends when the limit is higher.
struct Limited {
  Code code = Code::none;
  std::string_view part;
};
constexpr Limited by_limits[] = {{Code::engine_does_not_start_in_time, deadline_part},
                                 {Code::stack_overflow, stack_part},
                                 {Code::probe_memory_too_small, probe_memory_part}};

void keep_the_limit_of(Fingerprint& host, const Json& diagnosis) {
  for (const Limited& one : by_limits)
    if (code_named(diagnosis["code"].as_string()) != one.code) leave_out(host, one.part);
  // The deadline that was in force; the build's manifest or the request may have set it.
  for (const Json& fact : diagnosis["evidence"].as_array())
    for (auto& [name, value] : host)
      if (name == deadline_part && fact["what"].as_string() == text_of(Key::deadline))
        value = fact["value"].as_string();
}

// Returns the remaining weight of earlier crashes.
double earlier_strikes(const Record* before, const Failure& failure, const Fingerprint& machine) {
  if (before == nullptr || !what_changed(before->host, machine).empty()) return 0;
  const bool elsewhere = before->program != failure.program || before->boot != failure.boot;
  return elsewhere ? before->strikes / 2 : before->strikes;
}

State state_after_crash(const Failure& failure, const Record* before, double strikes) {
  if (!failure.in_host) return failure.repeated ? State::quarantined : State::suspect;
  // One crash in an application may be the application's fault; in the probe there is no other code.
  const bool was_quarantined = before != nullptr && before->state == State::quarantined;
  return strikes >= strikes_for_quarantine || was_quarantined ? State::quarantined : State::suspect;
}

// True if the other proof holds here as well, apart from the probe program that made it.
bool is_the_same_proof(const Record& before, const Record& proof) {
  if (before.state != State::proven || !same_build(before, proof.digest, proof.artifacts_digest))
    return false;
  Fingerprint was = before.host;
  leave_out(was, helper_part);
  const auto knows_otherwise = [&](const DependencyStamp& now) {
    return std::any_of(before.dependency_stamps.begin(), before.dependency_stamps.end(),
                       [&](const DependencyStamp& one) { return one.path == now.path && one != now; });
  };
  return what_changed(was, proof.host).empty() &&
         std::none_of(proof.dependency_stamps.begin(), proof.dependency_stamps.end(), knows_otherwise);
}

// Otherwise two releases that share a cache would prove a build again whenever the other had opened it.
void keep_helpers(Fingerprint& host, const Fingerprint& before) {
  for (auto& [name, helpers] : host)
    for (const auto& [other_name, others] : before) {
      if (name != helper_part || other_name != helper_part) continue;
      std::vector<std::string> all = {helpers};
      for (std::string& other : split(others, ','))
        if (other != helpers && all.size() <= most_other_helpers) all.push_back(std::move(other));
      helpers = join(all, ",");
    }
}

}  // namespace

std::optional<Record> after_failure(const Failure& failure, const Record* before, const Fingerprint& machine,
                                    std::int64_t now) {
  if (before != nullptr && before->state == State::disabled) return *before;
  if (before != nullptr && !same_build(*before, failure.digest, failure.artifacts_digest)) before = nullptr;
  Record record = failure;
  record.host = machine;
  if (!ends_with_a_restart(failure.diagnosis) && !failure.of_device) leave_out(record.host, boot_part);
  if (!failure.only_here) leave_out(record.host, program_part);
  keep_the_limit_of(record.host, failure.diagnosis);
  record.first_seen = record.last_seen = now;
  record.count = 1;
  // A crash marker does not say it.
  if (before != nullptr && record.engine.empty()) record.engine = before->engine;
  if (before != nullptr && !failure.in_host) {
    record.strikes = before->strikes;
    record.program = before->program;
    record.boot = before->boot;
  }
  switch (failure.category) {
    case Category::content:
    case Category::transient:
    case Category::request:
      return std::nullopt;
    case Category::host:
      record.state = State::unfit;
      if (failure.of_device) record.retry_after = now + device_fails_for;
      break;
    case Category::policy:
      record.state = State::blocked;
      record.retry_after = now + blocked_for;
      break;
    case Category::crash:
      if (failure.in_host) record.strikes = earlier_strikes(before, failure, machine) + 1;
      record.state = state_after_crash(failure, before, record.strikes);
      break;
  }
  if (before != nullptr && before->state == record.state) {
    record.count = before->count + 1;
    record.first_seen = before->first_seen;
  }
  if (record.state == State::quarantined) record.retry_after = now + quarantine_time(record.count);
  return record;
}

Record proof_of(std::string build, std::string digest, std::string artifacts_digest,
                const Fingerprint& machine, std::vector<DependencyStamp> dependency_stamps, Json facts,
                std::int64_t now, bool of_devices) {
  Record record;
  record.build = std::move(build);
  record.digest = std::move(digest);
  record.artifacts_digest = std::move(artifacts_digest);
  record.state = State::proven;
  record.host = machine;
  // A build that worked works after a restart too; other parts record what a restart can change. A GPU may
  // not.
  if (!of_devices) leave_out(record.host, boot_part);
  leave_out(record.host, program_part);
  keep_the_limit_of(record.host, Json());
  record.dependency_stamps = std::move(dependency_stamps);
  record.facts = std::move(facts);
  record.first_seen = record.last_seen = now;
  record.count = 1;
  return record;
}

std::optional<Record> after_success(Record proof, const Record* before) {
  if (before == nullptr) return proof;
  if (before->state == State::disabled) return std::nullopt;
  if (same_build(*before, proof.digest, proof.artifacts_digest) &&
      what_changed(before->host, proof.host).empty()) {
    proof.strikes = before->strikes;
    proof.program = before->program;
    proof.boot = before->boot;
  }
  if (is_the_same_proof(*before, proof)) keep_helpers(proof.host, before->host);
  return proof;
}

}  // namespace enginehost::history
