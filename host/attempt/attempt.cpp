#include "host/attempt/attempt.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/paths.hpp"
#include "host/attempt/crash_guard.hpp"
#include "host/attempt/install.hpp"
#include "host/attempt/load_check.hpp"
#include "host/attempt/process_engines.hpp"
#include "host/context/open_context.hpp"
#include "host/decision_cache/decision_cache.hpp"
#include "host/explain/explain.hpp"
#include "host/history/sentinel.hpp"
#include "host/load/in_process/loaded.hpp"
#include "host/load/in_process/reported_text.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

constexpr int most_repairs = 2, most_retries = 3;

// One attempt with everything that its stages share.
class Attempt {
 public:
  explicit Attempt(const AttemptParts& parts) : parts_(parts) {}

  Result<std::shared_ptr<Opened>> build(const manifest::Build& build) {
    warn_of_suspicion(build);
    hinted_deadline_ = std::chrono::seconds(build.probe_seconds);
    load_check_.is_for(accelerator_of(build));
    for (int repairs = 0, retries = 0, removals = 0;;) {
      auto opened = std::make_shared<Opened>();
      const std::size_t warnings = log_.warnings.size();
      TRY_ASSIGN(opened->installed, install(build));
      auto lease = context_.store().lease(opened->installed);
      // Another process removed it in between: install it again.
      if (!lease && lease.error().code == Code::file_not_readable && ++removals <= most_repairs) continue;
      if (!lease) return fail(std::move(lease).error());
      opened->lease = std::move(*lease);
      if (record_crashes(opened->lease)) {
        const history::Record* record = context_.history().find(build.id);
        if (record != nullptr && record->state == history::State::quarantined)
          return fail(explain::diagnosis_from_json(record->diagnosis));
        warn_of_suspicion(build);
      }
      auto brought_up = bring_up(*opened, build);
      OpenLock lock = std::move(load_lock_);
      if (brought_up) {
        forget_failed_load(opened->installed);
        return opened;
      }
      Diagnosis failure = std::move(brought_up).error();
      lock.end();  // the steps below may take long
      // The record says otherwise: a probe finds out why.
      if (lists_other_devices_ && log_.proven_before && options_.on_processor == nullptr) {
        distrusts_record_ = true;
        log_.warnings.resize(warnings);
        continue;
      }
      if (move_damage_aside(opened->installed, failure) && repairs < most_repairs) {
        ++repairs;
        continue;
      }
      // The memory of a GPU is another process's, and each probe of it takes seconds.
      if (explain::category(failure) == history::Category::transient && retries < most_retries &&
          !load_check_.failed_by_device() && failure.code != Code::engine_does_not_start_in_time &&
          !explain::exceeds_memory_limit(failure) && wait(retries)) {
        ++retries;
        log_.warnings.resize(warnings);  // the next try reports them again
        continue;
      }
      if (failure.value(Key::engine).empty()) failure.with(Key::engine, build.engine, "manifest");
      if (repairs > 0) failure.with(Key::fetched_again, std::to_string(repairs));
      if (retries > 0) failure.with(Key::tried_again, std::to_string(retries));
      // Another cache folder is no remedy then, because layers are searched first.
      if (opened->installed.read_only && explain::category(failure) == history::Category::policy)
        failure.with(Key::read_only_layer, path_text(opened->installed.layer));
      // A device that fails in a clean process does not fail because of this one.
      auto of_process = load_check_.failed_by_device()
                            ? std::nullopt
                            : load_check_.as_of_this_process(failure, opened->installed);
      if (of_process)
        failure = std::move(*of_process);
      else if (remember(opened->installed, build, failure))
        note_remembered_failure(opened->installed.build);
      return fail(std::move(failure));
    }
  }

