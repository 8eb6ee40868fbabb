#include "host/open/attempt.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include "base/paths.hpp"
#include "host/explain/explain.hpp"
#include "host/load/in_process/audit.hpp"
#include "host/load/in_process/loaded.hpp"
#include "host/load/probe.hpp"
#include "host/load/recheck.hpp"
#include "host/load/wire.hpp"
#include "host/open/install.hpp"
#include "host/open/left_over.hpp"
#include "host/open/neighbours.hpp"
#include "host/open/remember.hpp"
#include "host/open/ticket.hpp"
#include "host/open/trial.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

constexpr int most_repairs = 2, most_retries = 3;

// Adds the time until its end to the log.
class Stopwatch {
 public:
  Stopwatch(AttemptLog& log, std::string what) : log_(log), what_(std::move(what)) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin_;
    for (auto& [what, milliseconds] : log_.timings_ms)
      if (what == what_) {
        milliseconds += passed.count();
        return;
      }
    log_.timings_ms.emplace_back(std::move(what_), passed.count());
  }

 private:
  AttemptLog& log_;
  std::string what_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

Json strings_of(const std::vector<fs::path>& paths) {
  Json list = Json::array();
  for (const fs::path& path : paths) list.push(path_text(path));
  return list;
}

// One attempt with everything its stages share.
class Attempt {
 public:
  Attempt(World& world, const std::vector<std::string>& devices, const AttemptOptions& options,
          AttemptLog& log)
      : world_(world), devices_(devices), options_(options), log_(log) {}

  Result<std::shared_ptr<Opened>> build(const manifest::Build& build) {
    const std::string artifacts = build.artifacts_digest();
    warn_of_suspicion(build);
    hinted_deadline_ = std::chrono::seconds(build.probe_seconds);
    for (int repairs = 0, retries = 0, removals = 0;;) {
      auto opened = std::make_shared<Opened>();
      const std::size_t warnings = log_.warnings.size();
      TRY_ASSIGN(opened->installed, install(build));
      auto lease = world_.store().lease(opened->installed);
      // Someone removed it in this very moment: it is installed anew.
      if (!lease && lease.error().code == "EH-F01" && ++removals <= most_repairs) continue;
      if (!lease) return fail(std::move(lease).error());
      opened->lease = std::move(*lease);
      auto brought_up = bring_up(*opened, artifacts);
      if (brought_up) return opened;
      Diagnosis failure = std::move(brought_up).error();
      if (throw_damage_away(opened->installed, failure) && repairs < most_repairs) {
        ++repairs;
        continue;
      }
      if (explain::category(failure) == history::Category::transient && retries < most_retries &&
          failure.code != "EH-R05" && wait(retries)) {
        ++retries;
        log_.warnings.resize(warnings);  // the next try tells them again
        continue;
      }
      if (repairs > 0) failure.with("fetched_again", std::to_string(repairs));
      if (retries > 0) failure.with("tried_again", std::to_string(retries));
      const bool remembered = remember_failure(world_, basis(opened->installed, artifacts), failure);
      note_left_over(opened->installed.build, std::move(left_), remembered);
      return fail(std::move(failure));
    }
  }

  Result<std::shared_ptr<Opened>> ready(const Ticket& ticket) {
    auto opened = std::make_shared<Opened>();
    TRY_ASSIGN(cache::Store::Leased found, world_.store().find_leased(ticket.build, ticket.digest));
    opened->installed = std::move(found.installed);
    opened->lease = std::move(found.lease);
    // The ticket does not know the names that they would be asked for by; whoever decides anew does.
    if (anything_left_over() || engine_beside(ticket.digest))
      return fail(diagnose("EH-L17").with("build", ticket.build));
    load_order_.clear();
    for (const std::string& path : ticket.load_order) load_order_.push_back(path_of(path));
    own_ = opened_first();
    log_.proven_before = true;
    auto trial = std::make_shared<Trial>(Tried{world_.state_folder(), ticket.build, ticket.digest,
                                               ticket.artifacts, true, ticket.opened_before});
    if (auto up = load(*opened, *trial); !up) {
      note_left_over(ticket.build, std::move(left_), false);
      return fail(std::move(up).error());
    }
    trial->opening_ended(true);
    opened->engine->health()->tell_first_work(std::move(trial));
    note_open(*opened);
    return opened;
  }

