// Records on disk: one small JSON file a build in <state>/history/, written atomically.
//
//   <state>/history/<build id>.json      what was proven or failed
//   <state>/running/<digest>.<pid>.json  sentinels (sentinel.hpp)
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/history/category.hpp"
#include "host/history/history.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::history {

// The machine as named parts, so that a record can say which of them changed.
using Fingerprint = std::vector<std::pair<std::string, std::string>>;
Fingerprint host_fingerprint(const platform::Platform& platform);

// A record that was found but no longer holds, and why: for people who ask where it went.
struct Stale {
  Record record;
  std::string why;  // "/usr/lib/libcuda.so.1 has appeared", "the NVIDIA driver changed from 535.1 to 580.2"
};

struct ReadResult {
  History history;                    // what still holds
  std::vector<Stale> stale;           // records whose time is over, whose witnesses or machine changed
  std::vector<std::string> warnings;  // records that could not be read and were ignored
};

// Reads all records and looks at their witnesses again (one stat each). With a fingerprint, records made on
// another machine are stale too. Never fails: what cannot be read is ignored with a warning, a missing folder
// is empty.
ReadResult read(const std::filesystem::path& state_folder, std::int64_t now,
                const Fingerprint* machine = nullptr);

// Reads one build's record, for the warm path: no other file is opened. Nothing when there is none that
// holds.
std::optional<Record> read_one(const std::filesystem::path& state_folder, const std::string& build_id,
                               std::int64_t now, const Fingerprint* machine = nullptr);

// Writes or replaces one record. EH-F15, EH-F16 with "file" when the folder cannot be written: the caller
// keeps the record in memory and warns.
Result<void> write(const std::filesystem::path& state_folder, const Record& record);

// Removes a record; true when there was one.
Result<bool> clear(const std::filesystem::path& state_folder, const std::string& build_id);

Json to_json(const Record& record);
// EH-M02 when a member is missing or of the wrong type.
Result<Record> record_from_json(const Json& document, std::string_view name);

// What becomes of a build after a failure: the new record, or nothing when it is not to be remembered (wrong
// bytes are fetched again, transient failures tried again). `before` is what was known. Times: blocked 10
// minutes; quarantined 7 days, doubled at each repetition up to 180; one crash in the host is a suspicion,
// the second on the same machine a quarantine. `disabled` stays disabled.
struct Failure {
  std::string build, digest, artifacts_digest;
  Category category = Category::host;
  bool in_host = false;  // crashed in the application rather than in the probe
  Json diagnosis;
  std::vector<Witness> witnesses;
};
std::optional<Record> after_failure(const Failure& failure, const Record* before, const Fingerprint& machine,
                                    std::int64_t now);

// The record of a success.
Record proof_of(std::string build, std::string digest, std::string artifacts_digest,
                const Fingerprint& machine, std::vector<Witness> witnesses, Json facts, std::int64_t now);

// A witness as the path is now: present with its stamp, or absent.
Witness witness_of(const std::filesystem::path& path);

}  // namespace enginehost::history
