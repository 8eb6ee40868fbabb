#include "host/open/attempt.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "host/explain/explain.hpp"
#include "host/history/sentinel.hpp"
#include "host/load/in_process/loaded.hpp"
#include "host/load/probe.hpp"
#include "host/load/recheck.hpp"
#include "host/open/ticket.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

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
  for (const fs::path& path : paths) list.push(path.native());
  return list;
}

// One attempt with everything its stages share.
class Attempt {
 public:
  Attempt(World& world, const std::vector<std::string>& devices, const AttemptOptions& options, AttemptLog& log)
      : world_(world), devices_(devices), options_(options), log_(log) {}

  Result<std::shared_ptr<Opened>> build(const manifest::Build& build) {
    const std::string artifacts = build.artifacts_digest();
    auto opened = std::make_shared<Opened>();
    for (int repairs = 0;; ++repairs) {
      TRY_ASSIGN(opened->installed, install(build));
      TRY_ASSIGN(opened->lease, world_.store().lease(opened->installed));
      auto brought_up = bring_up(*opened, artifacts);
      if (brought_up) return opened;
      Diagnosis failure = std::move(brought_up).error();
      if (throw_damage_away(opened->installed, failure) && repairs == 0) continue;
      remember_failure(opened->installed, artifacts, failure);
      return fail(std::move(failure));
    }
  }

  Result<std::shared_ptr<Opened>> ready(const Ticket& ticket) {
    auto opened = std::make_shared<Opened>();
    TRY_ASSIGN(auto found, world_.store().find(ticket.build));
    if (!found || found->digest != ticket.digest) return fail(diagnose("EH-F01").with("build", ticket.build));
    opened->installed = std::move(*found);
    TRY_ASSIGN(opened->lease, world_.store().lease(opened->installed));
    load_order_.assign(ticket.load_order.begin(), ticket.load_order.end());
    log_.proven_before = true;
    TRY(load(*opened));
    return opened;
  }

  Result<std::shared_ptr<Opened>> file(const fs::path& plugin) {
    auto opened = std::make_shared<Opened>();
    opened->installed.folder = plugin.parent_path();
    opened->installed.plugin = plugin.filename();
    TRY(check_and_probe(*opened, !options_.probe));
    TRY(load(*opened));
    return opened;
  }

 private:
  Result<cache::Installed> install(const manifest::Build& build) {
    const Stopwatch watch(log_, "acquire");
    acquire::AcquireOptions acquiring;
    acquiring.transfer = world_.transfer_options();
    acquiring.download_limit = world_.settings().downloads.max_artifact_bytes;
    acquiring.unpacked_limit = world_.settings().downloads.max_unpacked_bytes;
    acquiring.consent = options_.consent;
    TRY_ASSIGN(acquire::Acquired acquired,
               acquire::acquire(build, world_.store(), acquiring, options_.progress, world_.cancel()));
    log_.downloaded += acquired.downloaded;
    log_.download_seconds += acquired.seconds;
    for (Diagnosis& warning : acquired.warnings) log_.warnings.push_back(std::move(warning));
    return std::move(acquired.installed);
  }

  // From an installed build to an engine in this process.
  Result<void> bring_up(Opened& opened, const std::string& artifacts) {
    const auto proof = proof_for(opened.installed);
    log_.proven_before = proof.has_value();
    if (proof) {
      for (const Json& path : (*proof)["load_order"].as_array()) load_order_.emplace_back(path.as_string());
    } else {
      TRY(check_and_probe(opened, !options_.probe));
    }
    TRY(load(opened));
    if (!proof && log_.probed) remember_proof(opened.installed, artifacts);
    return {};
  }

  // What the record of an earlier success says, if it still speaks of these very bytes on this machine.
  std::optional<Json> proof_for(const cache::Installed& installed) {
    const history::Record* record = world_.history().find(installed.build);
    if (record == nullptr || record->state != history::State::proven || record->digest != installed.digest)
      return std::nullopt;
    return record->facts;
  }

  preflight::Spec spec_of(const cache::Installed& installed) {
    preflight::Spec spec;
    spec.view = installed.folder;
    spec.plugin = installed.folder / installed.plugin;
    for (const std::string& folder : installed.search) spec.search.push_back(installed.folder / folder);
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
    request.deadline = std::chrono::seconds(world_.settings().probe_deadline_seconds);
    request.cancel = world_.cancel();
    load::ProbeResult result = load::probe(request);
    for (Diagnosis& warning : result.warnings) log_.warnings.push_back(std::move(warning));
    probe_facts_ = result.to_json();
    log_.probed = result.passed;
    if (result.passed) return {};
    return fail(load::recheck(std::move(*result.diagnosis), spec_));
  }

  load::LoadRequest load_request(const cache::Installed& installed) const {
    load::LoadRequest request;
    request.view = installed.folder;
    request.plugin = installed.folder / installed.plugin;
    request.preload = load_order_;
    return request;
  }

