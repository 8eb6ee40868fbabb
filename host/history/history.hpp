// Records of what was proven or failed on this machine, as plain values; host/history/store.hpp reads and
// writes the files.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"

namespace enginehost::history {

// The category of a failure decides how the build is treated afterwards.
enum class Category {
  content,    // the bytes are wrong: they are discarded and fetched again
  host,       // the machine lacks something: unfit until that changes, no strikes
  policy,     // forbidden here (noexec, permission, security module): blocked, checked again after 10 minutes
  transient,  // out of descriptors, memory, device busy: tried again, not recorded
  crash,      // it crashed, hung or misreported: quarantined after a second attempt
  request     // not the build's fault: a wrong argument, no network, canceled; not recorded
};

// A file that a record depends on. When it changes, the record is stale and the build is tried again.
struct DependencyStamp {
  std::string path;  // absolute
  bool present =
      true;  // false: the path did not exist when the record was made; the record is stale once it appears
  FileStamp stamp;  // of an existing path
  bool operator==(const DependencyStamp&) const = default;
};

enum class State {
  proven,   // probed and loaded here
  unfit,    // the host lacks something: driver, library, glibc; no strikes, ends when a dependency changes
  blocked,  // policy: noexec, permission; also ends after 10 minutes
  suspect,  // crashed once, in the host or in a probe that then passed; a warning, and tried again
  quarantined,  // crashed, hung or misreported in the probe; ends after a growing time
  disabled      // by the user; never ends automatically
};

struct Record {
  std::string build;             // its name: cache/record_names.hpp
  std::string engine;            // empty: unknown, because an older version wrote the record
  std::string digest;            // of the installed build; empty when it failed before it was installed
  std::string artifacts_digest;  // manifest::Build::artifacts_digest()
  State state = State::proven;
  Json diagnosis;                                         // as in the contract; null for a proof
  std::vector<std::pair<std::string, std::string>> host;  // named parts of the machine's fingerprint
  std::vector<DependencyStamp> dependency_stamps;
  std::int64_t first_seen = 0, last_seen = 0,
               retry_after = 0;  // seconds since 1970; retry_after 0: no time limit
  int count = 0;
  // Crashes in an application weigh 1 each, and less if the application or the start of the machine differs
  // from the last time; see after_failure(). They stay with a proof until the build has done its first work
  // in an application.
  double strikes = 0;
  std::string program, boot;  // of the last strike: the application's build id, and the start of the machine
  // For a proof: what the probe found (devices, versions, stages). For a disabled build: the record that it
  // covers.
  Json facts;
};

// All records of this machine, by the builds' names. A plain value.
struct History {
  std::map<std::string, Record> records;
  const Record* find(const std::string& build_id) const;
};

// The part of `host` that belongs to the build instead of the machine: how its manifest says that its files
// are loaded (manifest::Build::loading_digest()).
inline constexpr std::string_view loading_part = "loading by the manifest";
// True if the record was made for the build as it is loaded now, or does not contain that part.
bool is_of_loading(const Record& record, std::string_view loading_digest);

// True if the record excludes the build from being tried at `now` (seconds since 1970).
bool is_quarantined(const Record& record, std::int64_t now);
// True for every record but a proof, even if the build may be tried again.
bool is_on_record_against(const Record& record);

// True for an unfit build for GPUs that works on the processor. Its facts are those of a proof.
bool works_on_processor(const Record& record);

const char* name_of(State state);

}  // namespace enginehost::history