  Result<std::shared_ptr<Opened>> cached(CachedDecision& decision) {
    auto opened = std::make_shared<Opened>();
    if (!decision.installed.digest.empty()) {
      opened->installed = std::move(decision.installed);
      TRY_ASSIGN(opened->lease, context_.store().lease_as_recorded(opened->installed));
    } else {
      TRY_ASSIGN(auto found, context_.store().find(decision.build));
      if (!found || found->digest != decision.digest)
        return fail(diagnose(Code::file_not_readable).with(Key::build, decision.build));
      opened->installed = std::move(*found);
      TRY_ASSIGN(opened->lease, context_.store().lease(opened->installed));
    }
    TRY_ASSIGN(const OpenLock lock, load_lock(context_.cancel()));
    // The cached decision does not hold the build's library names. The full path has them.
    if (any_failed_load() || engine_beside(decision.digest))
      return fail(diagnose(Code::other_file_already_loaded).with(Key::build, decision.build));
    // So does a library of the build that another one serves: settings decide whether it may.
    if (const auto served = substitutes_for(opened->installed, {}); !served || served->used)
      return fail(diagnose(Code::other_file_already_loaded).with(Key::build, decision.build));
    // The markers stay in the lease for the full path.
    if (!context_.state_folder().empty() && !crashes_of(opened->lease.stale_markers()).empty())
      return fail(diagnose(Code::build_crashed).with(Key::build, decision.build));
    load_check_.by_cached_decision(decision);
    log_.proven_before = true;
    auto crash_guard = std::make_shared<CrashGuard>(GuardedBuild{context_.state_folder(), decision.build,
                                                                 decision.digest, decision.artifacts, true,
                                                                 decision.opened_before, &opened->lease});
    TRY(load(*opened, *crash_guard));
    crash_guard->opening_ended(true);
    opened->engine->health()->observe_work(std::move(crash_guard));
    note_open(*opened);
    return opened;
  }

  Result<std::shared_ptr<Opened>> file(const fs::path& plugin) {
    auto opened = std::make_shared<Opened>();
    opened->installed.folder = plugin.parent_path();
    opened->installed.plugin = path_text(plugin.filename());
    // Without a manifest, nobody says that the files beside the plugin belong to it.
    opened->installed.optional = {"*"};
    TRY_ASSIGN(const OpenLock lock, try_out(opened->installed));
    CrashGuard crash_guard({});
    TRY(load(*opened, crash_guard));
    if (!log_.probed) note_unproven(opened->installed);
    note_open(*opened);
    return opened;
  }

 private:
  // Returns true if a record is kept that excludes the build.
  bool remember(const cache::Installed& installed, const manifest::Build& build, const Diagnosis& failure) {
    const Basis basis = load_check_.basis(installed, build);
    if (!load_check_.failed_by_device()) return remember_failure(context_, basis, failure);
    const BuildDevices& devices = load_check_.devices();
    if (load_check_.serves_its_purpose()) {
      // Other requests may use the other devices.
      if (!log_.proven_before && !devices.is_of_the_moment())
        remember_success(context_, basis, load_check_.facts(), load_check_.crashed_once());
      return false;
    }
    if (devices.works_on_processor())
      log_.on_processor = proof_on_processor(context_, basis, load_check_.facts());
    return !devices.is_of_the_moment() &&
           remember_device_failure(context_, basis, failure, log_.on_processor);
  }

  // A busy device or a full table of descriptors is often free again in a moment.
  bool wait(int retries) const {
    using namespace std::chrono_literals;
    constexpr std::chrono::milliseconds times[] = {100ms, 400ms, 1500ms};
    const auto until = std::chrono::steady_clock::now() + times[retries];
    while (std::chrono::steady_clock::now() < until) {
      if (context_.cancel() && context_.cancel()->canceled()) return false;
      std::this_thread::sleep_for(20ms);
    }
    return true;
  }

  static std::vector<history::Crash> crashes_of(const std::vector<std::string>& markers) {
    std::vector<history::Crash> crashes;
    for (const std::string& marker : markers)
      if (auto crash = history::crash_of(marker)) crashes.push_back(std::move(*crash));
    return crashes;
  }

  // Returns true if a process died while it loaded this build, which was proven and had survived before. The
  // proof no longer holds.
  bool record_crashes(cache::Lease& lease) {
    if (context_.state_folder().empty()) return false;
    const auto crashes = crashes_of(lease.take_stale_markers());
    for (const history::Crash& crash : crashes) note_crash(context_, crash);
    return !crashes.empty();
  }

  void warn_of_suspicion(const manifest::Build& build) {
    const history::Record* record = context_.history().find(build.id);
    if (record != nullptr && record->state == history::State::suspect)
      log_.warnings.push_back(explain::diagnosis_from_json(record->diagnosis));
  }