  Result<std::shared_ptr<Opened>> file(const fs::path& plugin) {
    auto opened = std::make_shared<Opened>();
    opened->installed.folder = plugin.parent_path();
    opened->installed.plugin = path_text(plugin.filename());
    TRY(check_and_probe(*opened, !options_.probe));
    Trial trial({});
    TRY(load(*opened, trial));
    if (!log_.probed) note_unproven(opened->installed);
    note_open(*opened);
    return opened;
  }

 private:
  // A busy device or a full table of descriptors is often free again in a moment.
  bool wait(int retries) const {
    using namespace std::chrono_literals;
    constexpr std::chrono::milliseconds times[] = {100ms, 400ms, 1500ms};
    const auto until = std::chrono::steady_clock::now() + times[retries];
    while (std::chrono::steady_clock::now() < until) {
      if (world_.cancel() && world_.cancel()->cancelled()) return false;
      std::this_thread::sleep_for(20ms);
    }
    return true;
  }

  void warn_of_suspicion(const manifest::Build& build) {
    const history::Record* record = world_.history().find(build.id);
    if (record != nullptr && record->state == history::State::suspect)
      log_.warnings.push_back(explain::diagnosis_from_json(record->diagnosis));
  }

  Result<cache::Installed> install(const manifest::Build& build) {
    const Stopwatch watch(log_, "acquire");
    acquire::AcquireOptions acquiring;
    acquiring.transfer = world_.transfer_options();
    acquiring.download_limit = world_.settings().downloads.max_artifact_bytes;
    acquiring.unpacked_limit = world_.settings().downloads.max_unpacked_bytes;
    acquiring.consent = options_.consent;
    TRY_ASSIGN(acquire::Acquired acquired, install_noted(world_, build, acquiring, options_.progress));
    log_.downloaded += acquired.downloaded;
    log_.download_seconds += acquired.seconds;
    for (Diagnosis& warning : acquired.warnings) log_.warnings.push_back(std::move(warning));
    return std::move(acquired.installed);
  }

  // From an installed build to an engine in this process.
  Result<void> bring_up(Opened& opened, const std::string& artifacts) {
    const std::optional<Json> proof = proof_for(opened.installed);
    log_.proven_before = proof.has_value();
    if (proof) {
      load_order_.clear();
      for (const Json& path : (*proof)["load_order"].as_array())
        load_order_.push_back(path_of(path.as_string()));
      own_ = own_libraries(*proof);
      TRY(check_left_over(opened.installed));
      if (engine_beside(opened.installed.digest)) TRY(check_beside(opened.installed));
    } else {
      TRY(check_and_probe(opened, !options_.probe));
      own_ = own_libraries(probe_facts_);
    }
    auto trial = std::make_shared<Trial>(Tried{world_.state_folder(), opened.installed.build,
                                               opened.installed.digest, artifacts, proof.has_value()});
    TRY(load(opened, *trial));
    if (!proof && log_.probed) {
      probe_facts_.set("load_order", strings_of(load_order_));
      remember_success(world_, basis(opened.installed, artifacts), probe_facts_, crashed_once_);
    }
    if (!proof && !log_.probed) note_unproven(opened.installed);
    trial->opening_ended(proof || (log_.probed && !crashed_once_));
    opened.engine->health()->tell_first_work(std::move(trial));
    note_open(opened);
    return {};
  }

  // What the record of an earlier success says, if it still speaks of these very bytes on this machine.
  std::optional<Json> proof_for(const cache::Installed& installed) {
    const history::Record* record = world_.history().find(installed.build);
    if (record == nullptr || record->state != history::State::proven || record->digest != installed.digest)
      return std::nullopt;
    return record->facts;
  }

  // It ran in this process without having run in a child first.
  void note_unproven(const cache::Installed& installed) {
    world_.note("load_unproven", Json::object()
                                     .set("build", installed.build)
                                     .set("digest", installed.digest)
                                     .set("file", path_text(installed.folder / path_of(installed.plugin))));
  }

