// Records on disk: one small JSON file for each build in <state>/history/, written atomically.
//
//   <state>/history/<name>.json          what was proven or failed
//   <state>/running/<digest>.<pid>.json  sentinels (sentinel.hpp)
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/history/history.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::history {

// The machine as named parts, so that a record can name the part that changed.
using Fingerprint = std::vector<std::pair<std::string, std::string>>;
Fingerprint host_fingerprint(const platform::Platform& platform);

// A record that no longer holds, and why, for users who miss it.
struct Stale {
  Record record;
  std::string why;  // "/usr/lib/libcuda.so.1 has appeared", "the NVIDIA driver changed from 535.1 to 580.2"
  std::string program;  // not empty: nothing changed; it holds for that program, and this is another
};

struct ReadResult {
  History history;                    // records that still hold
  std::vector<Stale> stale;           // expired records, and records whose dependencies or machine changed
  std::vector<std::string> warnings;  // records that could not be read and were ignored
  std::vector<std::string>
      unreadable;  // builds of the unreadable records, as far as the file names show them
  // A record or the folder that cannot be read now but may be readable later (base/system_errors.hpp):
  // nothing may be decided or written from this result. EH-F24 or EH-F23, with "file" or "folder".
  std::optional<Diagnosis> failure;
};

// Reads all records and checks their dependency stamps (one stat each). With a fingerprint, records of
// another machine are stale too. A damaged or unreadable record is ignored with a warning; a missing folder
// is empty. `may_write`: the folder can be written, so that a warning can suggest a repair there.
ReadResult read(const std::filesystem::path& state_folder, std::int64_t now,
                const Fingerprint* machine = nullptr, bool may_write = true);

// Adds the quarantined builds of another, read-only folder. The younger record of a build wins, but a
// disabled one always does. Proofs are not added: they are made again where they can be stored.
void add_quarantined(ReadResult& own, ReadResult&& other);

// Reads one build's record, for the warm path: no other file is opened. Nothing when no record holds.
std::optional<Record> read_one(const std::filesystem::path& state_folder, const std::string& build_id,
                               std::int64_t now, const Fingerprint* machine = nullptr);

// Writes or replaces one record. EH-F15, EH-F16 with "file" when the folder cannot be written: the record
// then holds for this process, whose later reads return it, and the caller warns.
Result<void> write(const std::filesystem::path& state_folder, const Record& record);

// Removes a record; true when there was one.
Result<bool> clear(const std::filesystem::path& state_folder, const std::string& build_id);

Json to_json(const Record& record);
// EH-M02 when a member is missing or of the wrong type.
Result<Record> record_from_json(const Json& document, std::string_view name);

// A failure, as input of after_failure(): the build, the diagnosis, the dependency stamps and, for a crash in
// the application, its program and boot. after_failure() fills in the rest of the record.
struct Failure : Record {
  Category category = Category::host;
  bool in_host = false;    // crashed in the application rather than in the probe
  bool only_here = false;  // it failed in this program without a crash, after it had passed in the probe
  bool repeated = true;    // for a crash in the probe: false when the second attempt passed
  bool of_device = false;  // a GPU failed: it ends with a restart, and after an hour
};

// Returns the new record, or nothing if the failure is not recorded (wrong bytes are fetched again, transient
// problems are tried again). `before` is the last record, even if it no longer holds.
//
// Times: blocked 10 minutes; quarantined 7 days, doubled at each repetition up to 180. A crash in the probe
// that the second attempt did not repeat makes the build suspect. A crash in the application is one strike
// and makes it suspect; two strikes on the same machine quarantine it. Earlier strikes count half if the
// application differs or the machine was restarted since, because they may have been the cause. `disabled`
// stays disabled.
std::optional<Record> after_failure(const Failure& failure, const Record* before, const Fingerprint& machine,
                                    std::int64_t now);

// Returns the record of a success in the probe; nothing for a build that the user disabled and now forces
// once. Strikes of the same build on the same machine stay until its first work. The names of up to three
// other probe programs that proved the same stay too.
std::optional<Record> after_success(Record proof, const Record* before);

// Makes the record of a proof. `of_devices`: of GPUs, whose proof ends with a restart of the machine.
Record proof_of(std::string build, std::string digest, std::string artifacts_digest,
                const Fingerprint& machine, std::vector<DependencyStamp> dependency_stamps, Json facts,
                std::int64_t now, bool of_devices = false);

// Returns the first named part that both have and that differs: "the NVIDIA driver changed from "535.1" to
// "580.2"", or "". A probe program counts as changed if it is not among the recorded ones, a limit if it
// allows more.
std::string what_changed(const Fingerprint& was, const Fingerprint& is);

// The part that only some failures depend on: the start of the machine (its boot id). A restart repairs a
// driver whose halves do not fit together (EH-G09), that lost its device files (EH-G08) or does not respond.
inline constexpr std::string_view boot_part = "start of the machine";
// The program: a failure in it after the build had passed in the probe does not apply to other programs.
inline constexpr std::string_view program_part = "program";
// The probe program. Releases of EngineHost that share a cache each have one. A proof names all that made it
// from the same files on the same machine, separated by commas.
inline constexpr std::string_view helper_part = "probe helper";

// Limits of this process and its children: a build that reached one is tried again under a higher limit. They
// are the longest allowed probe (EH-R05), the stack (EH-R06, the value of `ulimit -s`; left out where the
// system has none), and what a build may take of memory in the probe (EH-R19). The limits that the probe sets
// for itself are not among process_limits().
inline constexpr std::string_view deadline_part = "probe deadline";
inline constexpr std::string_view stack_part = "stack limit";
inline constexpr std::string_view probe_memory_part = "probe memory";
std::string deadline_text(std::chrono::seconds deadline);
std::string probe_memory_text(std::uint64_t bytes);  // 0: no limit
Fingerprint process_limits();
// True if the record depends on one of process_limits().
bool rests_on_a_limit(const Record& record);

// Returns the path's current dependency stamp: present with its file stamp, or absent.
DependencyStamp dependency_stamp_of(const std::filesystem::path& path);

// Returns stamps that change once `library`, now in none of `folders`, appears: the absent file in each
// folder (for a missing folder, the folder itself), and the loader's cache, through which it may come from
// elsewhere. With an empty name, when only the plugin knows what it searched: the folders as they are.
std::vector<DependencyStamp> stamps_of_expected_paths(std::string_view library,
                                                      const std::vector<std::filesystem::path>& folders,
                                                      const std::filesystem::path& loader_cache);

}  // namespace enginehost::history