  Result<cache::Installed> install(const manifest::Build& build) {
    Stopwatch watch(log_, "acquire");
    acquire::AcquireOptions acquiring;
    acquiring.transfer = context_.transfer_options();
    acquiring.download_limit = context_.settings().downloads.max_artifact_bytes;
    acquiring.unpacked_limit = context_.settings().downloads.max_unpacked_bytes;
    acquiring.hash_bytes = settings::bytes_to_hash(context_.settings());
    if (options_.consent)
      acquiring.consent = [&](const acquire::Question& question) {
        const auto asked = std::chrono::steady_clock::now();
        auto answered = options_.consent(question);
        watch.leave_out(std::chrono::steady_clock::now() - asked);
        return answered;
      };
    TRY_ASSIGN(acquire::Acquired acquired, install_noted(context_, build, acquiring, options_.progress));
    log_.downloaded += acquired.downloaded;
    log_.download_seconds += acquired.seconds;
    for (Diagnosis& warning : acquired.warnings) log_.warnings.push_back(std::move(warning));
    return std::move(acquired.installed);
  }

  Result<void> beside_what_is_loaded(const cache::Installed& installed) {
    TRY(load_check_.beside_failed_load_libraries(installed));
    TRY(load_check_.beside_loaded_libraries(installed));
    if (engine_beside(identity_of(installed))) TRY(load_check_.beside_others(installed));
    return {};
  }

  // Probes run without the load lock. Libraries that were loaded meanwhile are checked afterwards.
  Result<OpenLock> try_out(const cache::Installed& installed) {
    TRY(load_check_.check_and_probe(installed, !options_.probe, hinted_deadline_));
    TRY(load_check_.check_devices());
    TRY_ASSIGN(OpenLock lock, load_lock(context_.cancel()));
    TRY(beside_what_is_loaded(installed));
    return lock;
  }

  // Loads the build and creates its engine. Fills in all of `opened` except the lease and the record; reads
  // the record.
  Result<void> load(Opened& opened, CrashGuard& crash_guard) {
    const Stopwatch watch(log_, "load");
    const std::vector<load::Library> before = load::mapped_libraries();
    if (auto conflict = conflict_with_stand_ins(opened.installed, before, load_check_.substitutes()))
      return fail(std::move(*conflict));
    auto up = load_watched(opened, crash_guard);
    // Libraries of every try are noted, because those of an earlier try were there before the last. Other
    // threads that load next must know them.
    if (!up && !opened.installed.digest.empty())
      note_failed_load(opened.installed, load::mapped_since(before));
    return up;
  }

  Result<void> load_watched(Opened& opened, CrashGuard& crash_guard) {
    crash_guard.enter("dlopen");
    load::LoadRequest request = load_check_.load_request(opened.installed);
    request.on_stage = [&](std::string_view stage) {
      if (stage == "entry") crash_guard.enter("entry");
    };
    auto loaded = load::load_plugin(request);
    if (!loaded) return fail(load_check_.explained(std::move(loaded).error(), opened.installed));
    opened.plugin = std::move(*loaded);
    crash_guard.enter("create");
    opened.engine_options.options = opened.installed.options;
    opened.log = options_.log;
    if (opened.log) {
      opened.engine_options.log_level = log_level(options_, context_.settings());
      opened.engine_options.log = [log = opened.log](std::int32_t level, std::string_view topic,
                                                     std::string_view message) {
        log->report({level, topic, message, false});
      };
    }
    load::EngineOptions engine_options = opened.engine_options;
    engine_options.call.cancel = context_.cancel();
    auto engine = load::Engine::create(opened.plugin, std::move(engine_options));
    if (!engine) return fail(load_check_.explained(std::move(engine).error(), opened.installed));
    opened.engine = std::move(*engine);
    TRY_ASSIGN(opened.devices, opened.engine->devices());
    auto same = check_same_list(load_check_.devices(), opened.devices, log_.probed);
    lists_other_devices_ = !same;
    TRY(std::move(same));
    load_check_.devices().keep_usable(opened.devices);
    opened.unusable = load_check_.devices().unusable;
    opened.on_processor = options_.on_processor != nullptr;
    opened.libraries = opened.plugin->libraries();
    for (const Diagnosis& warning : opened.plugin->warnings()) log_.warn(warning);
    for (const Diagnosis& warning : opened.engine->warnings()) log_.warn(warning);
    if (const auto& used = load_check_.substitutes().used) log_.warn(*used);
    warn_of_hijacks(opened);
    for (const std::string& wanted : parts_.devices) TRY(load::find_device(opened.devices, wanted));
    return {};
  }

