#include "host/attempt/process_engines.hpp"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/per_process.hpp"
#include "host/load/in_process/loaded.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::open {
namespace {

constexpr std::chrono::seconds look_again_after{1};

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
PerProcess<Threads> threads_of_process;

struct NotedEngine {
  std::string build, engine, version, identity;
  std::vector<std::string> folders;
  bool brought(const std::string& library) const {
    return std::ranges::any_of(
        folders, [&](const std::string& folder) { return is_below(path_of(library), path_of(folder)); });
  }
};
struct FailedLoad {
  std::string build, digest;
  std::vector<load::Library> libraries;
  bool remembered = false;
};
struct Libraries {
  std::mutex mutex;  // held over a fork, so that a child finds it free
  std::vector<NotedEngine> engines;
  std::vector<FailedLoad> failed;
};

// Never destroyed, because engines may be freed while the process ends.
Libraries& libraries_of_process() {
  static Libraries& all = *new Libraries;
  [[maybe_unused]] static const bool kept = (hold_over_forks(all.mutex), true);
  return all;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(path_of(a), path_of(b), error);
}

// A second copy ends the process: openmp/runtime/src/kmp_runtime.cpp, __kmp_register_library_startup.
bool duplicates_are_allowed() {
  const settings::Environment environment = settings::Environment::of_this_process();
  const std::string* const allowed = environment.find("KMP_DUPLICATE_LIB_OK");
  return allowed != nullptr && std::string_view("1tTyY").find(allowed->front()) != std::string_view::npos;
}

bool is_llvms_openmp(std::string_view library) {
  return library.starts_with("libomp") || library.starts_with("libiomp5");
}

Result<OpenLock> take(const std::string& name, bool unless_held_here,
                      const std::optional<CancelToken>& cancel) {
  constexpr std::chrono::milliseconds look{10};
  const auto me = std::this_thread::get_id();
  Threads& threads = threads_of_process.here();
  std::unique_lock lock(threads.mutex);
  for (;;) {
    const auto held = std::ranges::find(threads.held, name, &Held::name);
    if (held == threads.held.end() || held->thread == me) {
      if (held == threads.held.end())
        threads.held.push_back({name, me, 1});
      else
        ++held->times;
      return OpenLock(name, generation_of_process());
    }
    if (unless_held_here && std::ranges::count(threads.held, me, &Held::thread) != 0) return OpenLock();
    // With a cancel token, poll: a sleeping waiter would not notice the cancellation.
    if (!cancel) {
      threads.changed.wait(lock);
      continue;
    }
    if (cancel->canceled()) return fail(diagnose(Code::canceled));
    threads.changed.wait_for(lock, look);
  }
}

// Returns the build whose engine brought that library, if it is another build.
std::string bringer(const std::string& library, std::string_view identity) {
  Libraries& known = libraries_of_process();
  const std::lock_guard lock(known.mutex);
  for (const NotedEngine& engine : known.engines)
    if (engine.identity != identity && engine.brought(library)) return engine.build;
  return {};
}

// Returns the build that brought the library by whose file another one would be served; empty for none.
std::string server_of(const Diagnosis& warning, std::string_view identity) {
  const std::string path(warning.value(Key::path));
  if (warning.value(Key::needed_by).empty()) return {};
  std::string holder = bringer(path, identity);
  if (!holder.empty() && load::same_content(path_of(path), path_of(warning.value(Key::wanted)))) return {};
  return holder;
}

// Returns the build that brought the other OpenMP runtime; empty for none.
std::string bringer_of_openmp(const Diagnosis& warning, std::string_view identity) {
  const std::vector<std::string> libraries = warning.values(Key::library), paths = warning.values(Key::path);
  if (std::ranges::count_if(libraries, is_llvms_openmp) < 2 || duplicates_are_allowed()) return {};
  for (std::size_t i = 0; i < std::min(libraries.size(), paths.size()); ++i)
    if (is_llvms_openmp(libraries[i]))
      if (std::string holder = bringer(paths[i], identity); !holder.empty()) return holder;
  return {};
}

FileStamp stamp_or_zeros(const std::string& path) {
  return path.empty() ? FileStamp{} : stamp_of(path_of(path)).value_or(FileStamp{});
}

}  // namespace

OpenLock& OpenLock::operator=(OpenLock&& other) noexcept {
  if (this == &other) return *this;
  end();
  name_ = std::exchange(other.name_, {});
  process_ = other.process_;
  return *this;
}

