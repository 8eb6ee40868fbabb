// engine-cache update and rollback: which installed engines are outdated, and which version is used.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/catalog/repositories.hpp"
#include "host/catalog/vendor_facts.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/engine_cache.hpp"
#include "host/commands/say.hpp"
#include "host/context/request.hpp"
#include "host/explain/explain.hpp"
#include "host/history/last_update.hpp"
#include "host/resolve/describe.hpp"
#include "host/settings/policy.hpp"
#include "host/settings/records.hpp"

namespace enginehost::commands {
namespace {

using history::LastUpdate;
using history::UsedBuild;
using BuildPointer = std::shared_ptr<const manifest::Build>;

struct UpdateFlags {
  std::vector<std::string> engines;
  bool install = false;
};

UsedBuild used(const manifest::Build& build) { return {build.id, build.version, build.flavor}; }

std::string day_of(std::int64_t time) { return settings::utc_text(time).substr(0, 10); }

// The engines of which EngineHost installed a build here.
std::set<std::string> installed_engines(const cache::Store& store) {
  std::set<std::string> engines;
  for (const cache::Installed& build : store.list())
    if (build.in_place.empty()) engines.insert(build.engine);
  return engines;
}

// One engine of a run.
class EngineUpdate {
 public:
  EngineUpdate(const CacheRun& run, std::string engine) : run_(run), engine_(std::move(engine)) {}

  // Finds out which build would be opened, and which newer one there is.
  Result<void> look(bool past_rollback);
  // Fetches the newer build and opens it once, as the proof. The older one stays.
  Result<void> install();
  // Ends a rollback to which the newest build is installed already.
  Result<void> end_rollback();
  void say_row() const;
  Json row() const;
  bool is_outdated() const { return newer_ != nullptr; }
  bool is_held() const {
    return last_ && last_->held && chosen_ != nullptr && last_->now.build == chosen_->id;
  }
  std::optional<Diagnosis> failure;

 private:
  Result<resolve::Request> request() const;