  Result<void> load(Opened& opened) {
    const Stopwatch watch(log_, "load");
    // Where the state folder cannot be written there is no sentinel, and a crash in here is not remembered.
    std::optional<history::Sentinel> sentinel;
    if (!log_.proven_before && !world_.settings().state_folder.empty() && !opened.installed.digest.empty())
      if (auto raised = history::Sentinel::raise(world_.settings().state_folder, opened.installed.build,
                                                 opened.installed.digest, "dlopen"))
        sentinel = std::move(*raised);
    auto loaded = load::load_plugin(load_request(opened.installed));
    if (!loaded) return fail(explained(std::move(loaded).error(), opened.installed));
    opened.plugin = std::move(*loaded);
    if (sentinel) static_cast<void>(sentinel->enter("create"));
    load::EngineOptions engine_options;
    engine_options.options = opened.installed.options;
    engine_options.log = options_.log;
    engine_options.call.cancel = world_.cancel();
    TRY_ASSIGN(opened.engine, load::Engine::create(opened.plugin, std::move(engine_options)));
    TRY_ASSIGN(opened.devices, opened.engine->devices());
    opened.libraries = opened.plugin->libraries();
    std::vector<load::Library> later = opened.plugin->libraries_since();
    std::move(later.begin(), later.end(), std::back_inserter(opened.libraries));
    for (const Diagnosis& warning : opened.plugin->warnings()) log_.warnings.push_back(warning);
    std::vector<fs::path> own_folders = {opened.plugin->file().parent_path()};
    for (const std::string& folder : opened.installed.search) own_folders.push_back(opened.installed.folder / folder);
    for (Diagnosis& hijack : load::hijacked(opened.libraries, own_folders)) log_.warnings.push_back(std::move(hijack));
    return require_devices(opened.devices);
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
    // The files fitted together, and the loader says that they do not: a name in one of them may be another one now.
    const bool unbound =
        checked_whole_ && category == history::Category::host && failure.code.starts_with("EH-L");
    const bool suspicious =
        category == history::Category::content || category == history::Category::crash || unbound;
    if (!suspicious || installed.read_only) return false;
    const auto problems = world_.store().verify(installed.build, true, world_.cancel());
    if (!problems || problems->empty()) return false;
    Diagnosis damage = problems->front().diagnosis;
    // The static check of this very attempt saw whole files: one that is cut now was written into while it was in use.
    if (checked_whole_ && (damage.code == "EH-F02" || damage.code == "EH-F04")) damage.code = "EH-F14";
    damage.with("noticed_as", explain::one_line(failure));
    log_.warnings.push_back(damage);
    failure = damage;
    auto stage = world_.store().stage("build-" + installed.build);
    return stage && world_.store().reject_damaged(installed.build, *stage).has_value();
  }

  std::vector<history::Witness> witnesses() const {
    std::vector<history::Witness> all;
    for (const fs::path& path : depends_on_) all.push_back(history::witness_of(path));
    return all;
  }

  void remember_failure(const cache::Installed& installed, const std::string& artifacts, const Diagnosis& diagnosis) {
    history::Failure failure;
    failure.build = installed.build;
    failure.digest = installed.digest;
    failure.artifacts_digest = artifacts;
    failure.category = explain::category(diagnosis);
    failure.diagnosis = explain::to_json(diagnosis);
    failure.witnesses = witnesses();
    const history::Record* before = world_.before(installed.build);
    if (auto record = history::after_failure(failure, before, world_.fingerprint(), World::now()))
      world_.remember(std::move(*record));
  }

  void remember_proof(const cache::Installed& installed, const std::string& artifacts) {
    Json facts = probe_facts_;
    facts.set("load_order", strings_of(load_order_));
    world_.remember(history::proof_of(installed.build, installed.digest, artifacts, world_.fingerprint(), witnesses(),
                                      std::move(facts), World::now()));
  }

  World& world_;
  const std::vector<std::string>& devices_;
  const AttemptOptions& options_;
  AttemptLog& log_;
  preflight::Spec spec_;
  std::vector<fs::path> load_order_, depends_on_;
  bool checked_whole_ = false;  // the static check passed in this bring-up
  Json probe_facts_ = Json::object();
};

}  // namespace

Result<std::shared_ptr<Opened>> attempt(World& world, const manifest::Build& build,
                                        const std::vector<std::string>& devices, const AttemptOptions& options,
                                        AttemptLog& log) {
  auto opened = Attempt(world, devices, options, log).build(build);
  if (!opened) opened.error().within("while opening " + build.id);
  return opened;
}

Result<std::shared_ptr<Opened>> attempt_ready(World& world, const Ticket& ticket,
                                              const std::vector<std::string>& devices, const AttemptOptions& options,
                                              AttemptLog& log) {
  return Attempt(world, devices, options, log).ready(ticket);
}

Result<std::shared_ptr<Opened>> attempt_file(World& world, const std::filesystem::path& plugin,
                                             const std::vector<std::string>& devices, const AttemptOptions& options,
                                             AttemptLog& log) {
  auto opened = Attempt(world, devices, options, log).file(plugin);
  if (!opened) opened.error().within("while opening the plugin " + plugin.native());
  return opened;
}

}  // namespace enginehost::open