void OpenLock::end() {
  const std::string name = std::exchange(name_, {});
  // In a child that was forked from a callback, the lock belongs to the parent.
  if (name.empty() || process_ != generation_of_process()) return;
  Threads& threads = threads_of_process.here();
  const std::lock_guard lock(threads.mutex);
  const auto held = std::ranges::find(threads.held, name, &Held::name);
  if (held == threads.held.end() || --held->times > 0) return;
  threads.held.erase(held);
  threads.changed.notify_all();
}

Result<OpenLock> open_lock(const std::string& key, const std::optional<CancelToken>& cancel) {
  return take("key " + key, true, cancel);
}

Result<OpenLock> load_lock(const std::optional<CancelToken>& cancel) {
  return take("loading", false, cancel);
}

std::string identity_of(const cache::Installed& installed) {
  return installed.digest.empty() ? path_text(installed.folder / path_of(installed.plugin))
                                  : installed.digest;
}

void note_engine(const cache::Installed& installed, std::vector<std::string> folders) {
  const std::string identity = identity_of(installed);
  Libraries& known = libraries_of_process();
  const std::lock_guard lock(known.mutex);
  if (const auto before = std::ranges::find(known.engines, identity, &NotedEngine::identity);
      before != known.engines.end())
    before->folders = std::move(folders);
  else
    known.engines.push_back(
        {installed.build, installed.engine, installed.version, identity, std::move(folders)});
}

bool engine_beside(std::string_view identity) {
  Libraries& known = libraries_of_process();
  const std::lock_guard lock(known.mutex);
  const auto is_another = [&](const NotedEngine& engine) { return engine.identity != identity; };
  if (std::ranges::none_of(known.engines, is_another)) return false;
  const std::vector<load::Library> mapped = load::mapped_libraries();
  std::erase_if(known.engines, [&](const NotedEngine& engine) {
    return std::ranges::none_of(mapped,
                                [&](const load::Library& library) { return engine.brought(library.path); });
  });
  return std::ranges::any_of(known.engines, is_another);
}

std::vector<std::string> builds_beside(std::string_view identity) {
  std::vector<std::string> builds;
  const bool engines = engine_beside(identity);  // forgets those that left
  Libraries& known = libraries_of_process();
  const std::lock_guard lock(known.mutex);
  for (const NotedEngine& engine : known.engines)
    if (engines && engine.identity != identity) builds.push_back(engine.build);
  for (const FailedLoad& failed : known.failed)
    if (failed.digest != identity && std::ranges::find(builds, failed.build) == builds.end())
      builds.push_back(failed.build);
  return builds;
}

std::string bringer_of(const std::string& library, const cache::Installed& installed) {
  return bringer(library, identity_of(installed));
}

std::string release_of_engine(const std::string& library, const std::string& engine) {
  Libraries& known = libraries_of_process();
  const std::lock_guard lock(known.mutex);
  for (const NotedEngine& one : known.engines)
    if (one.engine == engine && one.brought(library)) return one.version;
  return {};
}

std::optional<Diagnosis> conflict_with_engines(const cache::Installed& installed,
                                               const std::vector<Diagnosis>& warnings) {
  const std::string identity = identity_of(installed);
  for (const Diagnosis& warning : warnings) {
    const std::string holder = warning.code == Code::other_file_already_loaded ? server_of(warning, identity)
                               : warning.code == Code::two_openmp_runtimes
                                   ? bringer_of_openmp(warning, identity)
                                   : std::string();
    if (holder.empty()) continue;
    Diagnosis refused = warning;
    return std::move(refused.with(Key::held_by, holder, "engines open in this process"));
  }
  return std::nullopt;
}

std::optional<Diagnosis> conflict_with_stand_ins(const cache::Installed& installed,
                                                 const std::vector<load::Library>& loaded,
                                                 const Substitutes& substitutes) {
  for (const std::string& name : installed.stand_ins)
    for (const load::Library& there : loaded) {
      if (there.soname != name) continue;
      std::error_code error;
      std::filesystem::path own;
      for (const std::string& folder : installed.search)
        if (own = installed.folder / path_of(folder) / path_of(name); std::filesystem::exists(own, error))
          break;
      if (substitutes.leave_out(own) || load::same_content(path_of(there.path), own)) continue;
      Diagnosis diagnosis = diagnose(Code::other_file_already_loaded);
      diagnosis.with(Key::library, name)
          .with(Key::path, there.path, "libraries of this process")
          .with(Key::wanted, path_text(own), "files of the build")
          .with(Key::stand_in_of, installed.build, "manifest");
      if (const std::string holder = bringer(there.path, identity_of(installed)); !holder.empty())
        diagnosis.with(Key::held_by, holder, "engines open in this process");
      return diagnosis;
    }
  return std::nullopt;
}