  void warn_of_hijacks(const Opened& opened) {
    const std::vector<load::Library>& own = load_check_.own_libraries();
    // Most builds bring every library that was loaded. Nothing can replace them.
    if (own.empty() && std::ranges::all_of(opened.libraries, [](const load::Library& library) {
          return library.origin == "cache";
        }))
      return;
    std::vector<fs::path> folders;
    for (const std::string& folder : own_folders(opened)) folders.push_back(path_of(folder));
    for (Diagnosis& hijack : load::hijacked(own, folders, opened.libraries, opened.plugin->before())) {
      if (load_check_.substitutes().leave_out(path_of(hijack.value(Key::wanted)))) continue;
      // The static check or the loader may have reported the library already.
      const bool reported = std::ranges::any_of(log_.warnings, [&](const Diagnosis& known) {
        return (known.code == Code::library_from_other_folder ||
                known.code == Code::other_file_already_loaded) &&
               known.value(Key::library) == hijack.value(Key::library) &&
               known.value(Key::path) == hijack.value(Key::path);
      });
      if (!reported) log_.warnings.push_back(std::move(hijack));
    }
  }

  // Returns the plugin's folder, and the folders of the build that are searched for libraries.
  static std::vector<std::string> own_folders(const Opened& opened) {
    std::vector<std::string> folders = {path_text(opened.plugin->file().parent_path())};
    for (const std::string& folder : opened.installed.search)
      folders.push_back(text_below(opened.installed.folder, {folder}));
    return folders;
  }

  // Loads an installed build. Leaves the load lock in load_lock_ for the caller, who records the result.
  Result<void> bring_up(Opened& opened, const manifest::Build& build) {
    const bool proven = !distrusts_record_ && load_check_.by_record(opened.installed, build);
    log_.proven_before = proven;
    if (proven) {
      TRY(load_check_.check_devices());
      TRY_ASSIGN(load_lock_, load_lock(context_.cancel()));
      TRY(beside_what_is_loaded(opened.installed));
    } else {
      TRY_ASSIGN(load_lock_, try_out(opened.installed));
    }
    auto crash_guard = std::make_shared<CrashGuard>(GuardedBuild{
        context_.state_folder(), opened.installed.build, opened.installed.digest, build.artifacts_digest(),
        proven, false, &opened.lease,
        std::string(load_check_.substitutes().used ? load_check_.substitutes().used->value(Key::path)
                                                   : std::string_view())});
    TRY(load(opened, *crash_guard));
    if (!proven) warn_of_another_engine(opened, build.engine);
    const bool crashed_once = load_check_.crashed_once().has_value();
    if (!proven && log_.probed && !load_check_.devices().is_of_the_moment())
      remember_success(context_, load_check_.basis(opened.installed, build), load_check_.facts(),
                       load_check_.crashed_once());
    if (!proven && !log_.probed) note_unproven(opened.installed);
    crash_guard->opening_ended(proven || (log_.probed && !crashed_once));
    opened.engine->health()->observe_work(std::move(crash_guard));
    note_open(opened);
    return {};
  }

  // Most likely a file of another build under this build's name.
  void warn_of_another_engine(const Opened& opened, const std::string& engine) {
    const char* const reported = opened.plugin->plugin().engine;
    if (reported == nullptr || reported == engine) return;
    load_check_.note(
        std::move(diagnose(Code::plugin_does_not_match)
                      .with(Key::file, path_text(opened.plugin->file()))
                      .with(Key::plugin_engine, load::reported_text(reported), "the plugin's descriptor")
                      .with(Key::engine, engine, "the manifest")));
  }

  // The build ran in this process without a probe in a child.
  void note_unproven(const cache::Installed& installed) {
    context_.note("load_unproven", Json::object()
                                       .set("build", installed.build)
                                       .set("digest", installed.digest)
                                       .set("file", path_text(installed.folder / path_of(installed.plugin))));
  }

