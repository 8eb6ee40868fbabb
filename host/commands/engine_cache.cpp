// engine-cache: the administrator's view of what is installed and what is set aside.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/files.hpp"
#include "base/text.hpp"
#include "host/commands/common.hpp"
#include "host/commands/offline.hpp"
#include "host/commands/quarantine.hpp"
#include "host/explain/explain.hpp"
#include "host/open/document.hpp"
#include "host/open/fetch.hpp"
#include "host/resolve/describe.hpp"

namespace enginehost::commands {
namespace {

struct Flags {
  CommonFlags common;
  std::string engine, flavor, build;
  std::vector<std::string> platforms;
  bool deep = false, repair = false;
};

int report(const Result<Json>& result, bool json) {
  if (!result) return end_with(result.error(), json);
  if (json) print(*result);
  return 0;
}

Result<Json> fetch_for(const settings::Settings& settings, std::optional<platform::Platform> platform,
                       const std::string& label, const Flags& flags, const CancelToken& cancel) {
  open::World world(settings, std::move(platform), cancel);
  resolve::Request request;
  const std::size_t at = flags.engine.find('@');
  request.engine = flags.engine.substr(0, at);
  if (at != std::string::npos) request.version = flags.engine.substr(at + 1);
  request.flavor = flags.flavor;
  request.require = !flags.flavor.empty();
  request.offline = settings.offline;
  for (const cache::Installed& installed : world.store().list()) request.installed.insert(installed.build);
  resolve::Plan plan =
      resolve::decide(world.platform(), world.catalogue(), world.history(), request, open::World::now());
  transfer::ProgressBar bar(stderr, flags.common.quiet);
  auto acquired = open::fetch_best(world, plan, {consent_for(world.settings()), bar.callback(), {}});
  if (!acquired) return fail(std::move(acquired.error().within("for " + label)));
  if (!flags.common.json)
    std::printf("%s  %s  %s  (for %s)\n", acquired->installed.build.c_str(),
                acquired->downloaded > 0 ? ("fetched " + format_bytes(acquired->downloaded)).c_str()
                                         : "was installed already",
                acquired->installed.folder.c_str(), label.c_str());
  print_warnings(world.warnings(), acquired->warnings, flags.common.quiet || flags.common.json);
  return Json::object()
      .set("for", label)
      .set("build", acquired->installed.build)
      .set("digest", acquired->installed.digest)
      .set("folder", acquired->installed.folder.native())
      .set("size", acquired->installed.size)
      .set("downloaded", acquired->downloaded)
      .set("repaired", acquired->repaired);
}

Result<Json> fetch(const settings::Settings& settings, const Flags& flags, const CancelToken& cancel) {
  Json builds = Json::array();
  if (flags.platforms.empty()) {
    TRY_ASSIGN(Json build, fetch_for(settings, {}, "this machine", flags, cancel));
    builds.push(std::move(build));
  }
  for (const std::string& file : flags.platforms) {
    TRY_ASSIGN(const std::string text, read_file(file, 8u << 20, "EH-P47"));
    TRY_ASSIGN(const Json document, parse_json(text, file));
    TRY_ASSIGN(platform::Platform platform, platform::platform_from_json(document, file));
    TRY_ASSIGN(Json build, fetch_for(settings, std::move(platform), file, flags, cancel));
    builds.push(std::move(build));
  }
  return Json::object().set("format", 1).set("fetched", std::move(builds));
}

Json list(const cache::Store& store, const Flags& flags) {
  Json builds = Json::array();
  std::uint64_t total = 0;
  for (const cache::Installed& build : store.list()) {
    total += build.size;
    builds.push(Json::object()
                    .set("build", build.build)
                    .set("engine", build.engine)
                    .set("version", build.version)
                    .set("flavor", build.flavor)
                    .set("digest", build.digest)
                    .set("size", build.size)
                    .set("installed_at", build.installed_at)
                    .set("folder", build.folder.native())
                    .set("read_only", build.read_only));
    if (!flags.common.json)
      std::printf("%-48s %10s%s\n", build.build.c_str(), format_bytes(build.size).c_str(),
                  build.read_only ? "  (read-only layer)" : "");
  }
  if (!flags.common.json) {
    if (builds.as_array().empty())
      std::printf("nothing is installed in %s\n", store.root().c_str());
    else
      std::printf("%zu builds, %s\n", builds.as_array().size(), format_bytes(total).c_str());
  }
  return Json::object().set("format", 1).set("cache", store.root().native()).set("builds", std::move(builds));
}

// Throws the damaged parts of a build away and installs it anew from what the catalogue (or its own record)
// says.
Result<void> repair(open::World& world, const std::string& id, const Flags& flags) {
  {
    TRY_ASSIGN(cache::Stage stage, world.store().stage("build-" + id));
    TRY(world.store().reject_damaged(id, stage).map([](const auto&) {}));
  }
  const auto& builds = world.catalogue().builds;
  const auto build =
      std::find_if(builds.begin(), builds.end(), [&](const auto& known) { return known->id == id; });
  if (build == builds.end()) return fail(diagnose("EH-S19").with("build", id));
  transfer::ProgressBar bar(stderr, flags.common.quiet);
  acquire::AcquireOptions options;
  options.transfer = world.transfer_options();
  return acquire::acquire(**build, world.store(), options, bar.callback(), world.cancel())
      .map([](const auto&) {});
}

Result<Json> verify(open::World& world, const Flags& flags, std::optional<Diagnosis>& worst) {
  std::vector<std::string> ids;
  if (!flags.build.empty()) ids.push_back(flags.build);
  if (flags.build.empty())
    for (const cache::Installed& build : world.store().list()) ids.push_back(build.build);
  Json builds = Json::array();
  for (const std::string& id : ids) {
    TRY_ASSIGN(const std::vector<cache::Problem> problems,
               world.store().verify(id, flags.deep, world.cancel()));
    Json found = Json::array();
    for (const cache::Problem& problem : problems) {
      found.push(Json::object()
                     .set("file", problem.path)
                     .set("problem", cache::name_of(problem.kind))
                     .set("diagnosis", explain::to_json(problem.diagnosis)));
      if (!flags.common.json)
        std::printf("%s  %s  %s\n", id.c_str(), cache::name_of(problem.kind), problem.path.c_str());
    }
    bool repaired = false;
    if (!problems.empty() && flags.repair) {
      TRY(repair(world, id, flags));
      TRY_ASSIGN(const std::vector<cache::Problem> left, world.store().verify(id, true, world.cancel()));
      repaired = left.empty();
    }
    if (!problems.empty() && !repaired && !worst) worst = problems.front().diagnosis;
    if (!flags.common.json)
      std::printf("%s  %s\n", id.c_str(),
                  problems.empty()
                      ? (flags.deep ? "every byte is right" : "every file is as it was installed")
                  : repaired ? "repaired"
                             : "damaged");
    builds.push(Json::object()
                    .set("build", id)
                    .set("ok", problems.empty() || repaired)
                    .set("repaired", repaired)
                    .set("problems", std::move(found)));
  }
  return Json::object().set("format", 1).set("builds", std::move(builds));
}

int verify_command(const settings::Settings& settings, const Flags& flags, const CancelToken& cancel) {
  open::World world(settings, {}, cancel);
  std::optional<Diagnosis> worst;
  auto verified = verify(world, flags, worst);
  if (!verified) return end_with(verified.error(), flags.common.json);
  if (flags.common.json) print(*verified);
  if (!worst) return 0;
  if (!flags.common.json) std::fprintf(stderr, "%s\n", explain::describe(*worst).c_str());
  return static_cast<int>(explain::exit_status(*worst));
}

Result<Json> remove(const cache::Store& store, const Flags& flags) {
  TRY_ASSIGN(const std::uint64_t freed, store.remove(flags.build));
  if (!flags.common.json)
    std::printf("%s removed, %s freed\n", flags.build.c_str(), format_bytes(freed).c_str());
  return Json::object().set("format", 1).set("removed", flags.build).set("freed", freed);
}

int run(int argc, char** argv) {
  CLI::App app{"Seeds, lists, checks and mends the cache of engine builds."};
  app.name("engine-cache");
  app.require_subcommand(1);
  // Flags may stand before or after the subcommand.
  app.fallthrough();
  Flags flags;
  QuarantineFlags quarantine_flags;
  flags.common.add_to(app);
  CLI::App* fetching = app.add_subcommand("fetch", "install a build for this machine or another");
  fetching->add_option("ENGINE[@VERSION]", flags.engine)->required();
  fetching->add_option("--flavor", flags.flavor, "exactly this flavor");
  fetching->add_option("--platform", flags.platforms, "a recorded machine to fetch for; repeatable");
  CLI::App* listing = app.add_subcommand("list", "what is installed");
  CLI::App* path = app.add_subcommand("path", "where the cache is");
  CLI::App* verifying = app.add_subcommand("verify", "look for damage");
  verifying->add_flag("--deep", flags.deep, "hash every file");
  verifying->add_flag("--repair", flags.repair, "fetch what is damaged again");
  verifying->add_option("ID", flags.build, "one build; all without it");
  CLI::App* removing = app.add_subcommand("remove", "remove an installed build");
  removing->add_option("ID", flags.build)->required();
  CLI::App* quarantining = add_quarantine(app, quarantine_flags);
  OfflineCommands offline(app);
  if (const auto status = parse(app, argc, argv)) return *status;

  auto settings = settings_of(flags.common);
  if (!settings) return end_with(settings.error(), flags.common.json);
  const CancelToken cancel = cancel_on_signal();
  const cache::Store store =
      cache::Store::open(settings->cache_folder, settings->system_layers, "engine-cache");
  if (fetching->parsed()) return report(fetch(*settings, flags, cancel), flags.common.json);
  if (listing->parsed()) return report(list(store, flags), flags.common.json);
  if (removing->parsed()) return report(remove(store, flags), flags.common.json);
  if (verifying->parsed()) return verify_command(*settings, flags, cancel);
  if (const auto status = offline.run(*settings, flags.common, cancel)) return *status;
  if (quarantining->parsed()) return run_quarantine(*settings, quarantine_flags, flags.common.json);
  if (path->parsed() && flags.common.json)
    print(Json::object().set("format", 1).set("cache", store.root().native()));
  else
    std::printf("%s\n", store.root().c_str());
  return 0;
}

}  // namespace
}  // namespace enginehost::commands

int main(int argc, char** argv) {
  const bool json = std::find(argv + 1, argv + argc, std::string_view("--json")) != argv + argc;
  return enginehost::commands::guarded(json, [&] { return enginehost::commands::run(argc, argv); });
}
