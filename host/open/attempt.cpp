#include "host/open/attempt.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/paths.hpp"
#include "host/explain/explain.hpp"
#include "host/history/sentinel.hpp"
#include "host/load/in_process/told_text.hpp"
#include "host/open/crash.hpp"
#include "host/open/install.hpp"
#include "host/open/left_over.hpp"
#include "host/open/loading.hpp"
#include "host/open/neighbours.hpp"
#include "host/open/proving.hpp"
#include "host/open/remember.hpp"
#include "host/open/stopwatch.hpp"
#include "host/open/ticket.hpp"
#include "host/open/trial.hpp"
#include "host/open/turn.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

constexpr int most_repairs = 2, most_retries = 3;

// One attempt with everything its stages share.
class Attempt {
 public:
  Attempt(World& world, const std::vector<std::string>& devices, const AttemptOptions& options,
          AttemptLog& log)
      : world_(world), options_(options), log_(log), attempting_{world, devices, options, log} {}

  Result<std::shared_ptr<Opened>> build(const manifest::Build& build) {
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
      if (take_deaths_down(opened->lease)) {
        const history::Record* record = world_.history().find(build.id);
        if (record != nullptr && record->state == history::State::quarantined)
          return fail(explain::diagnosis_from_json(record->diagnosis));
        warn_of_suspicion(build);
      }
      auto brought_up = bring_up(*opened, build);
      Turn turn = std::move(turn_);
      if (brought_up) {
        forget_left_over(opened->installed);
        return opened;
      }
      Diagnosis failure = std::move(brought_up).error();
      // What follows may take long: others may load meanwhile, and know what is in their way.
      note_left_over(opened->installed, loading_.take_left(), false);
      turn.end();
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
      if (failure.value("engine").empty()) failure.with("engine", build.engine, "manifest");
      if (repairs > 0) failure.with("fetched_again", std::to_string(repairs));
      if (retries > 0) failure.with("tried_again", std::to_string(retries));
      // Another folder for the cache is no remedy then: the layer is looked into first.
      if (opened->installed.read_only && explain::category(failure) == history::Category::policy)
        failure.with("read_only_layer", path_text(opened->installed.layer));
      const bool remembered = remember_failure(world_, proving_.basis(opened->installed, build), failure);
      note_left_over(opened->installed, {}, remembered);
      return fail(std::move(failure));
    }
  }

  Result<std::shared_ptr<Opened>> ready(const Ticket& ticket, cache::Installed* record) {
    auto opened = std::make_shared<Opened>();
    if (record != nullptr) {
      opened->installed = std::move(*record);
      TRY_ASSIGN(opened->lease, world_.store().lease_as_recorded(opened->installed));
    } else {
      TRY_ASSIGN(cache::Store::Leased found, world_.store().find_leased(ticket.build, ticket.digest));
      opened->installed = std::move(found.installed);
      opened->lease = std::move(found.lease);
    }
    TRY_ASSIGN(const Turn turn, loading_turn(world_.cancel()));
    // The ticket does not know the names that they would be asked for by; whoever decides anew does.
    if (anything_left_over() || engine_beside(ticket.digest))
      return fail(diagnose("EH-L17").with("build", ticket.build));
    // Left there for whoever decides anew.
    if (!world_.state_folder().empty() && !crashes_of(opened->lease.words_of_the_dead()).empty())
      return fail(diagnose("EH-R02").with("build", ticket.build));
    proving_.by_ticket(ticket);
    log_.proven_before = true;
    auto trial =
        std::make_shared<Trial>(Tried{world_.state_folder(), ticket.build, ticket.digest, ticket.artifacts,
                                      true, ticket.opened_before, ticket.program, &opened->lease});
    if (auto up = loading_.load(*opened, *trial); !up) {
      note_left_over(opened->installed, loading_.take_left(), false);
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
    TRY_ASSIGN(const Turn turn, try_out(opened->installed));
    Trial trial({});
    TRY(loading_.load(*opened, trial));
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

  static std::vector<history::Crash> crashes_of(const std::vector<std::string>& words) {
    std::vector<history::Crash> crashes;
    for (const std::string& word : words)
      if (auto crash = history::crash_of(word)) crashes.push_back(std::move(*crash));
    return crashes;
  }

  // True when a process that loaded this build, proven and survived before, never came to the loading's end:
  // the proof does not hold any more.
  bool take_deaths_down(cache::Lease& lease) {
    if (world_.state_folder().empty()) return false;
    const auto crashes = crashes_of(lease.take_words_of_the_dead());
    for (const history::Crash& crash : crashes) note_crash(world_, crash);
    return !crashes.empty();
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

  Result<void> beside_what_is_loaded(const cache::Installed& installed) {
    TRY(proving_.beside_left_over(installed));
    if (engine_beside(identity_of(installed))) TRY(proving_.beside_others(installed));
    return {};
  }

  // Nobody waits for another's probe; what was loaded meanwhile is looked at again.
  Result<Turn> try_out(const cache::Installed& installed) {
    const std::uint64_t noted = engines_noted();
    TRY(proving_.by_trying(installed, !options_.probe, hinted_deadline_));
    TRY_ASSIGN(Turn turn, loading_turn(world_.cancel()));
    TRY(proving_.beside_left_over(installed));
    if ((turn.waited() || noted != engines_noted()) && engine_beside(identity_of(installed)))
      TRY(proving_.beside_others(installed));
    return turn;
  }

  // From an installed build to an engine in this process. Leaves the turn to load to whoever notes what came
  // of it.
  Result<void> bring_up(Opened& opened, const manifest::Build& build) {
    const bool proven = proving_.by_record(opened.installed, build);
    log_.proven_before = proven;
    if (proven) {
      TRY_ASSIGN(turn_, loading_turn(world_.cancel()));
      TRY(beside_what_is_loaded(opened.installed));
    } else {
      TRY_ASSIGN(turn_, try_out(opened.installed));
    }
    auto trial =
        std::make_shared<Trial>(Tried{world_.state_folder(), opened.installed.build, opened.installed.digest,
                                      build.artifacts_digest(), proven, false, "", &opened.lease});
    TRY(loading_.load(opened, *trial));
    if (!proven) warn_of_another_engine(opened, build.engine);
    const bool crashed_once = proving_.crashed_once().has_value();
    if (!proven && log_.probed)
      remember_success(world_, proving_.basis(opened.installed, build), proving_.facts(),
                       proving_.crashed_once());
    if (!proven && !log_.probed) note_unproven(opened.installed);
    trial->opening_ended(proven || (log_.probed && !crashed_once));
    opened.engine->health()->tell_first_work(std::move(trial));
    note_open(opened);
    return {};
  }

  // Most likely a file of another build under this one's name.
  void warn_of_another_engine(const Opened& opened, const std::string& engine) {
    const char* const told = opened.plugin->plugin().engine;
    if (told == nullptr || told == engine) return;
    proving_.note(std::move(diagnose("EH-R12")
                                .with("file", path_text(opened.plugin->file()))
                                .with("plugin_engine", load::told_text(told), "the plugin's descriptor")
                                .with("engine", engine, "the manifest")));
  }

  // It ran in this process without having run in a child first.
  void note_unproven(const cache::Installed& installed) {
    world_.note("load_unproven", Json::object()
                                     .set("build", installed.build)
                                     .set("digest", installed.digest)
                                     .set("file", path_text(installed.folder / path_of(installed.plugin))));
  }

  static void note_open(const Opened& opened) {
    std::vector<std::string> folders = own_folders(opened);
    if (!opened.installed.digest.empty()) folders.push_back(path_text(opened.installed.folder));
    note_engine(opened.installed.build, identity_of(opened.installed), std::move(folders));
  }

  // Wrong content in a file that is as it was published, or that is none of the build's: fetching it again
  // would bring the same.
  static void tell_whole(const cache::Installed& installed, Diagnosis& failure) {
    const fs::path file = path_of(failure.value("file"));
    if (file.is_absolute() && !is_below(file, installed.folder))
      failure.with("outside", "yes", "no file of the build");
    else
      failure.with("as_published", "yes",
                   "every file of the build has the digest that the manifest gives it");
  }

  // True when the files were not what they should be, and have been moved out of the way to be fetched again.
  bool throw_damage_away(const cache::Installed& installed, Diagnosis& failure) {
    const history::Category category = explain::category(failure);
    // The files fitted together, and the loader says that they do not: a name in one of them may be another
    // one now.
    const bool unbound =
        proving_.checked_whole() && category == history::Category::host && failure.code.starts_with("EH-L");
    const bool suspicious =
        category == history::Category::content || category == history::Category::crash || unbound;
    const bool content = category == history::Category::content;
    if (!suspicious || (installed.read_only && !content)) return false;
    const auto problems = world_.store().verify(installed.build, true, world_.cancel());
    if (problems && problems->empty() && content) tell_whole(installed, failure);
    if (!problems || problems->empty() || installed.read_only) return false;
    Diagnosis damage = problems->front().diagnosis;
    // The static check of this very attempt saw whole files: one that is cut now was written into while it
    // was in use.
    if (proving_.checked_whole() && (damage.code == "EH-F02" || damage.code == "EH-F04"))
      damage.code = "EH-F14";
    damage.with("noticed_as", explain::one_line(failure));
    log_.warnings.push_back(damage);
    failure = damage;
    cache::WaitOptions wait;
    wait.cancel = world_.cancel();
    auto stage = world_.store().stage("build-" + installed.build, wait);
    return stage && world_.store().reject_damaged(installed.build, *stage).has_value();
  }

  World& world_;
  const AttemptOptions& options_;
  AttemptLog& log_;
  const Attempting attempting_;
  Proving proving_{attempting_};
  Loading loading_{attempting_, proving_};
  Turn turn_;                                // to load
  std::chrono::seconds hinted_deadline_{0};  // by the manifest
};

}  // namespace

void AttemptLog::warn(Diagnosis warning) {
  const bool told = std::ranges::any_of(warnings, [&](const Diagnosis& known) {
    return known.code == warning.code && explain::one_line(known) == explain::one_line(warning);
  });
  if (!told) warnings.push_back(std::move(warning));
}

Result<std::shared_ptr<Opened>> attempt(World& world, const manifest::Build& build,
                                        const std::vector<std::string>& devices,
                                        const AttemptOptions& options, AttemptLog& log) {
  auto opened = Attempt(world, devices, options, log).build(build);
  if (!opened) opened.error().within("while opening " + build.id);
  return opened;
}

Result<std::shared_ptr<Opened>> attempt_ready(World& world, const Ticket& ticket, cache::Installed* record,
                                              const std::vector<std::string>& devices,
                                              const AttemptOptions& options, AttemptLog& log) {
  return Attempt(world, devices, options, log).ready(ticket, record);
}

Result<std::shared_ptr<Opened>> attempt_file(World& world, const std::filesystem::path& plugin,
                                             const std::vector<std::string>& devices,
                                             const AttemptOptions& options, AttemptLog& log) {
  auto opened = Attempt(world, devices, options, log).file(plugin);
  if (!opened) opened.error().within("while opening the plugin " + path_text(plugin));
  return opened;
}

}  // namespace enginehost::open
