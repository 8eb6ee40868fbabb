// engine-cache fulfil: answers the request of a machine without a network (engine-cache request).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/say.hpp"
#include "host/explain/explain.hpp"
#include "host/open/open.hpp"
#include "tools/commands/engine_cache.hpp"
#include "tools/offline/answer.hpp"

namespace enginehost::commands {
namespace {

constexpr std::uint64_t largest_request = 64u << 20;

struct FulfilFlags {
  std::string file, output;
  WritingFlags writing;
};

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

Result<Json> answer_request(const CacheRun& run, const FulfilFlags& flags) {
  const std::filesystem::path file = given_path(flags.file);
  TRY_ASSIGN(const std::string text, read_file(file, largest_request, Code::given_file_not_readable));
  TRY_ASSIGN(const offline::SiteRequest request,
             explain::mark_as_argument(offline::read_request(text, path_text(file))));
  TRY_ASSIGN(const std::filesystem::path answer, answer_of(file, flags.output));
  transfer::ProgressBar bar(stderr, run.common.quiet, run.prints_text());
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
    if (run.prints_text() && !given.passed_over.empty())
      say("%s  is quarantined on the machine that asks (it failed there, or was disabled): %s instead\n",
          join(given.passed_over, ", ").c_str(), given.build.c_str());
    for (const open::TurnedDown& one : given.turned_down)
      if (run.prints_text())
        say("%s  %s: %s instead\n", one.build.c_str(), one.why ? explain::one_line(*one.why).c_str() : "",
            given.build.c_str());
    run.warn({}, given.warnings);
    if (run.prints_text() && given.was_there) say("%s  is there already\n", given.build.c_str());
  }
  Json document = Json::object();
  offline::ExportRequest writing;
  writing.selection = offline::selection_for(request, answers);
  if (!writing.selection.builds.empty()) {
    writing.file = answer;
    writing.selection.licenses_by_order.insert(flags.writing.redistribute.begin(),
                                               flags.writing.redistribute.end());
    TRY_ASSIGN(writing.largest_part, given_size("--max-part", flags.writing.max_part));
    writing.progress = bar_for(bar, path_text(writing.file));
    TRY_ASSIGN(const offline::Exported exported,
               explain::mark_as_argument(offline::export_bundle(context, writing), writing.file));
    bar.clear();
    note_export(context, exported, writing.file);
    run.warn(exported.warnings);
    document = reported(exported, writing.file, run.prints_text());
  }
  return std::move(document.set("format", 1).set("answers", std::move(answered)));
}

}  // namespace

std::vector<CacheSubcommand> add_fulfil(CLI::App& app) {
  const auto flags = std::make_shared<FulfilFlags>();
  CLI::App* fulfilling = app.add_subcommand("fulfil", "answer another machine's request with a bundle");
  fulfilling->add_option("FILE", flags->file, "the request")->required();
  fulfilling
      ->add_option("--output", flags->output, "the bundle to write; without it NAME.bundle for NAME.request")
      ->type_name("FILE");
  add_writing_flags(*fulfilling, flags->writing);
  return {{fulfilling, [flags](const CacheRun& run) { return answer_request(run, *flags); }}};
}

}  // namespace enginehost::commands
