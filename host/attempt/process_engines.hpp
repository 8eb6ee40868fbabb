// The engines of this process: the locks between threads that open them, the libraries that loads
// brought, and the engines that equal requests share.
//
// The loader serves a library name to everyone with the file that came first. A build that brings another
// file of that name would run on the first one's file, whether that one's load worked or not.
//
// Thread safety: any thread. A forked child keeps what is known of the libraries, because they are in it too.
// It starts with free locks and without shared engines, because it does not have the threads and the devices
// of its parent's engines.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "cache/installed.hpp"
#include "host/attempt/loaded_before.hpp"
#include "host/context/open_context.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::open {

class SharedEngine;

// A lock held by one thread. The destructor releases it, but only in the process that took it.
class OpenLock {
 public:
  OpenLock() = default;
  OpenLock(std::string name, unsigned process) : name_(std::move(name)), process_(process) {}
  OpenLock(OpenLock&& other) noexcept : name_(std::exchange(other.name_, {})), process_(other.process_) {}
  OpenLock& operator=(OpenLock&& other) noexcept;
  ~OpenLock() { end(); }
  void end();

 private:
  std::string name_;  // empty: holds nothing
  unsigned process_ = 0;
};

// Locks the opening of the request with that key. EH-P10 if canceled while waiting. A thread that is already
// opening (a callback of that open) does not wait, because the other thread might be waiting for it.
Result<OpenLock> open_lock(const std::string& key, const std::optional<CancelToken>& cancel);
// Locks inspecting and changing the loaded libraries, which decide what the next thread may load beside
// them. The thread that holds it may take it again.
Result<OpenLock> load_lock(const std::optional<CancelToken>& cancel);

// Returns the identity of an engine: the digest of its build's files, or the path of a plugin without a
// manifest.
std::string identity_of(const cache::Installed& installed);

// Records that an engine of the build is open, with the folders of its libraries. It stays recorded until
// none of its libraries is in the process; for most engines that is the end of the process.
void note_engine(const cache::Installed& installed, std::vector<std::string> folders);
// Returns true while libraries of another build's engine are in this process. Reads the process's libraries
// only if such an engine was recorded.
bool engine_beside(std::string_view identity);
// Returns the builds, other than the one with that identity, whose engine is open or whose load failed here.
std::vector<std::string> builds_beside(std::string_view identity);
// Returns the build whose engine brought that library, if it is another build; empty for none.
std::string bringer_of(const std::string& library, const cache::Installed& installed);
// Returns the release of the build that brought that library, if it is of that engine; empty for none.
std::string release_of_engine(const std::string& library, const std::string& engine);
// Returns why the build cannot be loaded beside the open engines, or nothing. `warnings` are those of a
// static check made in this process. "held_by" names the open build.
//
// - EH-L17: another engine's library of the same name would replace a file of the build, and the bytes
//   differ.
// - EH-L35: both bring LLVM's OpenMP runtime (libomp, libiomp5). Its second copy ends the process ("OMP:
//   Error #15") unless KMP_DUPLICATE_LIB_OK is set.
//
// Two CUDA major versions, and GNU's OpenMP runtime twice, stay warnings.
std::optional<Diagnosis> conflict_with_engines(const cache::Installed& installed,
                                               const std::vector<Diagnosis>& warnings);

// Returns EH-L17 if this process has `loaded` another file by the name of one of the build's stand-ins, also
// if the program itself loaded it. The loader would mix that library with a build that was made without it.
// A stand-in that `substitutes` leave out is not needed.
// Evidence: "library", "path", "wanted", "stand_in_of" (the build), and "held_by" if an open engine brought
// the file.
std::optional<Diagnosis> conflict_with_stand_ins(const cache::Installed& installed,
                                                 const std::vector<load::Library>& loaded,
                                                 const Substitutes& substitutes);

// Adds the libraries of a failed load to those known of the build: they stay in the process.
void note_failed_load(const cache::Installed& installed, std::vector<load::Library> libraries);
// The failure of the build is on record, so that the next process does not choose it.
void note_remembered_failure(const std::string& build);
// Forgets the build, because it was loaded after all: its libraries are now its engine's.
void forget_failed_load(const cache::Installed& installed);
// Returns false in nearly every process.
bool any_failed_load();
// Returns EH-L17 if one of `needs` (SONAME and path of the build's libraries) would be served by another
// file that a failed build left. Evidence: "library", "path", "wanted", "left_by", and "next_open", the
// build that a new process will choose. The same file is no conflict, nor is a file that an earlier attempt
// with the same digest loaded.
std::optional<Diagnosis> conflict_with_failed_load(const cache::Installed& installed,
                                                   const std::vector<load::Library>& needs);

// The state that is checked each time an engine is shared: the environment and two folders.
struct Watch {
  explicit Watch(const OpenContext& context);
  bool is_unchanged() const;
  std::string builds, records, lock_file;  // two folders and a file
  std::uint64_t environment;
  FileStamp builds_stamp, records_stamp, lock_stamp;  // zeros for what does not exist
};

// Returns the open engine that equal requests share, and whether its dependencies must be checked before.
// `began`: a call that began before the engine was put here needs no check.
using Clock = std::chrono::steady_clock;
std::pair<std::shared_ptr<SharedEngine>, bool> shared_engine(const std::string& key, Clock::time_point began);
// `looked_at`: the time when the dependencies were checked.
void share_engine(const std::string& key, const std::shared_ptr<SharedEngine>& engine, Watch watch,
                  Clock::time_point looked_at);

}  // namespace enginehost::open
