// engine-cache push: sends installed builds to an OCI registry.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/files.hpp"
#include "base/named_file.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/acquire/acquire.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/say.hpp"
#include "host/context/open_context.hpp"
#include "host/explain/explain.hpp"
#include "host/transfer/progress_bar.hpp"
#include "host/transfer/transfer.hpp"
#include "tools/commands/engine_cache.hpp"
#include "tools/oci/push.hpp"

namespace enginehost::commands {
namespace {

struct PushFlags {
  std::vector<std::string> what;  // builds as in arguments.hpp, and the registry last
  std::vector<std::string> redistribute;
  std::string manifest;
};

// Returns one EngineHost manifest of all pushed builds. A repository publishes it, so that machines fetch
// from the registry.
Result<Json> manifest_of(const std::vector<oci::Artifact>& artifacts, const oci::Pushed& pushed) {
  Json components = Json::object(), licenses = Json::object(), builds = Json::array();
  std::int64_t serial = 0;
  for (std::size_t i = 0; i < artifacts.size(); ++i) {
    if (artifacts[i].engine != artifacts.front().engine)
      return fail(wrong_usage("engine-cache",
                              "--manifest: a manifest describes one engine, and these builds are of " +
                                  artifacts.front().engine + " and " + artifacts[i].engine));
    const Json description = artifacts[i].description_with(pushed.references[i]);
    serial = std::max(serial, description["serial"].as_integer());
    for (const auto& [id, component] : description["components"].as_object()) components.set(id, component);
    for (const auto& [id, license] : description["licenses"].as_object()) licenses.set(id, license);
    for (const Json& build : description["builds"].as_array()) builds.push(build);
  }
  return Json::object()
      .set("format", 1)
      .set("engine", artifacts.front().engine)
      .set("serial", serial)
      .set("licenses", std::move(licenses))
      .set("components", std::move(components))
      .set("builds", std::move(builds));
}

Result<Json> push(const CacheRun& run, const PushFlags& flags) {
  const settings::Settings& settings = run.settings;
  TRY(run.store().check_place());
  TRY_ASSIGN(const oci::Reference target, oci::read_reference(flags.what.back()));
  open::OpenContext context(settings, {}, run.cancel);
  TRY(context.store().check_readable());
  TRY_ASSIGN(const std::vector<std::string> ids,
             installed_builds(context.store(), {flags.what.begin(), flags.what.end() - 1}));
  oci::PushOptions options;
  options.transfer = context.transfer_options();
  options.transfer.named_origins.push_back(transfer::origin_of("https://" + target.host));
  options.cancel = run.cancel;
  if (settings.offline) return fail(diagnose(Code::offline).with(Key::url, target.text()));
  std::optional<transfer::ProgressBar> bar(std::in_place, stderr, run.common.quiet, run.prints_text());
  options.progress = bar->callback();
  // The stage has a key of its own, so that an installation of these builds, or a push to another registry,
  // need not wait.
  TRY_ASSIGN(const cache::Stage stage,
             context.store().stage("push-" + sha256_hex(target.text()).substr(0, 16),
                                   acquire::waiting(options.progress, run.cancel)));
  std::vector<oci::Artifact> artifacts;
  std::vector<cache::Lease> leases;
  for (const std::string& id : ids) {
    TRY_ASSIGN(const auto installed, context.store().record_of(id));
    if (!installed) return fail(context.store().not_installed(id));
    TRY_ASSIGN(cache::Lease lease, context.store().lease(*installed));
    leases.push_back(std::move(lease));
    oci::ArtifactRequest request;
    TRY_ASSIGN(request.folder, make_private_folder(stage.folder(), "pack-"));
    request.redistribute.insert(flags.redistribute.begin(), flags.redistribute.end());
    TRY_ASSIGN(oci::Artifact artifact, oci::make_artifact(*installed, request, run.cancel));
    artifacts.push_back(std::move(artifact));
  }
  TRY_ASSIGN(const oci::Pushed pushed, oci::push(target, artifacts, options));
  bar.reset();
  context.note("push", Json::object()
                           .set("builds", Json::strings(ids))
                           .set("reference", pushed.reference)
                           .set("redistribute", Json::strings(flags.redistribute)));
  run.warn(context.warnings());
  if (!flags.manifest.empty()) {
    TRY_ASSIGN(const Json manifest, manifest_of(artifacts, pushed));
    TRY_ASSIGN(const std::filesystem::path file,
               place_for_file(std::filesystem::absolute(path_of(flags.manifest)), "engine-cache"));
    TRY(explain::mark_as_argument(write_file(file, manifest.dump(1) + "\n")));
  }
  Json builds = Json::array();
  for (std::size_t i = 0; i < artifacts.size(); ++i) {
    builds.push(Json::object().set("build", artifacts[i].build).set("reference", pushed.references[i]));
    if (run.prints_text()) say("%s  %s\n", artifacts[i].build.c_str(), pushed.references[i].c_str());
  }
  if (run.prints_text())
    say("%s: %s sent, %d of %s there already\n", pushed.reference.c_str(), format_bytes(pushed.sent).c_str(),
        pushed.blobs_present,
        pluralize(static_cast<std::uint64_t>(pushed.blobs_present + pushed.blobs_sent), "blob was",
                  "blobs were")
            .c_str());
  return Json::object()
      .set("format", 1)
      .set("pushed", std::move(builds))
      .set("reference", pushed.reference)
      .set("sent", pushed.sent)
      .set("blobs_sent", pushed.blobs_sent)
      .set("blobs_present", pushed.blobs_present);
}

}  // namespace

std::vector<CacheSubcommand> add_push(CLI::App& app) {
  const auto flags = std::make_shared<PushFlags>();
  CLI::App* pushing = app.add_subcommand("push", "send installed builds to an OCI registry");
  pushing->add_option("ID... HOST/NAME[:TAG]", flags->what, "installed builds, and the registry")
      ->required()
      ->expected(-2);  // two and more
  repeatable(pushing->add_option("--redistribute", flags->redistribute,
                                 "a license whose components you may pass on; repeatable"))
      ->type_name("ID");
  pushing->add_option("--manifest", flags->manifest, "write a manifest whose builds come from that registry")
      ->type_name("FILE");
  return {{pushing, [flags](const CacheRun& run) { return push(run, *flags); }}};
}

}  // namespace enginehost::commands
