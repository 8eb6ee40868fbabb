// engine-cache request and fulfil: a machine without a network writes a request, and one with a network
// answers it.
#include <cstdio>
#include <set>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/cache_export.hpp"
#include "host/commands/offline.hpp"
#include "host/commands/request_args.hpp"
#include "host/commands/say.hpp"
#include "host/explain/explain.hpp"
#include "host/offline/bundle_writer.hpp"
#include "host/offline/request.hpp"
#include "host/open/document.hpp"

namespace enginehost::commands {
namespace {

constexpr std::uint64_t largest_request = 64u << 20;

Result<std::vector<offline::EngineConstraint>> constraints_of(const OfflineFlags& flags,
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

// Returns the file for the answer. ".request" is replaced with ".bundle"; any other name gets ".bundle"
// appended, so that two requests never share an answer.
Result<std::filesystem::path> answer_of(const std::filesystem::path& request, const std::string& output) {
  std::filesystem::path answer = given_path(output);
  if (output.empty()) {
    answer = request;
    if (answer.extension() == ".request")
      answer.replace_extension(".bundle");
    else
      answer += ".bundle";
  }
  std::error_code error;
  if (std::filesystem::equivalent(answer, request, error))
    return fail(wrong_usage("engine-cache", "--output " + output +
                                                " is the request that would be answered: "
                                                "write the answer under another name"));
  return answer;
}

}  // namespace

Result<Json> request_command(const OfflineRun& run) {
  open::OpenContext context(run.settings, {}, run.cancel);
  TRY_ASSIGN(auto constraints, constraints_of(run.flags, context.store()));
  if (constraints.empty())
    return fail(diagnose("EH-P40")
                    .with("program", "engine-cache")
                    .with("problem", "nothing is installed, so an ENGINE has to be named"));
  TRY(context.check_records());  // the request lists what is quarantined here
  const offline::SiteRequest request = offline::request_of_this_machine(context, std::move(constraints));
  TRY_ASSIGN(const std::filesystem::path file, offline::place_for_file(given_path(run.flags.file)));
  TRY(explain::mark_as_argument(write_file(file, request.text())));
  std::vector<std::string> wanted;
  for (const offline::EngineConstraint& constraint : request.constraints)
    wanted.push_back(constraint.engine + (constraint.version.empty() ? "" : "@" + constraint.version));
  if (!run.common.json)
    say("%s asks for %s; answer it where there is a network: engine-cache fulfil %s\n",
        path_text(file).c_str(), join(wanted, ", ").c_str(), shell_word(path_text(file.filename())).c_str());
  return Json::object()
      .set("format", 1)
      .set("file", path_text(file))
      .set("wishes", Json::strings(wanted))
      .set("installed", Json::strings(request.installed))
      .set("holds", static_cast<std::uint64_t>(request.holds.size()));
}

Result<Json> fulfil_command(const OfflineRun& run) {
  const std::filesystem::path file = given_path(run.flags.file);
  TRY_ASSIGN(const std::string text, read_file(file, largest_request, "EH-P47"));
  TRY_ASSIGN(const offline::SiteRequest request,
             explain::mark_as_argument(offline::read_request(text, path_text(file))));
  TRY_ASSIGN(const std::filesystem::path answer, answer_of(file, run.flags.output));
  transfer::ProgressBar bar(stderr, run.common.quiet, !run.common.json);
  // The decision is for the platform of the request, not for this machine.
  open::OpenContext context(run.settings, request.platform, run.cancel);
  TRY_ASSIGN(const auto answers,
             offline::answer(run.settings, request,
                             {consent_for(context, &bar, run.common.yes), bar.callback(), {}}, run.cancel));
  bar.clear();
  Json answered = Json::array();
  for (const offline::Answer& given : answers) {
    answered.push(Json::object()
                      .set("engine", given.constraint.engine)
                      .set("build", given.build)
                      .set("was_there", given.was_there)
                      .set("downloaded", given.downloaded)
                      .set("passed_over", Json::strings(given.passed_over))
                      .set("turned_down", open::turned_down_document(given.turned_down))
                      .set("warnings", open::warnings_document(context, given.warnings)));
    if (!run.common.json && !given.passed_over.empty())
      say("%s  is quarantined on the machine that asks (it failed there, or was disabled): %s instead\n",
          join(given.passed_over, ", ").c_str(), given.build.c_str());
    for (const open::TurnedDown& one : given.turned_down)
      if (!run.common.json)
        say("%s  %s: %s instead\n", one.build.c_str(), one.why ? explain::one_line(*one.why).c_str() : "",
            given.build.c_str());
    print_warnings({}, given.warnings, run.common.quiet || run.common.json);
    if (!run.common.json && given.was_there) say("%s  is there already\n", given.build.c_str());
  }
  Json document = Json::object();
  offline::ExportRequest writing;
  writing.selection = offline::selection_for(request, answers);
  if (!writing.selection.builds.empty()) {
    writing.file = answer;
    writing.selection.licenses_by_order.insert(run.flags.redistribute.begin(), run.flags.redistribute.end());
    TRY_ASSIGN(writing.largest_part, given_size("--max-part", run.flags.max_part));
    writing.progress = bar_for(bar, path_text(writing.file));
    TRY_ASSIGN(const offline::Exported exported,
               explain::mark_as_argument(offline::export_bundle(context, writing), writing.file));
    bar.clear();
    note_export(context, exported, writing.file);
    document = reported(exported, writing.file, !run.common.json);
  }
  return std::move(document.set("format", 1).set("answers", std::move(answered)));
}

}  // namespace enginehost::commands
