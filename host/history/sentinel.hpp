// A file that stands while a build's code runs for the first time in this process. When it is left over, the
// process died there: the only way to learn of a crash inside the application.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace enginehost::history {

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
  Sentinel(Sentinel&&) noexcept = default;
  Sentinel& operator=(Sentinel&& other) noexcept;
  ~Sentinel();  // lowers it
  // "dlopen", "entry", "create", "warmup": where a crash would have been. Rewrites a few bytes in place.
  Result<void> enter(std::string_view phase);
  // Takes the file away: the first real operation succeeded, or the engine was closed.
  void lower();

 private:
  Sentinel(std::filesystem::path file, FileDescriptor descriptor)
      : file_(std::move(file)), open_(std::move(descriptor)) {}
  std::filesystem::path file_;
  FileDescriptor open_;
  std::string build_, digest_, artifacts_digest_;
  std::int64_t started_ = 0;
};

// Says that the calling thread runs, from here on, the code that sentinels which it raises stand for, or
// (nullptr) that it does not any more. A process that this thread ends by exit() meanwhile was ended by that
// code, and its sentinel stays. `owner` tells one piece of code from another; several threads may run one.
void set_running_here(const void* owner);
const void* running_here();

// A process that died with a sentinel standing.
struct Crash {
  std::string build, digest, artifacts_digest, phase;
  std::string program, boot;  // program_id() of the process, and the start of the machine it ran in
  int pid = 0;
  std::int64_t started = 0;  // seconds since 1970
};

// What stands in this process now, for the code that the calling thread runs if it runs any.
std::optional<Crash> standing_here();

// Collects and removes left-over sentinels: not locked by anyone, of this boot. Those of another boot are
// removed without being counted (a power cut is nobody's fault), and so are drafts of processes that died
// before anything stood. Two processes collecting at once never both report one.
std::vector<Crash> collect_crashes(const std::filesystem::path& state_folder);

}  // namespace enginehost::history