  // The build's own libraries: those that are opened first, and those that a probe saw beside them.
  std::vector<load::Library> own_libraries(const Json& facts) const {
    std::vector<load::Library> libraries = load::libraries_from_wire(facts["libraries"]);
    std::erase_if(libraries, [](const load::Library& library) { return library.origin != "cache"; });
    std::ranges::move(opened_first(), std::back_inserter(libraries));
    return libraries;
  }

  std::vector<load::Library> opened_first() const {
    std::vector<load::Library> libraries;
    for (const fs::path& path : load_order_) libraries.push_back({"", path_text(path), "cache"});
    return libraries;
  }

  Result<void> check_left_over(const cache::Installed& installed) const {
    if (auto conflict = conflict_with_left_over(installed.build, own_)) return fail(std::move(*conflict));
    return {};
  }

  static void note_open(const Opened& opened) {
    std::vector<fs::path> folders = own_folders(opened);
    if (!opened.installed.digest.empty()) folders.push_back(opened.installed.folder);
    note_engine(opened.installed.build, identity_of(opened.installed), std::move(folders));
  }

  // A plugin without manifest is told from others by its path.
  static std::string identity_of(const cache::Installed& installed) {
    return installed.digest.empty() ? path_text(installed.folder / path_of(installed.plugin))
                                    : installed.digest;
  }

  // A proven build was proven alone: beside other engines, its static check is made again.
  Result<void> check_beside(const cache::Installed& installed) {
    const Stopwatch watch(log_, "preflight");
    spec_ = spec_of(installed);
    preflight::Report report = preflight::check(spec_);
    if (auto conflict = conflict_with_engines(identity_of(installed), report.warnings))
      return fail(std::move(conflict->with("stage", "preflight", "nothing was executed")));
    for (Diagnosis& warning : report.warnings) log_.warnings.push_back(std::move(warning));
    return {};
  }

  preflight::Spec spec_of(const cache::Installed& installed) {
    preflight::Spec spec;
    spec.view = installed.folder;
    spec.plugin = installed.folder / path_of(installed.plugin);
    for (const std::string& folder : installed.search)
      spec.search.push_back(installed.folder / path_of(folder));
    spec.optional = installed.optional;
    spec.lazy = installed.lazy;
    spec.machine = world_.machine();
    spec.platform = &world_.platform();
    return spec;
  }

  Result<void> check_and_probe(Opened& opened, bool without_probe) {
    spec_ = spec_of(opened.installed);
    checked_whole_ = false;
    preflight::Report report;
    {
      const Stopwatch watch(log_, "preflight");
      report = preflight::check(spec_);
    }
    depends_on_ = report.depends_on;
    // What the plugin opens of an installation only when it is asked is not in the closure.
    if (!opened.installed.in_place.empty())
      depends_on_.insert(depends_on_.end(), spec_.search.begin(), spec_.search.end());
    // What the process holds in place of a library of the build.
    own_.clear();
    for (const Diagnosis& warning : report.warnings)
      if (warning.code == "EH-L17")
        own_.push_back(
            {std::string(warning.value("library")), std::string(warning.value("wanted")), "cache"});
    TRY(check_left_over(opened.installed));
    if (auto conflict = conflict_with_engines(identity_of(opened.installed), report.warnings))
      return fail(std::move(conflict->with("stage", "preflight", "nothing was executed")));
    for (Diagnosis& warning : report.warnings) log_.warnings.push_back(std::move(warning));
    if (report.verdict == preflight::Verdict::fails) {
      // The other causes ride along, so that nobody mends one and then meets the next.
      Diagnosis failure = report.diagnoses.front();
      for (std::size_t i = 1; i < report.diagnoses.size(); ++i)
        failure.with("also", explain::one_line(report.diagnoses[i]));
      return fail(std::move(failure.with("stage", "preflight", "nothing was executed")));
    }
    checked_whole_ = true;
    load_order_ = report.load_order;
    if (without_probe) return {};
    if (world_.settings().helper.empty()) {
      log_.warnings.push_back(diagnose("EH-P21").with("build", opened.installed.build));
      return {};
    }
    return run_probe(opened.installed);
  }