void note_failed_load(const cache::Installed& installed, std::vector<load::Library> libraries) {
  std::erase_if(libraries, [](const load::Library& library) { return library.soname.empty(); });
  if (libraries.empty()) return;
  const std::lock_guard lock(libraries_of_process().mutex);
  libraries_of_process().failed.push_back({installed.build, installed.digest, std::move(libraries)});
}

void note_remembered_failure(const std::string& build) {
  const std::lock_guard lock(libraries_of_process().mutex);
  for (FailedLoad& known : libraries_of_process().failed)
    known.remembered = known.remembered || known.build == build;
}

void forget_failed_load(const cache::Installed& installed) {
  const std::lock_guard lock(libraries_of_process().mutex);
  std::erase_if(libraries_of_process().failed,
                [&](const FailedLoad& known) { return known.digest == installed.digest; });
}

bool any_failed_load() {
  const std::lock_guard lock(libraries_of_process().mutex);
  return !libraries_of_process().failed.empty();
}

std::optional<Diagnosis> conflict_with_failed_load(const cache::Installed& installed,
                                                   const std::vector<load::Library>& needs) {
  Libraries& known = libraries_of_process();
  const std::lock_guard lock(known.mutex);
  for (const FailedLoad& left : known.failed) {
    if (left.digest == installed.digest) continue;
    for (const load::Library& there : left.libraries)
      for (const load::Library& need : needs) {
        if (need.soname != there.soname || same_file(need.path, there.path)) continue;
        Diagnosis diagnosis = diagnose(Code::other_file_already_loaded);
        diagnosis.with(Key::library, need.soname)
            .with(Key::path, there.path, "libraries of this process")
            .with(Key::wanted, need.path, "files of the build")
            .with(Key::left_by, left.build, "a build that failed to load in this process");
        // A build that is not quarantined is the first choice of a new process again.
        if (left.remembered) diagnosis.with(Key::next_open, installed.build);
        return diagnosis;
      }
  }
  return std::nullopt;
}

Watch::Watch(const OpenContext& context)
    : builds(builds_folder(context.store().root())),
      records(context.state_folder().empty() ? std::string() : records_folder(context.state_folder())),
      lock_file(path_text(context.settings().lock_file)),
      environment(environment_digest()),
      builds_stamp(stamp_or_zeros(builds)),
      records_stamp(stamp_or_zeros(records)),
      lock_stamp(stamp_or_zeros(lock_file)) {}

bool Watch::is_unchanged() const {
  return environment_digest() == environment && stamp_or_zeros(builds) == builds_stamp &&
         stamp_or_zeros(records) == records_stamp && stamp_or_zeros(lock_file) == lock_stamp;
}

std::pair<std::shared_ptr<SharedEngine>, bool> shared_engine(const std::string& key,
                                                             Clock::time_point began) {
  std::shared_ptr<SharedEngine> engine;  // may be the last reference; it is released after the mutex
  Threads& threads = threads_of_process.here();
  const std::lock_guard lock(threads.mutex);
  const auto found = std::ranges::find(threads.shared, key, &Shared::key);
  if (found == threads.shared.end()) return {};
  engine = found->engine.lock();
  if (!engine) return {};
  const bool looked = found->put_at >= began || Clock::now() - found->looked_at < look_again_after;
  return {std::move(engine), !looked || !found->watch.is_unchanged()};
}

void share_engine(const std::string& key, const std::shared_ptr<SharedEngine>& engine, Watch watch,
                  Clock::time_point looked_at) {
  Threads& threads = threads_of_process.here();
  const std::lock_guard lock(threads.mutex);
  std::erase_if(threads.shared, [&](const Shared& one) { return one.key == key || one.engine.expired(); });
  threads.shared.push_back({key, engine, std::move(watch), looked_at, Clock::now()});
}

}  // namespace enginehost::open
