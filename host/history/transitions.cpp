// What becomes of a build after a failure or a success.
#include <algorithm>

#include "host/history/store.hpp"

namespace enginehost::history {
namespace {

constexpr std::int64_t minute = 60, day = 24 * 60 * minute;
constexpr std::int64_t blocked_for = 10 * minute;
constexpr std::int64_t quarantined_first = 7 * day, quarantined_at_most = 180 * day;

std::int64_t quarantine_time(int count) {
  std::int64_t time = quarantined_first;
  for (int i = 1; i < count && time < quarantined_at_most; ++i) time *= 2;
  return std::min(time, quarantined_at_most);
}

bool same_build(const Record& before, const Failure& failure) {
  // Before it is installed a build is known by what it would be made of.
  if (!before.digest.empty() && !failure.digest.empty()) return before.digest == failure.digest;
  return before.artifacts_digest == failure.artifacts_digest;
}

}  // namespace

std::optional<Record> after_failure(const Failure& failure, const Record* before, const Fingerprint& machine,
                                    std::int64_t now) {
  if (before != nullptr && before->state == State::disabled) return *before;
  Record record;
  record.build = failure.build;
  record.digest = failure.digest;
  record.artifacts_digest = failure.artifacts_digest;
  record.diagnosis = failure.diagnosis;
  record.host = machine;
  record.witnesses = failure.witnesses;
  record.first_seen = record.last_seen = now;
  record.count = 1;
  switch (failure.category) {
    case Category::content:
    case Category::transient:
    case Category::request:
      return std::nullopt;
    case Category::host:
      record.state = State::unfit;
      break;
    case Category::policy:
      record.state = State::blocked;
      record.retry_after = now + blocked_for;
      break;
    case Category::crash:
      record.state = State::quarantined;
      break;
  }
  const bool again = before != nullptr && same_build(*before, failure);
  // One crash in an application may be the application's own fault; in the probe there is nobody else.
  if (failure.category == Category::crash && failure.in_host &&
      !(again && (before->state == State::suspect || before->state == State::quarantined)))
    record.state = State::suspect;
  if (again && before->state == record.state) {
    record.count = before->count + 1;
    record.first_seen = before->first_seen;
  }
  if (record.state == State::quarantined) record.retry_after = now + quarantine_time(record.count);
  return record;
}

Record proof_of(std::string build, std::string digest, std::string artifacts_digest,
                const Fingerprint& machine, std::vector<Witness> witnesses, Json facts, std::int64_t now) {
  Record record;
  record.build = std::move(build);
  record.digest = std::move(digest);
  record.artifacts_digest = std::move(artifacts_digest);
  record.state = State::proven;
  record.host = machine;
  record.witnesses = std::move(witnesses);
  record.facts = std::move(facts);
  record.first_seen = record.last_seen = now;
  record.count = 1;
  return record;
}

}  // namespace enginehost::history
