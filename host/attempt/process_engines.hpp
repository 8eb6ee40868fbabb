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
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/files.hpp"
#include "base/per_process.hpp"
#include "base/result.hpp"
#include "cache/installed.hpp"
#include "host/context/open_context.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::open {

class ProcessEngines;
class SharedEngine;

// A lock held by one thread. The destructor releases it, but only in the process that took it.
class OpenLock {
 public:
  OpenLock() = default;
  OpenLock(std::string name, unsigned process, bool waited)
      : name_(std::move(name)), process_(process), waited_(waited) {}
  OpenLock(OpenLock&& other) noexcept
      : name_(std::exchange(other.name_, {})), process_(other.process_), waited_(other.waited_) {}
  OpenLock& operator=(OpenLock&& other) noexcept;
  ~OpenLock() { end(); }
  void end();
  // Returns true if another thread held the lock before.
  bool waited() const { return waited_; }

 private:
  std::string name_;  // empty: holds nothing
  unsigned process_ = 0;
  bool waited_ = false;
};

// The state that is checked each time an engine is shared: two folders and the environment. The folders are
// kept open, so that checking them resolves no path. The cached decision notices within a second that one was
// moved away.
class Watch {
 public:
  explicit Watch(const OpenContext& context);
  bool is_unchanged() const { return now() == seen_; }

 private:
  struct Folder {
    explicit Folder(std::string at);
    FileStamp now() const;  // zeros if the folder does not exist (any more)
    std::string path;
    FileDescriptor descriptor;  // none: the folder did not exist at first, and is checked by its path
  };
  struct State {
    std::uint64_t environment = 0;
    FileStamp builds, records;
    bool operator==(const State&) const = default;
  };
  State now() const;

  Folder builds_, records_;
  State seen_;
};

class ProcessEngines {
 public:
  // Never destroyed, because engines may be freed while the process ends.
  static ProcessEngines& here();

  // Locks the opening of the request with that key. EH-P10 if canceled while waiting. A thread that is
  // already opening (a callback of that open) does not wait, because the other thread might be waiting for
  // it.
  Result<OpenLock> open_lock(const std::string& key, const std::optional<CancelToken>& cancel);
  // Locks inspecting and changing the loaded libraries, which decide what the next thread may load beside
  // them. The thread that holds it may take it again.
  Result<OpenLock> load_lock(const std::optional<CancelToken>& cancel);

  // Records that an engine of the build is open, with the folders of its libraries. It stays recorded until
  // none of its libraries is in the process; for most engines that is the end of the process.
  void note_engine(const std::string& build, const std::string& identity, std::vector<std::string> folders);
  // Counts the builds that note_engine() added. If the number differs from an earlier one, another engine was
  // opened in between.
  std::uint64_t engines_noted();
  // Returns true while libraries of another build's engine are in this process. Reads the process's libraries
  // only if such an engine was recorded.
  bool engine_beside(std::string_view identity);
  // Returns why the build cannot be loaded beside the open engines, or nothing. `warnings` are those of a
  // static check made in this process. "held_by" names the open build.
  //
  // - EH-L17: another engine's library of the same name would replace a file of the build, and the bytes
  //   differ.
  // - EH-L35: both bring LLVM's OpenMP runtime (libomp, libiomp5). Its second copy ends the process ("OMP:
  //   Error #15") unless KMP_DUPLICATE_LIB_OK is set.
  //
  // Two CUDA major versions, and GNU's OpenMP runtime twice, stay warnings.
  std::optional<Diagnosis> conflict_with_engines(const std::string& identity,
                                                 const std::vector<Diagnosis>& warnings);

  // Adds the libraries of a failed load to those known of the build: they stay in the process. `remembered`:
  // the failure is on record, so that the next process does not choose the build.
  void note_failed_load(const cache::Installed& installed, std::vector<load::Library> libraries,
                        bool remembered);
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

  // Returns the open engine that equal requests share, and whether its dependencies must be checked before.
  // `began`: a call that began before the engine was put here needs no check.
  using Clock = std::chrono::steady_clock;
  std::pair<std::shared_ptr<SharedEngine>, bool> shared(const std::string& key, Clock::time_point began);
  // `looked_at`: the time when the dependencies were checked.
  void share(const std::string& key, const std::shared_ptr<SharedEngine>& engine, Watch watch,
             Clock::time_point looked_at);
  // Closes the watched folders of engines that nobody holds any more.
  void drop_closed();

 private:
  friend class OpenLock;
  struct OpenEngine {
    std::string build, identity;
    std::vector<std::string> folders;
    bool brought(const std::string& library) const;
  };
  struct FailedLoad {
    std::string build, digest;
    std::vector<load::Library> libraries;
    bool remembered = false;
  };
  struct Held {
    std::string name;
    std::thread::id thread;
    int times;
  };
  struct Shared {
    std::string key;
    std::weak_ptr<SharedEngine> engine;
    Watch watch;
    Clock::time_point looked_at, put_at;
  };
  // Everything that a forked child must not inherit.
  struct Threads {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Held> held;
    std::vector<Shared> shared;
  };

  ProcessEngines() = default;
  Result<OpenLock> take(const std::string& name, bool unless_held_here,
                        const std::optional<CancelToken>& cancel);
  void leave(const std::string& name, unsigned process);
  // Returns the build whose engine brought that library, if it is another build.
  std::string bringer(const std::string& library, std::string_view identity);
  std::optional<Diagnosis> served_by_another(const Diagnosis& warning, const std::string& identity);
  std::optional<Diagnosis> second_openmp(const Diagnosis& warning, const std::string& identity);

  PerProcess<Threads> threads_;
  std::mutex libraries_;  // held over a fork, so that a child finds it free
  std::vector<OpenEngine> engines_;
  std::vector<FailedLoad> failed_;
  std::uint64_t noted_ = 0;
};

// Returns the identity of an engine: the digest of its build's files, or the path of a plugin without a
// manifest.
std::string identity_of(const cache::Installed& installed);

}  // namespace enginehost::open
