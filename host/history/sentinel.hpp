// A file that stands while a build's code runs for the first time in this process. When it is left over, the
// process died there: the only way to learn of a crash inside the application.
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

// A process that died with a sentinel standing.
struct Crash {
  std::string build, digest, artifacts_digest, phase;
  std::string program, boot;  // program_id() of the process, and the start of the machine it ran in
  int pid = 0;
  std::int64_t started = 0;  // seconds since 1970
};

// Held by one thread at a time. The file is <state>/running/<digest>.<pid>.<number>.json and is locked as
// long as the object lives (a lock of the open file, so that closing another descriptor of it does not drop
// the lock). A process that ends in an orderly way, by exit() or the end of main(), lowers what still stands,
// unless the build's own code called exit(); a forked child never touches its parent's.
class Sentinel {
 public:
  // Writes the file (temporary name, rename, no fsync: it must survive the process, not a power cut). EH-F15,
  // EH-F16.
  static Result<Sentinel> raise(const std::filesystem::path& state_folder, std::string_view build,
                                std::string_view digest, std::string_view phase,
                                std::string_view artifacts_digest = {});
  Sentinel(Sentinel&&) noexcept;
  Sentinel& operator=(Sentinel&& other) noexcept;
  ~Sentinel();  // lowers it
  // "dlopen", "entry", "create", "warmup": where a crash would have been. Rewrites a few bytes in place.
  Result<void> enter(std::string_view phase);
  // Takes the file away: the first real operation succeeded, or the engine was closed.
  void lower();

 private:
  Sentinel(std::filesystem::path file, FileDescriptor descriptor);
  std::filesystem::path file_;
  FileDescriptor open_;
  Crash reported_;  // when the process dies
};

// Says that the calling thread runs, from here on, the code that sentinels which it raises stand for, or
// (nullptr) that it does not any more. A process that this thread ends by exit() meanwhile was ended by that
// code, and its sentinel stays. `owner` tells one piece of code from another; several threads may run one.
void set_running_here(const void* owner);
const void* running_here();

// Stands like a sentinel, but for code that was survived here before, and costs next to nothing: what a crash
// would be told by lies in a file that is open anyway (cache/lease.hpp). Held by one thread at a time.
class PendingMarker {
 public:
  // Of this process, from now on. `withdraw` takes the word out of its file; it is called once, by this
  // process, where it does not die before.
  // `file`: where it lies, to be emptied where nothing else can be done (disown_what_stands).
  PendingMarker(Crash crash, std::function<void()> withdraw, int file);
  PendingMarker(const PendingMarker&) = delete;
  PendingMarker& operator=(const PendingMarker&) = delete;
  ~PendingMarker();

 private:
  std::string name_;
};

// This process's crash while it loads that build, but for `boot`, which takes a look at a file; and the word
// that tells of it, empty where it cannot be written as one.
Crash crash_while_loading(std::string_view build, std::string_view digest, std::string_view artifacts_digest,
                          std::string_view program = program_id());
std::string crash_marker_of(const Crash& crash);
// From the word of a process that died. Nothing for what is no such word, or of another start of the machine,
// which is nobody's fault.
std::optional<Crash> crash_of(std::string_view word);

// For a signal's handler that ends the process because somebody wants it to end: what stands is not held
// against anybody. Makes nothing but system calls that a handler may make.
void disown_what_stands();

// What stands in this process now, for the code that the calling thread runs if it runs any.
std::optional<Crash> standing_here();

// Collects and removes left-over sentinels: not locked by anyone, of this boot. Those of another boot are
// removed without being counted (a power cut is nobody's fault), and so are drafts of processes that died
// before anything stood. Two processes collecting at once never both report one.
std::vector<Crash> collect_crashes(const std::filesystem::path& state_folder);

}  // namespace enginehost::history
