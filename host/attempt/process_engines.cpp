#include "host/attempt/process_engines.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "host/load/in_process/loaded.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::open {
namespace {

constexpr std::chrono::seconds look_again_after{1};

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

}  // namespace

OpenLock& OpenLock::operator=(OpenLock&& other) noexcept {
  if (this == &other) return *this;
  end();
  name_ = std::exchange(other.name_, {});
  process_ = other.process_;
  waited_ = other.waited_;
  return *this;
}

void OpenLock::end() {
  if (const std::string name = std::exchange(name_, {}); !name.empty())
    ProcessEngines::here().leave(name, process_);
}

Watch::Folder::Folder(std::string at)
    : path(std::move(at)),
      descriptor(path.empty() ? -1 : calls::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

FileStamp Watch::Folder::now() const {
  calls::Status status{};
  if (descriptor.valid() ? calls::fstat(descriptor.get(), &status) != 0
                         : path.empty() || calls::stat(path, &status) != 0)
    return {};
  if (status.st_nlink == 0) return {};
  return {static_cast<std::uint64_t>(status.st_dev), status.st_ino, 0, calls::modified_ns(status)};
}

Watch::Watch(const OpenContext& context)
    : builds_(builds_folder(context.store().root())),
      records_(context.state_folder().empty() ? std::string() : records_folder(context.state_folder())),
      seen_(now()) {}

Watch::State Watch::now() const { return {environment_digest(), builds_.now(), records_.now()}; }

bool ProcessEngines::OpenEngine::brought(const std::string& library) const {
  return std::ranges::any_of(
      folders, [&](const std::string& folder) { return is_below(path_of(library), path_of(folder)); });
}

ProcessEngines& ProcessEngines::here() {
  static ProcessEngines& one = *new ProcessEngines;
  [[maybe_unused]] static const bool kept = (hold_over_forks(one.libraries_), true);
  return one;
}

Result<OpenLock> ProcessEngines::take(const std::string& name, bool unless_held_here,
                                      const std::optional<CancelToken>& cancel) {
  constexpr std::chrono::milliseconds look{10};
  const auto me = std::this_thread::get_id();
  Threads& threads = threads_.here();
  std::unique_lock lock(threads.mutex);
  for (bool waited = false;; waited = true) {
    const auto held = std::ranges::find(threads.held, name, &Held::name);
    if (held == threads.held.end() || held->thread == me) {
      if (held == threads.held.end())
        threads.held.push_back({name, me, 1});
      else
        ++held->times;
      return OpenLock(name, generation_of_process(), waited);
    }
    if (unless_held_here && std::ranges::count(threads.held, me, &Held::thread) != 0) return OpenLock();
    // With a cancel token, poll: a sleeping waiter would not notice the cancellation.
    if (!cancel) {
      threads.changed.wait(lock);
      continue;
    }
    if (cancel->canceled()) return fail(diagnose("EH-P10"));
    threads.changed.wait_for(lock, look);
  }
}

void ProcessEngines::leave(const std::string& name, unsigned process) {
  // In a child that was forked from a callback, the lock belongs to the parent.
  if (process != generation_of_process()) return;
  Threads& threads = threads_.here();
  const std::lock_guard lock(threads.mutex);
  const auto held = std::ranges::find(threads.held, name, &Held::name);
  if (held == threads.held.end() || --held->times > 0) return;
  threads.held.erase(held);
  threads.changed.notify_all();
}

Result<OpenLock> ProcessEngines::open_lock(const std::string& key, const std::optional<CancelToken>& cancel) {
  return take("key " + key, true, cancel);
}

Result<OpenLock> ProcessEngines::load_lock(const std::optional<CancelToken>& cancel) {
  return take("loading", false, cancel);
}

void ProcessEngines::note_engine(const std::string& build, const std::string& identity,
                                 std::vector<std::string> folders) {
  const std::lock_guard lock(libraries_);
  if (const auto known = std::ranges::find(engines_, identity, &OpenEngine::identity);
      known != engines_.end()) {
    known->folders = std::move(folders);
    return;
  }
  engines_.push_back({build, identity, std::move(folders)});
  ++noted_;
}

std::uint64_t ProcessEngines::engines_noted() {
  const std::lock_guard lock(libraries_);
  return noted_;
}

bool ProcessEngines::engine_beside(std::string_view identity) {
  const std::lock_guard lock(libraries_);
  const auto is_another = [&](const OpenEngine& engine) { return engine.identity != identity; };
  if (std::ranges::none_of(engines_, is_another)) return false;
  const std::vector<load::Library> mapped = load::mapped_libraries();
  std::erase_if(engines_, [&](const OpenEngine& engine) {
    return std::ranges::none_of(mapped,
                                [&](const load::Library& library) { return engine.brought(library.path); });
  });
  return std::ranges::any_of(engines_, is_another);
}

std::string ProcessEngines::bringer(const std::string& library, std::string_view identity) {
  const std::lock_guard lock(libraries_);
  for (const OpenEngine& engine : engines_)
    if (engine.identity != identity && engine.brought(library)) return engine.build;
  return {};
}

std::optional<Diagnosis> ProcessEngines::served_by_another(const Diagnosis& warning,
                                                           const std::string& identity) {
  const std::string path(warning.value("path"));
  if (warning.value("needed_by").empty()) return std::nullopt;
  const std::string holder = bringer(path, identity);
  if (holder.empty() || load::same_content(path_of(path), path_of(warning.value("wanted"))))
    return std::nullopt;
  Diagnosis refused = warning;
  refused.with("held_by", holder, "engines open in this process");
  return refused;
}

std::optional<Diagnosis> ProcessEngines::second_openmp(const Diagnosis& warning,
                                                       const std::string& identity) {
  const std::vector<std::string> libraries = warning.values("library"), paths = warning.values("path");
  if (std::ranges::count_if(libraries, is_llvms_openmp) < 2 || duplicates_are_allowed()) return std::nullopt;
  for (std::size_t i = 0; i < std::min(libraries.size(), paths.size()); ++i) {
    const std::string holder = is_llvms_openmp(libraries[i]) ? bringer(paths[i], identity) : std::string();
    if (holder.empty()) continue;
    Diagnosis refused = warning;
    refused.with("held_by", holder, "engines open in this process");
    return refused;
  }
  return std::nullopt;
}

std::optional<Diagnosis> ProcessEngines::conflict_with_engines(const std::string& identity,
                                                               const std::vector<Diagnosis>& warnings) {
  for (const Diagnosis& warning : warnings) {
    std::optional<Diagnosis> refused;
    if (warning.code == "EH-L17") refused = served_by_another(warning, identity);
    if (warning.code == "EH-L35") refused = second_openmp(warning, identity);
    if (refused) return refused;
  }
  return std::nullopt;
}

void ProcessEngines::note_failed_load(const cache::Installed& installed, std::vector<load::Library> libraries,
                                      bool remembered) {
  std::erase_if(libraries, [](const load::Library& library) { return library.soname.empty(); });
  const std::lock_guard lock(libraries_);
  for (FailedLoad& known : failed_)
    known.remembered = known.remembered || (remembered && known.build == installed.build);
  if (libraries.empty()) return;
  failed_.push_back({installed.build, installed.digest, std::move(libraries), remembered});
}

void ProcessEngines::forget_failed_load(const cache::Installed& installed) {
  const std::lock_guard lock(libraries_);
  std::erase_if(failed_, [&](const FailedLoad& known) { return known.digest == installed.digest; });
}

bool ProcessEngines::any_failed_load() {
  const std::lock_guard lock(libraries_);
  return !failed_.empty();
}

std::optional<Diagnosis> ProcessEngines::conflict_with_failed_load(const cache::Installed& installed,
                                                                   const std::vector<load::Library>& needs) {
  const std::lock_guard lock(libraries_);
  for (const FailedLoad& left : failed_) {
    if (left.digest == installed.digest) continue;
    for (const load::Library& there : left.libraries)
      for (const load::Library& need : needs) {
        if (need.soname != there.soname || same_file(need.path, there.path)) continue;
        Diagnosis diagnosis = diagnose("EH-L17");
        diagnosis.with("library", need.soname)
            .with("path", there.path, "libraries of this process")
            .with("wanted", need.path, "files of the build")
            .with("left_by", left.build, "a build that failed to load in this process");
        // A build that is not quarantined is the first choice of a new process again.
        if (left.remembered) diagnosis.with("next_open", installed.build);
        return diagnosis;
      }
  }
  return std::nullopt;
}

std::pair<std::shared_ptr<SharedEngine>, bool> ProcessEngines::shared(const std::string& key,
                                                                      Clock::time_point began) {
  std::shared_ptr<SharedEngine> engine;  // may be the last reference; it is released after the mutex
  Threads& threads = threads_.here();
  const std::lock_guard lock(threads.mutex);
  const auto found = std::ranges::find(threads.shared, key, &Shared::key);
  if (found == threads.shared.end()) return {};
  engine = found->engine.lock();
  if (!engine) return {};
  const bool looked = found->put_at >= began || Clock::now() - found->looked_at < look_again_after;
  return {std::move(engine), !looked || !found->watch.is_unchanged()};
}

void ProcessEngines::share(const std::string& key, const std::shared_ptr<SharedEngine>& engine, Watch watch,
                           Clock::time_point looked_at) {
  Threads& threads = threads_.here();
  const std::lock_guard lock(threads.mutex);
  std::erase_if(threads.shared, [&](const Shared& one) { return one.key == key; });
  threads.shared.push_back({key, engine, std::move(watch), looked_at, Clock::now()});
}

void ProcessEngines::drop_closed() {
  Threads& threads = threads_.here();
  const std::lock_guard lock(threads.mutex);
  std::erase_if(threads.shared, [](const Shared& one) { return one.engine.expired(); });
}

std::string identity_of(const cache::Installed& installed) {
  return installed.digest.empty() ? path_text(installed.folder / path_of(installed.plugin))
                                  : installed.digest;
}

}  // namespace enginehost::open
