// engine-cache import and request, for machines without a network. Import installs a bundle's builds into the
// cache, or into the layer that all users read. Request writes down what a machine needs; one with a network
// answers with engine-cache fulfil (tools/commands).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <set>

#include "base/files.hpp"
#include "base/named_file.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "cache/layer_trust.hpp"
#include "host/attempt/install.hpp"
#include "host/catalog/repositories.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/engine_cache.hpp"
#include "host/commands/say.hpp"
#include "host/commands/system.hpp"
#include "host/explain/explain.hpp"
#include "host/offline/import_bundle.hpp"
#include "host/offline/request.hpp"
#include "host/settings/policy.hpp"

namespace enginehost::commands {
namespace {

struct ImportFlags {
  std::string file, layer;
  bool unsigned_allowed = false;
};

cache::Store target_of(const CacheRun& run, const ImportFlags& flags) {
  if (flags.layer != "system") return run.store();
  // The first layer that is searched; if there is none yet, the default place of one.
  const auto& layers = run.settings.system_layers;
  return cache::Store::open(
      layers.empty() ? settings::Environment::of_this_process().system_layer : layers.front(), {},
      "engine-cache");
}

// Returns the stores that may hold files which the request lists as present: the cache and all layers.
std::vector<cache::Store> places_beside(const CacheRun& run, const ImportFlags& flags,
                                        const cache::Store& target) {
  std::vector<cache::Store> places;
  if (flags.layer != "system") return places;  // the store itself searches the layers
  for (const std::filesystem::path& layer : run.settings.system_layers)
    if (layer != target.root()) places.push_back(cache::Store::open(layer, {}, "engine-cache"));
  places.push_back(cache::Store::open(run.settings.cache_folder, {}, "engine-cache"));
  return places;
}

// Returns why this machine takes nothing from the layer that was imported into.
std::vector<std::string> why_not_used(const CacheRun& run, const cache::Store& store) {
  std::vector<std::string> warnings;
  for (const Diagnosis& why : cache::layers_passed_over({store.root()}))
    warnings.push_back(explain::one_line(why));
  // Without a list, an existing layer is used.
  const settings::Setting* given = run.settings.find("system_layers");
  if (run.settings.system_layers.empty() && given != nullptr)
    warnings.push_back("no build is taken from " + path_text(store.root()) + " here: system_layers = [] (" +
                       given->source + ") does not list it; add it there");
  return warnings;
}

Json reported(const offline::ImportedBuild& build, bool as_text) {
  const cache::Installed& installed = build.installed;
  if (as_text)
    say("%s  %s  %s%s\n", installed.build.c_str(),
        build.was_there ? "was there already" : ("imported " + format_bytes(installed.size)).c_str(),
        path_text(installed.folder).c_str(),
        build.files_named_by_manifest ? "" : "  (file list not signed; taken from the bundle)");
  return Json::object()
      .set("build", installed.build)
      .set("digest", installed.digest)
      .set("folder", path_text(installed.folder))
      .set("layer", path_text(installed.layer))
      .set("size", installed.size)
      .set("was_there", build.was_there)
      .set("from_repository", build.from_repository)
      .set("signed_by", Json::strings(build.signed_by))
      .set("files_named_by", build.files_named_by_manifest ? "manifest" : "bundle");
}

Result<Json> import_into_store(const CacheRun& run, const ImportFlags& flags) {
  const cache::Store store = target_of(run, flags);
  TRY(become_owner(store.root(), run.common.quiet || run.common.json));
  open::OpenContext context(run.settings, {}, run.cancel);
  offline::ImportRequest request;
  request.file = given_path(flags.file);
  // A policy that demands signatures of the built-in repository demands them of a bundle, too.
  const settings::Policy& policy = run.settings.policy;
  const catalog::OwnRepository own = catalog::own_repository(run.settings);
  request.own_manifests = own.manifests;
  request.own_repository = own.location;
  const bool by_policy = !policy.unsigned_repositories || policy.require_signatures;
  const bool for_everyone = flags.layer == "system" && !flags.unsigned_allowed;
  request.unsigned_allowed = !by_policy && !for_everyone;
  const manifest::TrustStore keys = catalog::trust_store(run.settings);
  const manifest::Trust trust = catalog::trust_in(keys, run.settings, true);
  request.trust = &trust;
  // A list or a lock of repositories applies to bundles, too.
  request.origin = [&](const std::string& build, const std::string& repository, const std::string& doubt) {
    return settings::check_origin(run.settings, build, repository, doubt);
  };
  // The refusal names the rule and its file, as for a folder or URL.
  request.refuse_unsigned = [&](const std::string& build, const std::string& repository,
                                std::string_view problem) {
    if (!by_policy)
      return std::move(diagnose(Code::bundle_files_not_listed)
                           .with(Key::build, build)
                           .with(Key::problem, problem)
                           .with(Key::for_everyone, path_text(store.root())));
    std::string what = build + " of a bundle";
    if (!repository.empty()) what += ", which comes from the repository \"" + repository + "\"";
    return std::move(
        settings::unsigned_refused(policy, what + ": " + std::string(problem)).with(Key::build, build));
  };
  request.blocked = [&](const offline::VerifiedBuild& build,
                        const std::vector<manifest::Blocked>& by_bundle) {
    manifest::InstalledAs as{build.trees, build.repository, build.signed_by};
    as.digests.push_back(cache::digest_of_trees(build.trees));
    return catalog::block_of(run.settings, keys, build.build, as, by_bundle);
  };
  request.names = catalog::names_in(store, run.settings, open::OpenContext::now());
  request.also_here = places_beside(run, flags, store);
  request.readable_by_all = flags.layer == "system";
  request.unpacked_limit = run.settings.downloads.max_unpacked_bytes;
  request.cancel = run.cancel;
  request.now = open::OpenContext::now();
  transfer::ProgressBar bar(stderr, run.common.quiet, run.prints_text());
  request.consent = consent_for(context, &bar);
  request.progress = bar_for(bar, path_text(request.file));
  if (request.readable_by_all || is_system_layer(store, run.settings)) set_system_layer_umask();
  if (flags.layer != "system") TRY(open::repair_places(context));
  auto imports = offline::import_bundle(store, request);
  if (!imports && for_everyone &&
      (imports.error().code == Code::too_few_signatures || imports.error().code == Code::key_not_trusted))
    imports.error().with(Key::named_by, "--layer system");
  // The failure must not suggest another cache, because the layer was asked for.
  if (!imports && request.readable_by_all && imports.error().code == Code::folder_not_writable)
    imports.error() =
        std::move(explain::of_this_cache(std::move(imports).error())
                      .within("while importing for all users; without --layer system the bundle "
                              "goes into this user's own cache"));
  TRY_ASSIGN(offline::Imported imported, std::move(imports));
  if (request.readable_by_all)
    for (std::string& warning : why_not_used(run, store)) imported.warnings.push_back(std::move(warning));
  bar.clear();
  for (const offline::ImportedBuild& build : imported.builds)
    context.note("import", Json::object()
                               .set("build", build.installed.build)
                               .set("digest", build.installed.digest)
                               .set("layer", path_text(store.root())));
  Json builds = Json::array();
  for (const offline::ImportedBuild& build : imported.builds) builds.push(reported(build, run.prints_text()));
  run.warn(context.warnings());
  run.warn(imported.warnings);
  return Json::object()
      .set("format", 1)
      .set("layer", path_text(store.root()))
      .set("builds", std::move(builds))
      .set("warnings", Json::strings(imported.warnings));
}

struct RequestFlags {
  std::string file, flavor, device, require;
  std::vector<std::string> engines;
};

Result<std::vector<offline::EngineConstraint>> constraints_of(const RequestFlags& flags,
                                                              const cache::Store& store) {
  std::set<std::string> engines(flags.engines.begin(), flags.engines.end());
  if (engines.empty()) {
    std::vector<Diagnosis> unread;
    for (const cache::Installed& installed : store.list(&unread)) engines.insert(installed.engine);
    if (!unread.empty()) return fail(std::move(unread.front()));
  }
  std::vector<offline::EngineConstraint> constraints;
  for (const std::string& text : engines) {
    TRY_ASSIGN(const resolve::Request asked_for,
               request_of("engine-cache", {text, flags.flavor, flags.require, flags.device}));
    offline::EngineConstraint constraint;
    constraint.engine = asked_for.engine;
    constraint.version = asked_for.version;
    constraint.flavor = asked_for.flavor;
    constraint.require = asked_for.require;
    constraint.device = asked_for.device;
    constraints.push_back(std::move(constraint));
  }
  return constraints;
}

Result<Json> write_request(const CacheRun& run, const RequestFlags& flags) {
  open::OpenContext context(run.settings, {}, run.cancel);
  TRY_ASSIGN(auto constraints, constraints_of(flags, context.store()));
  if (constraints.empty())
    return fail(wrong_usage("engine-cache", "nothing is installed, so an ENGINE has to be named"));
  TRY(context.check_records());  // the request lists what is quarantined here
  const offline::SiteRequest request = offline::request_of_this_machine(context, std::move(constraints));
  TRY_ASSIGN(const std::filesystem::path file, place_for_file(given_path(flags.file), "engine-cache"));
  TRY(explain::mark_as_argument(write_file(file, request.text())));
  std::vector<std::string> wanted;
  for (const offline::EngineConstraint& constraint : request.constraints)
    wanted.push_back(constraint.engine + (constraint.version.empty() ? "" : "@" + constraint.version));
  if (run.prints_text())
    say("%s asks for %s; answer it where there is a network: engine-cache fulfil %s\n",
        path_text(file).c_str(), join(wanted, ", ").c_str(), shell_word(path_text(file.filename())).c_str());
  return Json::object()
      .set("format", 1)
      .set("file", path_text(file))
      .set("wishes", Json::strings(wanted))
      .set("installed", Json::strings(request.installed))
      .set("holds", static_cast<std::uint64_t>(request.holds.size()));
}

}  // namespace

std::vector<CacheSubcommand> add_import(CLI::App& app) {
  const auto flags = std::make_shared<ImportFlags>();
  CLI::App* importing = app.add_subcommand("import", "install the builds of a bundle");
  importing->add_option("FILE", flags->file, "a bundle, or the beginning of the names of its parts")
      ->required();
  importing
      ->add_option("--layer", flags->layer,
                   "system: for all users of this machine; user: for you (the default)")
      ->check(CLI::IsMember({"system", "user"}))
      ->type_name("LAYER");
  importing->add_flag("--unsigned", flags->unsigned_allowed,
                      "with --layer system: also builds that nobody signed, for every user of this machine");
  return {{importing, [flags](const CacheRun& run) { return import_into_store(run, *flags); }}};
}

std::vector<CacheSubcommand> add_request(CLI::App& app) {
  const auto flags = std::make_shared<RequestFlags>();
  CLI::App* requesting = app.add_subcommand("request", "write down what this machine needs from another one");
  requesting->add_option("FILE", flags->file, "the request to write")->required();
  requesting->add_option("ENGINE[@VERSION]", flags->engines,
                         "the engines; without one: newer builds of what is installed");
  requesting->add_option("--flavor", flags->flavor, "prefer a flavor")->type_name("FLAVOR");
  requesting->add_option("--require", flags->require, "this flavor or none")->type_name("FLAVOR");
  requesting->add_option("--device", flags->device, "the device that must be opened")->type_name("DEVICE");
  return {{requesting, [flags](const CacheRun& run) { return write_request(run, *flags); }}};
}

}  // namespace enginehost::commands