  void note_open(const Opened& opened) {
    std::vector<std::string> folders = own_folders(opened);
    if (!opened.installed.digest.empty()) folders.push_back(path_text(opened.installed.folder));
    note_engine(opened.installed, std::move(folders));
  }

  // Explains that the file with wrong content is as published, or is no file of the build. Fetching it again
  // would not help.
  static void report_whole(const cache::Installed& installed, Diagnosis& failure) {
    const fs::path file = path_of(failure.value(Key::file));
    if (file.is_absolute() && !is_below(file, installed.folder))
      failure.with(Key::outside, "yes", "no file of the build");
    else
      failure.with(Key::as_published, "yes",
                   "every file of the build has the digest that the manifest gives it");
  }

  // Returns true if files were damaged and have been moved aside, to be fetched again.
  bool move_damage_aside(const cache::Installed& installed, Diagnosis& failure) {
    const history::Category category = explain::category(failure);
    // The static check passed, but the loader rejects the files: a name in one of them may have changed.
    const bool unbound = load_check_.checked_whole() && category == history::Category::host &&
                         area_of(failure.code) == Area::linking;
    const bool suspicious =
        category == history::Category::content || category == history::Category::crash || unbound;
    const bool content = category == history::Category::content;
    if (!suspicious || (installed.read_only && !content)) return false;
    auto problems = context_.store().verify(installed.build, true, context_.cancel());
    // A copy of a cache has other permissions and the right bytes. These explain no failure.
    if (problems)
      std::erase_if(*problems, [](const cache::Problem& problem) {
        return problem.kind == cache::Problem::Kind::wrong_mode;
      });
    if (problems && problems->empty() && content) report_whole(installed, failure);
    if (!problems || problems->empty() || installed.read_only) return false;
    Diagnosis damage = problems->front().diagnosis;
    // The static check of this attempt saw whole files. A file that is cut now was written to while it was in
    // use.
    if (load_check_.checked_whole() &&
        (damage.code == Code::file_empty || damage.code == Code::file_truncated))
      damage.code = Code::file_changed_in_use;
    damage.with(Key::noticed_as, explain::one_line(failure));
    log_.warnings.push_back(damage);
    failure = damage;
    cache::WaitOptions wait;
    wait.cancel = context_.cancel();
    auto stage = context_.store().stage("build-" + installed.build, wait);
    return stage && context_.store().reject_damaged(installed.build, *stage).has_value();
  }

  const AttemptParts parts_;
  OpenContext& context_ = parts_.context;
  const AttemptOptions& options_ = parts_.options;
  AttemptLog& log_ = parts_.log;
  LoadCheck load_check_{parts_};
  OpenLock load_lock_;                       // for loading
  std::chrono::seconds hinted_deadline_{0};  // from the manifest
  // The engine of this process lists other accelerators than the record or the probe.
  bool lists_other_devices_ = false;
  bool distrusts_record_ = false;
};

}  // namespace

void AttemptLog::warn(Diagnosis warning) {
  const bool reported = std::ranges::any_of(warnings, [&](const Diagnosis& known) {
    return known.code == warning.code && explain::one_line(known) == explain::one_line(warning);
  });
  if (!reported) warnings.push_back(std::move(warning));
}

Result<std::shared_ptr<Opened>> attempt(OpenContext& context, const manifest::Build& build,
                                        const std::vector<std::string>& devices,
                                        const AttemptOptions& options, AttemptLog& log) {
  auto opened = Attempt({context, devices, options, log}).build(build);
  if (!opened) opened.error().within("while opening " + build.id);
  return opened;
}

Result<std::shared_ptr<Opened>> attempt_cached(OpenContext& context, CachedDecision& decision,
                                               const std::vector<std::string>& devices,
                                               const AttemptOptions& options, AttemptLog& log) {
  return Attempt({context, devices, options, log}).cached(decision);
}

Result<std::shared_ptr<Opened>> attempt_file(OpenContext& context, const std::filesystem::path& plugin,
                                             const std::vector<std::string>& devices,
                                             const AttemptOptions& options, AttemptLog& log) {
  auto opened = Attempt({context, devices, options, log}).file(plugin);
  if (!opened) opened.error().within("while opening the plugin " + path_text(plugin));
  return opened;
}

}  // namespace enginehost::open