  const CacheRun& run_;
  const std::string engine_;
  BuildPointer chosen_, newer_;
  std::optional<LastUpdate> last_;
  std::uint64_t bytes_ = 0;
  bool installed_ = false, used_again_ = false;
};

Result<resolve::Request> EngineUpdate::request() const {
  TRY_ASSIGN(resolve::Request request, request_of("engine-cache", {engine_, "", "", "", ""}));
  if (auto refused = open::refused_by_policy(request, run_.settings)) return fail(std::move(*refused));
  return open::completed(std::move(request), open::defaults_of(run_.settings));
}

Result<void> EngineUpdate::look(bool past_rollback) {
  settings::Settings settings = run_.settings;
  settings.refresh = !settings.offline;
  open::OpenContext context(settings, {}, run_.cancel);
  last_ = history::read_last_update(context.state_folder(), engine_);
  TRY_ASSIGN(resolve::Request asked, request());
  asked.update = resolve::Update::report;
  asked.past_rollback = past_rollback;
  TRY_ASSIGN(const resolve::Plan plan, open::decide(context, std::move(asked)));
  run_.warn(context.warnings());
  if (plan.diagnosis) return fail(*plan.diagnosis);
  const auto chosen =
      std::ranges::find(plan.candidates, resolve::Verdict::chosen, &resolve::Candidate::verdict);
  if (chosen == plan.candidates.end()) return {};
  // Without an installed build that fits there is nothing to update.
  if (!plan.request.installed_here.contains(chosen->build->id)) return {};
  chosen_ = chosen->build;
  if (plan.update && compare_versions(plan.update->version, chosen_->version) > 0) newer_ = plan.update;
  if (newer_) bytes_ = open::pending_download(context, *newer_).bytes;
  if (newer_) return {};
  // A repository that could not be read or asked may list a newer build.
  const std::vector<Diagnosis> unread = catalog::catalog_warnings(context.catalog(), run_.settings.offline);
  for (const Diagnosis& failure : unread)
    if (!catalog::is_of_vendor_facts(failure)) return fail(failure);
  if (const auto& unasked = context.catalog_origin().unasked) return fail(*unasked);
  return {};
}

Result<void> EngineUpdate::install() {
  if (auto refused = settings::forbidden_update(run_.settings, engine_)) return fail(std::move(*refused));
  open::OpenContext context(run_.settings, {}, run_.cancel);
  TRY(run_.store().check_place());
  transfer::ProgressBar bar(stderr, run_.common.quiet, run_.prints_text());
  open::OpenRequest opening;
  TRY_ASSIGN(opening.request, request());
  opening.request.version = (is_version(newer_->version) ? "==" : "===") + newer_->version;
  opening.request.flavor = newer_->flavor;
  opening.request.require = true;
  opening.request.update = resolve::Update::open;
  opening.bypass_cache = true;
  opening.attempt.consent = consent_for(context, &bar, run_.common.yes);
  opening.attempt.progress = bar.callback();
  const open::Outcome outcome = open::open_engine(context, std::move(opening));
  bar.clear();
  run_.warn(context.warnings(), outcome.warnings);
  if (outcome.state != open::State::opened)
    return fail(outcome.diagnosis
                    ? std::move(Diagnosis(*outcome.diagnosis).within("while updating " + engine_))
                    : diagnose(Code::no_build_fits).with(Key::engine, engine_));
  LastUpdate update{engine_, used(*newer_), used(*chosen_), false, open::OpenContext::now()};
  TRY(explain::of_this_cache(history::write_last_update(context.state_folder(), update)));
  context.note("update",
               Json::object().set("engine", engine_).set("from", chosen_->id).set("to", newer_->id));
  last_ = std::move(update);
  installed_ = true;
  return {};
}

Result<void> EngineUpdate::end_rollback() {
  if (!last_ || !last_->held || chosen_ == nullptr || last_->now.build == chosen_->id) return {};
  if (auto refused = settings::forbidden_update(run_.settings, engine_)) return fail(std::move(*refused));
  const open::OpenContext context(run_.settings, {}, run_.cancel);
  LastUpdate update{engine_, used(*chosen_), last_->now, false, open::OpenContext::now()};
  TRY(explain::of_this_cache(history::write_last_update(context.state_folder(), update)));
  last_ = std::move(update);
  used_again_ = true;
  return {};
}

void EngineUpdate::say_row() const {
  std::string text = chosen_ != nullptr ? chosen_->version : failure ? "" : "no installed build is used";
  if (newer_) text += " -> " + newer_->version + "  " + newer_->flavor;
  if (newer_ && bytes_ > 0 && !installed_) text += "  " + format_bytes(bytes_);
  if (installed_)
    text += "  installed and proven";
  else if (used_again_)
    text += "  used again instead of " + last_->before.version;
  else if (failure)
    text += (text.empty() ? "" : newer_ ? "  not updated: " : "  ") + explain::one_line(*failure);
  else if (is_held())
    text += "  rolled back on " + day_of(last_->at) + ", so only by name: engine-cache update --install " +
            engine_;
  else if (chosen_ != nullptr && !run_.settings.lock_file.empty())
    text += "  is locked by " + path_text(run_.settings.lock_file);
  else if (chosen_ != nullptr && !newer_)
    text += "  is the newest that fits";
  say_text(labeled(engine_, text).substr(2));
}

Json EngineUpdate::row() const {
  const auto build = [](const BuildPointer& one) {
    return one == nullptr
               ? Json()
               : Json::object().set("build", one->id).set("version", one->version).set("flavor", one->flavor);
  };
  return Json::object()
      .set("engine", engine_)
      .set("used", build(chosen_))
      .set("newer", build(newer_))
      .set("download", bytes_)
      .set("held", is_held())
      .set("installed", installed_)
      .set("rollback_ended", used_again_)
      .set("diagnosis", failure ? explain::to_json(*failure) : Json());
}

// Folders of this machine learn of nothing by themselves.
bool asks_the_web(const settings::Settings& settings) {
  return std::ranges::any_of(settings.repositories,
                             [](const settings::Repository& one) { return is_url(one.location); });
}

Result<CacheAnswer> update(const CacheRun& run, const UpdateFlags& flags) {
  const cache::Store store = run.store();
  TRY(store.check_readable());
  const std::set<std::string> here = installed_engines(store);
  std::set<std::string> engines(flags.engines.begin(), flags.engines.end());
  if (engines.empty()) engines = here;
  if (flags.install) prepare_to_write(run);
  Json rows = Json::array();
  std::optional<Diagnosis> first;
  for (const std::string& engine : engines) {
    const bool named = !flags.engines.empty();
    EngineUpdate one(run, engine);
    // Naming an engine ends its rollback.
    if (auto looked = one.look(flags.install && named); !looked) one.failure = std::move(looked).error();
    if (!one.failure && flags.install && named && !one.is_outdated())
      if (auto done = one.end_rollback(); !done) one.failure = std::move(done).error();
    if (!one.failure && flags.install && one.is_outdated() && (named || !one.is_held()))
      if (auto done = one.install(); !done) one.failure = std::move(done).error();
    if (one.failure && !first) first = one.failure;
    if (run.prints_text()) one.say_row();
    rows.push(one.row());
    if (one.failure && explain::exit_status(*one.failure) == explain::ExitStatus::interrupted) break;
  }
  std::vector<Diagnosis> notes;
  if (!asks_the_web(run.settings)) notes.push_back(diagnose(Code::no_repository_for_updates));
  if (run.prints_text() && engines.empty())
    say("no engine is installed in %s\n", path_text(store.root()).c_str());
  run.warn({}, notes);
  if (first && run.prints_text() && !run.common.quiet) say_failure(*first);
  Json warnings = Json::array();
  for (const Diagnosis& note : notes) warnings.push(explain::to_json(note));
  return CacheAnswer{
      Json::object().set("format", 1).set("engines", std::move(rows)).set("warnings", std::move(warnings)),
      first ? static_cast<int>(explain::exit_status(*first)) : 0};
}

// The build to go back to: the one before the last update, else the newest older one that is installed.
Result<UsedBuild> older_build(open::OpenContext& context, const resolve::Plan& plan, const UsedBuild& now,
                              const std::optional<LastUpdate>& last) {
  const bool on_record = last && !last->held && last->now == now && !last->before.build.empty();
  for (const resolve::Candidate& candidate : plan.candidates) {
    const manifest::Build& build = *candidate.build;
    const bool is_meant = on_record ? build.id == last->before.build
                                    : plan.request.installed_here.contains(build.id) &&
                                          compare_versions(build.version, now.version) < 0;
    if (!is_meant) continue;
    if (candidate.rank != 0 && plan.request.installed.contains(build.id)) return used(build);
    if (!on_record) continue;
    Diagnosis nothing = diagnose(Code::nothing_to_go_back_to)
                            .with(Key::engine, plan.request.engine)
                            .with(Key::build, build.id);
    if (candidate.rank == 0) {
      const auto why = candidate.diagnosis();
      return fail(nothing.with(Key::reason, why ? explain::one_line(*why) : "it does not fit this machine"));
    }
    return fail(nothing.with(Key::size, format_bytes(open::pending_download(context, build).bytes))
                    .with(Key::command, "engine-cache fetch " + shell_word(plan.request.engine) +
                                            "@==" + build.version + " --flavor " + shell_word(build.flavor)));
  }
  Diagnosis nothing = diagnose(Code::nothing_to_go_back_to).with(Key::engine, plan.request.engine);
  if (on_record) return fail(nothing.with(Key::build, last->before.build));
  return fail(now.build.empty() ? nothing : nothing.with(Key::version, now.version));
}

Result<CacheAnswer> roll_back(const CacheRun& run, const std::string& engine) {
  if (const std::string lock = path_text(run.settings.lock_file); !lock.empty())
    return fail(wrong_usage("engine-cache", "the lock " + lock +
                                                " decides which build is used; lock the older "
                                                "version: engine-cache lock ENGINE@VERSION -o " +
                                                shell_word(lock)));
  TRY(run.store().check_place());
  open::OpenContext context(run.settings, {}, run.cancel);
  TRY_ASSIGN(resolve::Request request, request_of("engine-cache", {engine, "", "", "", ""}));
  request = open::completed(std::move(request), open::defaults_of(run.settings));
  request.update = resolve::Update::never;
  TRY_ASSIGN(const resolve::Plan plan, open::decide(context, std::move(request)));
  run.warn(context.warnings());
  const auto chosen =
      std::ranges::find(plan.candidates, resolve::Verdict::chosen, &resolve::Candidate::verdict);
  const bool is_installed =
      chosen != plan.candidates.end() && plan.request.installed_here.contains(chosen->build->id);
  const UsedBuild now = is_installed ? used(*chosen->build) : UsedBuild();
  if (plan.candidates.empty() && plan.diagnosis) return fail(*plan.diagnosis);
  const auto last = history::read_last_update(context.state_folder(), engine);
  TRY_ASSIGN(const UsedBuild older, older_build(context, plan, now, last));
  TRY(explain::of_this_cache(history::write_last_update(
      context.state_folder(), {engine, older, now, true, open::OpenContext::now()})));
  context.note("rollback",
               Json::object().set("engine", engine).set("from", now.build).set("to", older.build));
  if (run.prints_text())
    say("%s %s is used again instead of %s, until engine-cache update --install %s\n", engine.c_str(),
        older.version.c_str(), now.version.c_str(), engine.c_str());
  return CacheAnswer{Json::object()
                         .set("format", 1)
                         .set("engine", engine)
                         .set("used", older.build)
                         .set("instead_of", now.build)};
}

}  // namespace

std::vector<CacheSubcommand> add_update(CLI::App& app) {
  const auto flags = std::make_shared<UpdateFlags>();
  CLI::App* updating =
      app.add_subcommand("update", "list which installed engines are outdated, or update them");
  updating->add_option("ENGINE", flags->engines, "the engines; all installed ones without a name");
  updating->add_flag("--install", flags->install, "fetch and prove the newer builds; the older ones stay");
  const auto engine = std::make_shared<std::string>();
  CLI::App* back =
      app.add_subcommand("rollback", "use the version again that was used before the last update");
  back->add_option("ENGINE", *engine, "the engine")->required();
  return {{updating, [flags](const CacheRun& run) { return update(run, *flags); }},
          {back, [engine](const CacheRun& run) { return roll_back(run, *engine); }, true}};
}

}  // namespace enginehost::commands
