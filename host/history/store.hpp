// Records on disk: one small JSON file a build in <state>/history/, written atomically.
//
//   <state>/history/<build id>.json      what was proven or failed
//   <state>/running/<digest>.<pid>.json  sentinels (sentinel.hpp)
#pragma once
#include <chrono>
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
  std::string program;  // not empty: nothing changed, it holds for that program and this is another
};

struct ReadResult {
  History history;                      // what still holds
  std::vector<Stale> stale;             // records whose time is over, whose witnesses or machine changed
  std::vector<std::string> warnings;    // records that could not be read and were ignored
  std::vector<std::string> unreadable;  // their builds, as far as the file's name tells
  // A record, or the folder, that cannot be read now and may be the next time (base/transient_errors.hpp):
  // nothing may be decided or written by what was read. EH-F24 or EH-F23, with "file" or "folder".
  std::optional<Diagnosis> failure;
};

// Reads all records and looks at their witnesses again (one stat each). With a fingerprint, records made on
// another machine are stale too. What is damaged or may not be read is ignored with a warning, a missing
// folder is empty. `may_write`: whether what repairs an unreadable record can be done in that folder.
ReadResult read(const std::filesystem::path& state_folder, std::int64_t now,
                const Fingerprint* machine = nullptr, bool may_write = true);

// Adds what another folder, which is only read, says is quarantined: of one build the younger record, but a
// disabled one in any case. Proofs stay there: they are made again where they can be kept.
void add_quarantined(ReadResult& own, ReadResult&& other);

// Reads one build's record, for the warm path: no other file is opened. Nothing when there is none that
// holds.
std::optional<Record> read_one(const std::filesystem::path& state_folder, const std::string& build_id,
                               std::int64_t now, const Fingerprint* machine = nullptr);

// Writes or replaces one record. EH-F15, EH-F16 with "file" when the folder cannot be written: the record
// then holds for this process, whose later reads see it, and the caller warns.
Result<void> write(const std::filesystem::path& state_folder, const Record& record);

// Removes a record; true when there was one.
Result<bool> clear(const std::filesystem::path& state_folder, const std::string& build_id);

Json to_json(const Record& record);
// EH-M02 when a member is missing or of the wrong type.
Result<Record> record_from_json(const Json& document, std::string_view name);

// What becomes of a build after a failure.
struct Failure {
  std::string build, digest, artifacts_digest;
  Category category = Category::host;
  bool in_host = false;    // crashed in the application rather than in the probe
  bool only_here = false;  // it failed in this program, in an orderly way, after it had passed in the probe
  bool repeated = true;    // of a crash in the probe: false when the second try passed
  std::string program,
      boot;  // of a crash in the application: which one, and the start of the machine it ran in
  Json diagnosis;
  std::vector<DependencyStamp> dependency_stamps;
};

// The new record, or nothing when it is not to be remembered (wrong bytes are fetched again, passing troubles
// tried again). `before` is what was known, also if it no longer holds. Times: blocked 10 minutes;
// quarantined 7 days, doubled at each repetition up to 180. A crash in the probe that a second try did not
// repeat is a suspicion. A crash in the application is one strike and a suspicion, two strikes on the same
// machine are a quarantine; what was known counts half when the application is another one or the machine was
// started again since, for then it may have been theirs. `disabled` stays disabled.
std::optional<Record> after_failure(const Failure& failure, const Record* before, const Fingerprint& machine,
                                    std::int64_t now);

// The record of a success in the probe; nothing for a build that the user disabled and now forces for once.
// Strikes of the same build on the same machine stay until its first work, and so do the names of other
// helpers (up to three) that proved the same.
std::optional<Record> after_success(Record proof, const Record* before);

// The record of a proof.
Record proof_of(std::string build, std::string digest, std::string artifacts_digest,
                const Fingerprint& machine, std::vector<DependencyStamp> dependency_stamps, Json facts,
                std::int64_t now);

// The first named part that both know and that differs (of helpers: that is not among those that were; of
// limits: that allows more): "the
// NVIDIA driver changed from "535.1" to "580.2"", or "".
std::string what_changed(const Fingerprint& was, const Fingerprint& is);

// The part of a fingerprint that only some failures depend on: the start of the machine (its boot id). A
// driver whose halves do not fit together (EH-G09), that lost its device files (EH-G08) or answers nothing is
// repaired by a restart.
inline constexpr std::string_view boot_part = "start of the machine";
// And the program: what failed in it after it had passed in the probe says nothing of other programs.
inline constexpr std::string_view program_part = "program";
// And the probe helper. Releases of EngineHost that share a cache have one each: a proof names all that made
// it of the same files on the same machine, separated by commas.
inline constexpr std::string_view helper_part = "probe helper";

// And what this process, and every child that it starts, may take: a build that ran out of one is tried again
// by whoever has more. The longest probe that is allowed is one of them (EH-R05); the stack (EH-R06), the
// address space and the data (EH-L23) are told as `ulimit -s`, `-v` and `-d` do, and left out where a system
// has none.
inline constexpr std::string_view deadline_part = "probe deadline";
inline constexpr std::string_view stack_part = "stack limit";
inline constexpr std::string_view address_space_part = "address space limit";
inline constexpr std::string_view data_part = "data limit";
std::string deadline_text(std::chrono::seconds deadline);
Fingerprint process_limits();
// Whether the record rests on one of process_limits().
bool rests_on_a_limit(const Record& record);

// A witness as the path is now: present with its stamp, or absent.
DependencyStamp dependency_stamp_of(const std::filesystem::path& path);

// "`library` is in none of `folders`", told so that its appearing is noticed: the absent file in each folder
// (a folder that is not there itself is its own witness), and the loader's cache, through which it may come
// from anywhere else. With an empty name, when only the plugin knows what it looked for: the folders as they
// are.
std::vector<DependencyStamp> stamps_of_expected_paths(std::string_view library,
                                                      const std::vector<std::filesystem::path>& folders,
                                                      const std::filesystem::path& loader_cache);

}  // namespace enginehost::history
