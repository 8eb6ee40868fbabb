#include "host/commands/engine_cache.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "cache/layer_trust.hpp"
#include "host/acquire/description.hpp"
#include "host/attempt/install.hpp"
#include "host/commands/build_names.hpp"
#include "host/commands/cache_gc.hpp"
#include "host/commands/cache_trust.hpp"
#include "host/commands/cache_verify.hpp"
#include "host/commands/common.hpp"
#include "host/commands/licenses.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/quarantine.hpp"
#include "host/commands/recorded_platform.hpp"
#include "host/commands/report.hpp"
#include "host/commands/request_args.hpp"
#include "host/commands/say.hpp"
#include "host/commands/stdout_writer.hpp"
#include "host/commands/system_layer_umask.hpp"
#include "host/context/request.hpp"
#include "host/explain/explain.hpp"
#include "host/open/open.hpp"
#include "host/resolve/describe.hpp"
#include "host/resolve/passed_over.hpp"
#include "host/settings/policy.hpp"
#include "host/settings/records.hpp"

namespace enginehost::commands {
namespace {

struct Flags {
  CommonFlags common;
  std::string engine, flavor, build;
  std::vector<std::string> platforms;
  bool keep = false;
};

int report(const Result<Json>& result, bool json) {
  if (!result) return end_with(result.error(), json);
  if (json) print(*result);
  return 0;
}

Result<Json> fetch_for(const settings::Settings& settings, std::optional<platform::Platform> platform,
                       const std::string& label, const Flags& flags, const CancelToken& cancel) {
  const bool here = !platform;
  open::OpenContext context(settings, std::move(platform), cancel);
  TRY_ASSIGN(resolve::Request request,
             request_of("engine-cache", {flags.engine, "", flags.flavor, "", "--flavor"}));
  // The request is that of the next open. The settings of this machine do not apply to another one.
  if (auto refused = open::refused_by_policy(request, settings); here && refused)
    return fail(std::move(*refused));
  if (here) request = open::completed(std::move(request), open::defaults_of(settings));
  request.offline = settings.offline;
  TRY_ASSIGN(resolve::Plan plan, open::decide(context, std::move(request)));
  transfer::ProgressBar bar(stderr, flags.common.quiet, !flags.common.json);
  auto acquired =
      open::fetch_best(context, plan, {consent_for(context, &bar, flags.common.yes), bar.callback(), {}});
  bar.clear();
  if (acquired && acquired->downloaded > 0) bar.ready(title_of(acquired->installed));
  if (!acquired) {
    // The suggested command must name that machine.
    if (!here && acquired.error().code == "EH-S13") acquired.error().with("recorded", label, "--platform");
    return fail(std::move(acquired.error().within("for " + label)));
  }
  if (!flags.common.json)
    say("%s  %s  %s  (for %s)\n", acquired->installed.build.c_str(),
        acquired->downloaded > 0 ? ("fetched " + format_bytes(acquired->downloaded)).c_str()
                                 : "was installed already",
        path_text(acquired->installed.folder).c_str(), label.c_str());
  const bool fallback = open::is_fallback(plan);
  if (fallback && !flags.common.json)
    if (const std::string others = not_taken(plan, acquired->installed.flavor,
                                             "engine-info " + shell_word(flags.engine) + " --plan --explain");
        !others.empty())
      say("instead of\n%s", others.c_str());
  if (plan.forced_in_vain) acquired->warnings.push_back(*plan.forced_in_vain);
  for (const resolve::Candidate& candidate : plan.candidates)
    if (candidate.build->id == acquired->installed.build)
      if (auto idle = resolve::idle_accelerator(plan, context.platform(), *candidate.build))
        acquired->warnings.push_back(std::move(*idle));
  print_warnings(context.warnings(), acquired->warnings, flags.common.quiet || flags.common.json);
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

Result<Json> fetch(const settings::Settings& settings, const Flags& flags, const CancelToken& cancel) {
  Json builds = Json::array();
  if (flags.platforms.empty()) {
    TRY_ASSIGN(Json build, fetch_for(settings, {}, "this machine", flags, cancel));
    builds.push(std::move(build));
  }
  for (const std::string& file : flags.platforms) {
    decides_for(file);
    TRY_ASSIGN(platform::Platform platform, recorded_platform(file));
    TRY_ASSIGN(Json build, fetch_for(settings, std::move(platform), file, flags, cancel));
    builds.push(std::move(build));
  }
  return Json::object().set("format", 1).set("fetched", std::move(builds));
}

// The day of the last use. A read-only layer notes no uses; the day of the installation stands there.
std::string use_of(const cache::Store& store, const cache::Installed& build) {
  const std::int64_t time = build.read_only ? build.installed_at : store.last_used(build);
  return (build.read_only ? "installed " : "used ") + settings::utc_text(time).substr(0, 10);
}

Result<Json> list(const cache::Store& store, const settings::Settings& settings, const Flags& flags) {
  TRY(store.check_readable());
  Json builds = Json::array();
  std::uint64_t total = 0;
  std::vector<Diagnosis> unread;
  std::optional<Diagnosis> pins_unread;  // the first one; the others have the same cause
  for (const cache::Installed& build : store.list(&unread)) {
    // The build is listed although its pin cannot be read; gc keeps such a build.
    const Result<bool> pinned = store.is_pinned(build.build);
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
    if (!flags.common.json)
      say("%-48s %10s  %s  %s%s%s\n", build.build.c_str(), format_bytes(build.size).c_str(),
          use_of(store, build).c_str(),
          printable_line(acquire::describe_origin(build, settings::own_repository(settings))).c_str(),
          build.read_only ? "  (read-only layer)" : "",
          !pinned   ? "  (its pin cannot be read)"
          : *pinned ? "  (pinned)"
                    : "");
  }
  // An incomplete list is a failure.
  if (!unread.empty()) return fail(std::move(unread.front()));
  if (!flags.common.json) {
    if (builds.as_array().empty())
      say("nothing is installed in %s\n", path_text(store.root()).c_str());
    else
      say("%s, %s\n", pluralize(builds.as_array().size(), "build", "builds").c_str(),
          format_bytes(total).c_str());
  }
  // Builds of such a layer exist, but are neither listed nor opened.
  std::vector<Diagnosis> reported = cache::layers_passed_over(store.layers());
  if (pins_unread) reported.push_back(std::move(*pins_unread));
  print_warnings({}, reported, flags.common.quiet || flags.common.json);
  Json warnings = Json::array();
  for (const Diagnosis& warning : reported) warnings.push(explain::to_json(warning));
  return Json::object()
      .set("format", 1)
      .set("cache", path_text(store.root()))
      .set("builds", std::move(builds))
      .set("warnings", std::move(warnings));
}

Result<Json> remove(const settings::Settings& settings, const Flags& flags) {
  open::OpenContext context(settings);
  TRY(context.store().check_readable());
  TRY(open::repair_places(context));
  TRY_ASSIGN(const std::string build, installed_build(context.store(), flags.build));
  const bool pinned = context.store().is_pinned(build).value_or(false);
  std::vector<Diagnosis> stayed;
  const auto freed = context.store().remove(build, &stayed);
  if (!freed) return fail(explain::of_this_cache(freed.error()));
  context.note("remove", Json::object().set("build", build).set("freed", *freed));
  if (!flags.common.json)
    say("%s removed%s, %s freed\n", build.c_str(), pinned ? " with its pin" : "",
        format_bytes(*freed).c_str());
  // The build is removed, but parts of it still take disk space. Most of them have the same reason.
  const bool quiet = flags.common.quiet || flags.common.json;
  for (Diagnosis& why : stayed) why = explain::of_this_cache(std::move(why));
  print_warnings(context.warnings(), stayed, quiet);
  if (!stayed.empty() && !quiet) say_failure(stayed.front());
  Json left = Json::array();
  for (const Diagnosis& why : stayed) left.push(explain::to_json(why));
  return Json::object()
      .set("format", 1)
      .set("removed", build)
      .set("freed", *freed)
      .set("stayed", std::move(left));
}

int run(int argc, char** argv, const std::vector<AddSubcommand>& added) {
  CLI::App app{"fetch, list, check, repair and remove engine builds"};
  app.name("engine-cache");
  app.require_subcommand(1);
  // Flags may stand before or after the subcommand.
  app.fallthrough();
  Flags flags;
  QuarantineFlags quarantine_flags;
  VerifyFlags verify_flags;
  GcFlags gc_flags;
  TrustFlags trust_flags;
  flags.common.add_to(app);
  CLI::App* fetching = app.add_subcommand("fetch", "install a build for this machine or a recorded one");
  fetching->add_option("ENGINE[@VERSION]", flags.engine, "the engine; without a version the newest that fits")
      ->required();
  fetching->add_option("--flavor", flags.flavor, "exactly this flavor [env: ENGINEHOST_FLAVOR]")
      ->type_name("FLAVOR");
  repeatable(
      fetching->add_option("--platform", flags.platforms,
                           "a recorded machine (engine-info --platform-json) to fetch for; repeatable"))
      ->type_name("FILE");
  fetching->add_flag("--keep", flags.keep,
                     "let the build serve every request, also if it comes from an unsigned --repository");
  CLI::App* listing = app.add_subcommand("list", "list the installed builds");
  CLI::App* path = app.add_subcommand("path", "print the folder of the cache");
  CLI::App* verifying = add_verify(app, verify_flags);
  CLI::App* removing = app.add_subcommand("remove", "remove an installed build and its pin");
  removing->add_option("ID", flags.build, build_id_meaning)->required();
  add_gc(app, gc_flags);
  CLI::App* quarantining = add_quarantine(app, quarantine_flags);
  LicenseFlags license_flags;
  CLI::App* licensing = add_licenses(app, license_flags);
  CLI::App* trusting = add_trust(app, trust_flags);
  std::vector<CacheSubcommand> others{add_import(app), add_request(app)};
  for (const AddSubcommand add : added) others.push_back(add(app));
  if (const auto status = parse(app, argc, argv)) return *status;

  auto settings = settings_of(flags.common);
  if (!settings) return end_with(settings.error(), flags.common.json);
  if (flags.keep)
    for (settings::Repository& repository : settings->repositories) repository.keep = true;
  const CancelToken cancel = cancel_on_signal();
  const cache::Store store =
      cache::Store::open(settings->cache_folder, settings->system_layers, "engine-cache");
  // Checked before any question, and before anything is written.
  if (fetching->parsed())
    if (const auto placed = store.check_place(); !placed) return end_with(placed.error(), flags.common.json);
  const bool only_reads =
      listing->parsed() || path->parsed() || (verifying->parsed() && !verify_flags.repair);
  // Only commands that write inside the cache change the umask.
  const bool writes_here = fetching->parsed() || removing->parsed() || verifying->parsed() ||
                           gc_flags.parsed() || trusting->parsed() || licensing->parsed() ||
                           quarantining->parsed();
  if ((writes_here && !only_reads) || app.got_subcommand("import")) {
    const auto became = become_owner_of(store.root());
    if (!became) return end_with(became.error(), flags.common.json);
    if (*became)
      print_warnings(
          {path_text(store.root()) + " belongs to user " + **became + ": this command goes on as that user"},
          {}, flags.common.quiet || flags.common.json);
  }
  if (writes_here && is_system_layer(store, *settings)) set_system_layer_umask();
  if (fetching->parsed()) return report(fetch(*settings, flags, cancel), flags.common.json);
  if (listing->parsed()) return report(list(store, *settings, flags), flags.common.json);
  if (removing->parsed()) return report(remove(*settings, flags), flags.common.json);
  if (licensing->parsed()) return run_licenses(*settings, license_flags, flags.common, cancel);
  if (verifying->parsed())
    return run_verify(*settings, verify_flags, flags.common.json, flags.common.quiet, cancel);
  if (gc_flags.parsed()) return run_gc(*settings, store, gc_flags, flags.common.json);
  if (trusting->parsed()) return run_trust(*settings, trust_flags, flags.common.json);
  for (const CacheSubcommand& other : others)
    if (other.parser->parsed())
      return report(other.run({*settings, flags.common, cancel}), flags.common.json);
  if (quarantining->parsed()) return run_quarantine(*settings, quarantine_flags, flags.common.json);
  if (const auto placed = store.check_place(); !placed) return end_with(placed.error(), flags.common.json);
  if (path->parsed() && flags.common.json)
    print(Json::object().set("format", 1).set("cache", path_text(store.root())));
  else
    write_out(stdout, path_text(store.root()) + "\n");
  return 0;
}

}  // namespace

int run_engine_cache(int argc, char** argv, const std::vector<AddSubcommand>& added) {
  return guarded(argc, argv, [&] { return run(argc, argv, added); });
}

}  // namespace enginehost::commands
