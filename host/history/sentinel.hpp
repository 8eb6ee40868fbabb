// A file that exists while a build's code runs for the first time in this process. If it is left over, the
// process died there. There is no other way to detect a crash inside the application.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "host/history/program.hpp"

namespace enginehost::history {

// A process that died while its sentinel existed.
struct Crash {
  std::string build, digest, artifacts_digest, phase;
  std::string program, boot;  // program_id() of the process, and the start of the machine it ran in
  // Builds and libraries that this process held beside the build; empty: none.
  std::string beside;
  int pid = 0;
  std::int64_t started = 0;  // seconds since 1970
};

// Held by one thread at a time. The file is <state>/running/<digest>.<pid>.<number>.json. It is locked as
// long as the object lives; the lock belongs to the open file, so closing another descriptor of it does not
// drop it. A process that ends by exit() or the end of main() removes its sentinels, unless the build's own
// code called exit(). A forked child never touches its parent's.
class Sentinel {
 public:
  // Creates the file (temporary name, rename, no fsync: it must survive the process, not a power cut).
  // EH-F15, EH-F16.
  static Result<Sentinel> raise(const std::filesystem::path& state_folder, std::string_view build,
                                std::string_view digest, std::string_view phase,
                                std::string_view artifacts_digest = {}, std::string beside = {});
  Sentinel(Sentinel&&) noexcept;
  Sentinel& operator=(Sentinel&& other) noexcept;
  ~Sentinel();  // removes the file
  // `phase`: "dlopen", "entry", "create", "warmup", where a crash would be located. Rewrites a few bytes in
  // place.
  Result<void> enter(std::string_view phase);
  // Removes the file: the first real operation succeeded, or the engine was closed.
  void lower();

 private:
  Sentinel(std::filesystem::path file, FileDescriptor descriptor);
  std::filesystem::path file_;
  FileDescriptor open_;
  unsigned number_ = 0;  // among the sentinels and markers of this process
};

// Marks the calling thread as running the code that its sentinels guard (nullptr: no longer). If this thread
// calls exit() meanwhile, the guarded code ended the process, and its sentinel stays. `owner` identifies a
// piece of code; several threads may run the same one.
void set_running_here(const void* owner);
const void* running_here();

// Acts like a sentinel for code that this machine has survived before, at almost no cost: the crash marker is
// written to a file that is open anyway (cache/lease.hpp). Held by one thread at a time.
class PendingMarker {
 public:
  // Registers a crash marker of this process. `withdraw` erases the marker from its file; it is called once,
  // by this process, unless the process dies first. `file`: the file with the marker, which
  // disown_what_stands() may empty.
  PendingMarker(Crash crash, std::function<void()> withdraw, int file);
  PendingMarker(const PendingMarker&) = delete;
  PendingMarker& operator=(const PendingMarker&) = delete;
  ~PendingMarker();

 private:
  unsigned number_;
};

// Return this process's crash while it loads that build, without `boot` (which would read a file), and the
// crash marker that records it. The marker is empty if the crash cannot be written as one.
Crash crash_while_loading(std::string_view build, std::string_view digest, std::string_view artifacts_digest);
std::string crash_marker_of(const Crash& crash);
// Reads the marker of a process that died. Nothing if the text is no marker, or comes from another start of
// the machine, whose end is not the build's fault.
std::optional<Crash> crash_of(std::string_view word);

// For the handler of a signal that ends the process on request: the sentinels and markers of this process
// then count against no build. Async-signal-safe.
void disown_what_stands();

// Returns a sentinel or marker of this process, preferably one for the code that the calling thread runs.
std::optional<Crash> standing_here();

// Collects and removes stale sentinels: not locked, and from this boot. Those of another boot are removed
// without being counted (a power cut is not the build's fault), and so are drafts of processes that died
// before their sentinel existed. Two concurrent collectors never both report one.
std::vector<Crash> collect_crashes(const std::filesystem::path& state_folder);

}  // namespace enginehost::history
