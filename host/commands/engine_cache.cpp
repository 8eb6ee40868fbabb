#include "host/commands/engine_cache.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "cache/layer_trust.hpp"
#include "host/acquire/description.hpp"
#include "host/attempt/install.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/report.hpp"
#include "host/commands/say.hpp"
#include "host/commands/system.hpp"
#include "host/context/request.hpp"
#include "host/explain/explain.hpp"
#include "host/open/open.hpp"
#include "host/resolve/describe.hpp"
#include "host/resolve/passed_over.hpp"
#include "host/settings/policy.hpp"
#include "host/settings/records.hpp"

namespace enginehost::commands {
namespace {

struct FetchFlags {
  std::string engine, flavor;
  std::vector<std::string> platforms;
  bool keep = false;
};

Result<Json> fetch_for(const CacheRun& run, const settings::Settings& settings,
                       std::optional<platform::Platform> platform, const std::string& label,
                       const FetchFlags& flags) {
  const bool here = !platform;
  open::OpenContext context(settings, std::move(platform), run.cancel);
  TRY_ASSIGN(resolve::Request request,
             request_of("engine-cache", {flags.engine, "", flags.flavor, "", "--flavor"}));
  // The request is that of the next open. The settings of this machine do not apply to another one.
  if (auto refused = open::refused_by_policy(request, settings); here && refused)
    return fail(std::move(*refused));
  if (here) request = open::completed(std::move(request), open::defaults_of(settings));
  request.offline = settings.offline;
  request.update = resolve::Update::open;  // this command is the update
  TRY_ASSIGN(resolve::Plan plan, open::decide(context, std::move(request)));
  transfer::ProgressBar bar(stderr, run.common.quiet, run.prints_text());
  auto acquired =
      open::fetch_best(context, plan, {consent_for(context, &bar, run.common.yes), bar.callback(), {}});
  bar.clear();
  if (acquired && acquired->downloaded > 0) bar.ready(title_of(acquired->installed));
  if (!acquired) {
    // The suggested command must name that machine.
    if (!here && acquired.error().code == Code::not_installed_and_offline)
      acquired.error().with(Key::recorded, label, "--platform");
    return fail(std::move(acquired.error().within("for " + label)));
  }
  if (run.prints_text())
    say("%s  %s  %s  (for %s)\n", acquired->installed.build.c_str(),
        acquired->downloaded > 0 ? ("fetched " + format_bytes(acquired->downloaded)).c_str()
                                 : "was installed already",
        path_text(acquired->installed.folder).c_str(), label.c_str());
  const bool fallback = open::is_fallback(plan);
  if (fallback && run.prints_text())
    if (const std::string others = not_taken(plan, acquired->installed.flavor,
                                             "engine-info " + shell_word(flags.engine) + " --plan --explain");
        !others.empty())
      say("instead of\n%s", others.c_str());
  for (const auto& warning : {plan.forced_in_vain, plan.misplaced_flavor})
    if (warning) acquired->warnings.push_back(*warning);
  for (const resolve::Candidate& candidate : plan.candidates)
    if (candidate.build->id == acquired->installed.build)
      if (auto idle = resolve::idle_accelerator(plan, context.platform(), *candidate.build))
        acquired->warnings.push_back(std::move(*idle));
  run.warn(context.warnings(), acquired->warnings);
  return Json::object()
      .set("for", label)
      .set("build", acquired->installed.build)
      .set("digest", acquired->installed.digest)
      .set("folder", path_text(acquired->installed.folder))
      .set("size", acquired->installed.size)
      .set("downloaded", acquired->downloaded)
      .set("repaired", acquired->repaired)
      .set("fallback", fallback)
      .set("turned_down", open::turned_down_document(open::turned_down(plan)))
      .set("warnings", open::warnings_document(context, acquired->warnings));
}

Result<Json> fetch(const CacheRun& run, const FetchFlags& flags) {
  TRY(run.store().check_place());  // before any question, and before anything is written
  prepare_to_write(run);
  settings::Settings settings = run.settings;
  if (flags.keep)
    for (settings::Repository& repository : settings.repositories) repository.keep = true;
  Json builds = Json::array();
  if (flags.platforms.empty()) {
    TRY_ASSIGN(Json build, fetch_for(run, settings, {}, "this machine", flags));
    builds.push(std::move(build));
  }
  for (const std::string& file : flags.platforms) {
    decides_for(file);
    TRY_ASSIGN(platform::Platform platform, recorded_platform(file));
    TRY_ASSIGN(Json build, fetch_for(run, settings, std::move(platform), file, flags));
    builds.push(std::move(build));
  }
  return Json::object().set("format", 1).set("fetched", std::move(builds));
}

// The day of the last use. A read-only layer notes no uses; the day of the installation stands there.
std::string use_of(const cache::Store& store, const cache::Installed& build) {
  const std::int64_t time = build.read_only ? build.installed_at : store.last_used(build);
  return (build.read_only ? "installed " : "used ") + settings::utc_text(time).substr(0, 10);
}

Result<Json> list_builds(const CacheRun& run) {
  const cache::Store store = run.store();
  TRY(store.check_readable());
  Json builds = Json::array();
  std::uint64_t total = 0;
  std::vector<Diagnosis> unread;
  std::optional<Diagnosis> pins_unread;  // the first one; the others have the same cause
  for (const cache::Installed& build : store.list(&unread)) {
    // The build is listed although its pin cannot be read; gc keeps such a build.
    const Result<bool> pinned = store.is_pinned(build);
    if (!pinned && !pins_unread) pins_unread = pinned.error();
    total += build.size;
    builds.push(Json::object()
                    .set("build", build.build)
                    .set("engine", build.engine)
                    .set("version", build.version)
                    .set("flavor", build.flavor)
                    .set("digest", build.digest)
                    .set("size", build.size)
                    .set("installed_at", build.installed_at)
                    .set("folder", path_text(build.folder))
                    .set("read_only", build.read_only)
                    .set("origin", acquire::origin_of(build))
                    .set("pinned", pinned ? Json(*pinned) : Json()));
    if (run.prints_text())
      say("%-48s %10s  %s  %s%s%s\n", build.build.c_str(), format_bytes(build.size).c_str(),
          use_of(store, build).c_str(),
          printable_line(acquire::describe_origin(build, settings::own_repository(run.settings))).c_str(),
          build.read_only ? "  (read-only layer)" : "",
          !pinned   ? "  (its pin cannot be read)"
          : *pinned ? "  (pinned)"
                    : "");
  }
  // An incomplete list is a failure.
  if (!unread.empty()) return fail(std::move(unread.front()));
  if (run.prints_text()) {
    if (builds.as_array().empty())
      say("nothing is installed in %s\n", path_text(store.root()).c_str());
    else
      say("%s, %s\n", pluralize(builds.as_array().size(), "build", "builds").c_str(),
          format_bytes(total).c_str());
  }
  // Builds of such a layer exist, but are neither listed nor opened.
  std::vector<Diagnosis> reported = cache::layers_passed_over(store.layers());
  if (pins_unread) reported.push_back(std::move(*pins_unread));
  run.warn({}, reported);
  Json warnings = Json::array();
  for (const Diagnosis& warning : reported) warnings.push(explain::to_json(warning));
  return Json::object()
      .set("format", 1)
      .set("cache", path_text(store.root()))
      .set("builds", std::move(builds))
      .set("warnings", std::move(warnings));
}

Result<Json> remove_build(const CacheRun& run, const std::string& given) {
  open::OpenContext context(run.settings);
  TRY(context.store().check_readable());
  TRY(open::repair_places(context));
  TRY_ASSIGN(const std::string build, installed_build(context.store(), given));
  const bool pinned = context.store().is_pinned(build).value_or(false);
  std::vector<Diagnosis> stayed;
  TRY_ASSIGN(const std::uint64_t freed, explain::of_this_cache(context.store().remove(build, &stayed)));
  context.note("remove", Json::object().set("build", build).set("freed", freed));
  if (run.prints_text())
    say("%s removed%s, %s freed\n", build.c_str(), pinned ? " with its pin" : "",
        format_bytes(freed).c_str());
  // The build is removed, but parts of it still take disk space. Most of them have the same reason.
  for (Diagnosis& why : stayed) why = explain::of_this_cache(std::move(why));
  run.warn(context.warnings(), stayed);
  if (!stayed.empty() && run.prints_text() && !run.common.quiet) say_failure(stayed.front());
  Json left = Json::array();
  for (const Diagnosis& why : stayed) left.push(explain::to_json(why));
  return Json::object()
      .set("format", 1)
      .set("removed", build)
      .set("freed", freed)
      .set("stayed", std::move(left));
}

Result<Json> print_path(const CacheRun& run) {
  const cache::Store store = run.store();
  TRY(store.check_place());
  if (run.prints_text()) write_out(stdout, path_text(store.root()) + "\n");
  return Json::object().set("format", 1).set("cache", path_text(store.root()));
}

std::vector<CacheSubcommand> add_fetch_and_list(CLI::App& app) {
  const auto flags = std::make_shared<FetchFlags>();
  CLI::App* fetching = app.add_subcommand("fetch", "install a build for this machine or a recorded one");
  fetching
      ->add_option("ENGINE[@VERSION]", flags->engine, "the engine; without a version the newest that fits")
      ->required();
  fetching->add_option("--flavor", flags->flavor, "exactly this flavor [env: ENGINEHOST_FLAVOR]")
      ->type_name("FLAVOR");
  repeatable(
      fetching->add_option("--platform", flags->platforms,
                           "a recorded machine (engine-info --platform-json) to fetch for; repeatable"))
      ->type_name("FILE");
  fetching->add_flag("--keep", flags->keep,
                     "let the build serve every request, also if it comes from an unsigned --repository");
  return {{fetching, [flags](const CacheRun& run) { return fetch(run, *flags); }},
          {app.add_subcommand("list", "list the installed builds"), list_builds},
          {app.add_subcommand("path", "print the folder of the cache"), print_path}};
}

std::vector<CacheSubcommand> add_remove(CLI::App& app) {
  const auto build = std::make_shared<std::string>();
  CLI::App* removing = app.add_subcommand("remove", "remove an installed build and its pin");
  removing->add_option("ID", *build, build_id_meaning)->required();
  return {{removing, [build](const CacheRun& run) { return remove_build(run, *build); }, true}};
}

// Root's work in the system layer concerns no user's cache.
bool is_for_all_users(const CLI::App& subcommand) {
  const CLI::Option* const layer = subcommand.get_option_no_throw("--layer");
  return layer != nullptr && layer->count() != 0 && layer->as<std::string>() == "system";
}

Result<int> run(int argc, char** argv, const std::vector<AddSubcommands>& added) {
  CLI::App app{"fetch, list, check, repair and remove engine builds"};
  app.name("engine-cache");
  app.require_subcommand(1);
  // Flags may stand before or after the subcommand, and those of the program also behind a subcommand's own.
  app.fallthrough();
  CommonFlags common;
  common.add_to(app);
  std::vector<AddSubcommands> all{
      add_fetch_and_list, add_update, add_verify, add_remove,  add_gc,  add_quarantine,
      add_licenses,       add_trust,  add_import, add_request, add_sdk, add_lock};
  all.insert(all.end(), added.begin(), added.end());
  std::vector<CacheSubcommand> subcommands;
  for (const AddSubcommands add : all)
    for (CacheSubcommand& one : add(app)) subcommands.push_back(std::move(one));
  if (const auto status = parse(app, argc, argv)) return *status;
  const auto called =
      std::ranges::find_if(subcommands, [](const CacheSubcommand& one) { return one.parser->parsed(); });
  if (!is_for_all_users(*called->parser)) TRY(go_on_as_owner(common));
  TRY_ASSIGN(const settings::Settings settings, settings_of(common));
  const CancelToken cancel = cancel_on_signal();
  const CacheRun run{settings, common, cancel};
  if (called->writes) prepare_to_write(run);
  TRY_ASSIGN(const CacheAnswer answer, called->run(run));
  if (common.json) print(answer.document);
  return answer.status;
}

}  // namespace

cache::Store CacheRun::store() const {
  return cache::Store::open(settings.cache_folder, settings.system_layers, "engine-cache");
}

void CacheRun::warn(const std::vector<std::string>& warnings, const std::vector<Diagnosis>& diagnoses) const {
  print_warnings(warnings, diagnoses, common.quiet || common.json);
}

bool is_system_layer(const cache::Store& store, const settings::Settings& settings) {
  if (store.layers().size() < settings.system_layers.size()) return true;  // the store counts itself as none
  const std::filesystem::path& usual = settings::Environment::of_this_process().system_layer;
  return settings.find("system_layers") == nullptr && !usual.empty() &&
         store.root().lexically_normal() == usual.lexically_normal();
}

void prepare_to_write(const CacheRun& run) {
  if (is_system_layer(run.store(), run.settings)) set_system_layer_umask();
}

int run_engine_cache(int argc, char** argv, const std::vector<AddSubcommands>& added) {
  return guarded(argc, argv, [&](int, char**) { return run(argc, argv, added); });
}

}  // namespace enginehost::commands
