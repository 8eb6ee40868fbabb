// engine-cache request: a machine without a network writes down what it needs. One with a network answers
// with engine-cache fulfil (tools/commands).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <set>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/engine_cache.hpp"
#include "host/commands/say.hpp"
#include "host/explain/explain.hpp"
#include "host/offline/request.hpp"

namespace enginehost::commands {
namespace {

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
  TRY_ASSIGN(const std::filesystem::path file, offline::place_for_file(given_path(flags.file)));
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