  Result<void> run_probe(const cache::Installed& installed) {
    const Stopwatch watch(log_, "probe");
    load::ProbeRequest request;
    request.helper = world_.settings().helper;
    request.launcher = world_.settings().probe_launcher;
    request.load = load_request(installed);
    request.options = installed.options;
    request.devices = devices_;
    set_deadline(request);
    request.cancel = world_.cancel();
    load::ProbeResult result = load::probe(request);
    for (Diagnosis& warning : result.warnings) log_.warnings.push_back(std::move(warning));
    probe_facts_ = result.to_json();
    log_.probed = result.passed;
    crashed_once_ = std::move(result.crashed_once);
    if (result.passed) return {};
    return fail(load::recheck(std::move(*result.diagnosis), spec_));
  }

  // Who asks knows best; else the longer of what the machine's owner and the build's publisher allow.
  void set_deadline(load::ProbeRequest& request) const {
    const settings::Settings& settings = world_.settings();
    const auto configured = std::chrono::seconds(settings.probe_deadline_seconds);
    if (options_.probe_deadline) {
      request.deadline = *options_.probe_deadline;
      request.deadline_source = "the request";
    } else if (hinted_deadline_ > configured) {
      request.deadline = hinted_deadline_;
      request.deadline_source = "probe_seconds of the manifest";
    } else {
      const settings::Setting* set = settings.find("probe_deadline_seconds");
      request.deadline = configured;
      request.deadline_source = "probe_deadline_seconds, " + (set != nullptr ? set->source : "default");
    }
  }

  load::LoadRequest load_request(const cache::Installed& installed) const {
    load::LoadRequest request;
    request.view = installed.folder;
    request.root = path_of(installed.root);
    request.plugin = installed.folder / path_of(installed.plugin);
    request.preload = load_order_;
    return request;
  }

  Result<void> load(Opened& opened, Trial& trial) {
    const Stopwatch watch(log_, "load");
    const load::MappedPaths before = load::MappedPaths::now();
    auto up = load_between(opened, trial, before);
    // Of every try: what an earlier one brought was there before the last.
    if (!up) std::ranges::move(load::mapped_since(before), std::back_inserter(left_));
    return up;
  }

  // `before`: what the process held.
  Result<void> load_between(Opened& opened, Trial& trial, const load::MappedPaths& before) {
    trial.enter("dlopen");
    load::LoadRequest request = load_request(opened.installed);
    request.before = &before;
    request.on_stage = [&](std::string_view stage) {
      if (stage == "entry") trial.enter("entry");
    };
    auto loaded = load::load_plugin(request);
    if (!loaded) return fail(explained(std::move(loaded).error(), opened.installed));
    opened.plugin = std::move(*loaded);
    trial.enter("create");
    opened.engine_options.options = opened.installed.options;
    opened.engine_options.log = options_.log;
    load::EngineOptions engine_options = opened.engine_options;
    engine_options.call.cancel = world_.cancel();
    TRY_ASSIGN(opened.engine, load::Engine::create(opened.plugin, std::move(engine_options)));
    TRY_ASSIGN(opened.devices, opened.engine->devices());
    opened.libraries = opened.plugin->libraries();
    std::vector<load::Library> later = opened.plugin->libraries_since();
    std::move(later.begin(), later.end(), std::back_inserter(opened.libraries));
    for (const Diagnosis& warning : opened.plugin->warnings()) log_.warnings.push_back(warning);
    warn_of_hijacks(opened, before);
    return require_devices(opened.devices);
  }

  void warn_of_hijacks(const Opened& opened, const load::MappedPaths& before) {
    // Most builds bring all that came, and nothing can be in its place.
    if (own_.empty() && std::ranges::all_of(opened.libraries, [](const load::Library& library) {
          return library.origin == "cache";
        }))
      return;
    for (Diagnosis& hijack :
         load::hijacked(own_, own_folders(opened), opened.libraries, load::mapped_then(before)))
      warn_once(std::move(hijack));
  }

  static std::vector<fs::path> own_folders(const Opened& opened) {
    std::vector<fs::path> folders = {opened.plugin->file().parent_path()};
    for (const std::string& folder : opened.installed.search)
      folders.push_back(opened.installed.folder / path_of(folder));
    return folders;
  }

  // The static check and the loader may have told of the same library already.
  void warn_once(Diagnosis warning) {
    const bool told = std::any_of(log_.warnings.begin(), log_.warnings.end(), [&](const Diagnosis& known) {
      return (known.code == "EH-L11" || known.code == "EH-L17") &&
             known.value("library") == warning.value("library") &&
             known.value("path") == warning.value("path");
    });
    if (!told) log_.warnings.push_back(std::move(warning));
  }

  // The static check has been skipped for a proven build; it is made up for when loading fails all the same.
  Diagnosis explained(Diagnosis failure, const cache::Installed& installed) {
    if (spec_.plugin.empty()) spec_ = spec_of(installed);
    return load::recheck(std::move(failure), spec_);
  }

  Result<void> require_devices(const std::vector<load::Device>& offered) const {
    for (const std::string& wanted : devices_) {
      const bool there = std::any_of(offered.begin(), offered.end(), [&](const load::Device& device) {
        return device.text() == wanted || device.kind == wanted;
      });
      if (there) continue;
      Diagnosis failure = diagnose("EH-S09").with("device", wanted, "request");
      for (const load::Device& device : offered) failure.with("offered", device.text(), "the engine");
      return fail(std::move(failure));
    }
    return {};
  }

  // True when the files were not what they should be, and have been moved out of the way to be fetched again.
  bool throw_damage_away(const cache::Installed& installed, Diagnosis& failure) {
    const history::Category category = explain::category(failure);
    // The files fitted together, and the loader says that they do not: a name in one of them may be another
    // one now.
    const bool unbound =
        checked_whole_ && category == history::Category::host && failure.code.starts_with("EH-L");
    const bool suspicious =
        category == history::Category::content || category == history::Category::crash || unbound;
    if (!suspicious || installed.read_only) return false;
    const auto problems = world_.store().verify(installed.build, true, world_.cancel());
    if (!problems || problems->empty()) return false;
    Diagnosis damage = problems->front().diagnosis;
    // The static check of this very attempt saw whole files: one that is cut now was written into while it
    // was in use.
    if (checked_whole_ && (damage.code == "EH-F02" || damage.code == "EH-F04")) damage.code = "EH-F14";
    damage.with("noticed_as", explain::one_line(failure));
    log_.warnings.push_back(damage);
    failure = damage;
    auto stage = world_.store().stage("build-" + installed.build);
    return stage && world_.store().reject_damaged(installed.build, *stage).has_value();
  }

  Basis basis(const cache::Installed& installed, const std::string& artifacts) const {
    return {&installed, artifacts, &spec_, depends_on_, log_.probed || log_.proven_before};
  }

  World& world_;
  const std::vector<std::string>& devices_;
  const AttemptOptions& options_;
  AttemptLog& log_;
  preflight::Spec spec_;
  std::vector<fs::path> load_order_, depends_on_;
  std::chrono::seconds hinted_deadline_{0};  // by the manifest
  bool checked_whole_ = false;               // the static check passed in this bring-up
  std::vector<load::Library> own_;           // the build's libraries, as far as they are known
  std::vector<load::Library> left_;          // in the process, by a load that failed
  Json probe_facts_ = Json::object();
  std::optional<Diagnosis> crashed_once_;  // in the probe, whose second try passed
};

}  // namespace

Result<std::shared_ptr<Opened>> attempt(World& world, const manifest::Build& build,
                                        const std::vector<std::string>& devices,
                                        const AttemptOptions& options, AttemptLog& log) {
  auto opened = Attempt(world, devices, options, log).build(build);
  if (!opened) opened.error().within("while opening " + build.id);
  return opened;
}

Result<std::shared_ptr<Opened>> attempt_ready(World& world, const Ticket& ticket,
                                              const std::vector<std::string>& devices,
                                              const AttemptOptions& options, AttemptLog& log) {
  return Attempt(world, devices, options, log).ready(ticket);
}

Result<std::shared_ptr<Opened>> attempt_file(World& world, const std::filesystem::path& plugin,
                                             const std::vector<std::string>& devices,
                                             const AttemptOptions& options, AttemptLog& log) {
  auto opened = Attempt(world, devices, options, log).file(plugin);
  if (!opened) opened.error().within("while opening the plugin " + path_text(plugin));
  return opened;
}

}  // namespace enginehost::open
