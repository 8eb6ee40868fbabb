#include "tools/commands/follow.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/version.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/common.hpp"
#include "host/commands/say.hpp"
#include "host/commands/system.hpp"
#include "host/context/open_context.hpp"
#include "host/explain/explain.hpp"
#include "host/transfer/progress_bar.hpp"
#include "tools/follow/follow.hpp"

namespace enginehost::commands {
namespace {

struct FollowFlags {
  std::string plan, repository, package_index;
  bool check = false;
  std::vector<std::string> only;
};

Result<int> run_follow(const FollowFlags& flags, const FollowOutput& output) {
  CommonFlags common;
  common.values.offline = output.offline ? std::optional(true) : std::nullopt;
  if (!flags.package_index.empty()) common.values.package_index = flags.package_index;
  TRY_ASSIGN(const settings::Settings settings, settings_of(common));
  const CancelToken cancel = cancel_on_signal();
  const open::OpenContext context(settings, {}, cancel);
  follow::FollowRequest request;
  request.plan = given_path(flags.plan);
  request.check = flags.check;
  request.only = flags.only;
  request.prove_in = flags.repository;
  request.programs = executable_folder();
  request.options = context.transfer_options();
  request.now = open::OpenContext::now();
  request.cancel = cancel;
  std::optional<transfer::ProgressBar> bar(std::in_place, stderr, output.quiet, !output.json);
  request.progress = bar->callback();
  request.step = [&](const std::string& row) { bar->step("reading", row); };
  const auto report = follow::follow(request);
  bar.reset();
  if (!report) return fail(explain::mark_as_argument(report.error()));
  if (output.json)
    print(follow::to_json(*report));
  else
    say("%s", follow::text_of(*report, output.verbose).c_str());
  for (const std::string& version : flags.only)
    if (std::none_of(report->rows.begin(), report->rows.end(), [&](const follow::ReportedRow& row) {
          return compare_versions(row.version, version) == 0;
        }))
      return fail(wrong_usage("engine-manifest follow",
                              "--only " + version + ": no track of " + flags.plan +
                                  " keeps this release now; name it in \"keep\" of a track"));
  if (const Diagnosis* const failure = follow::first_failure(*report))
    return static_cast<int>(explain::exit_status(*failure));
  return flags.check && report->changed ? 1 : 0;
}

}  // namespace

std::function<Result<int>()> add_follow(CLI::App& app, const FollowOutput& output) {
  const auto flags = std::make_shared<FollowFlags>();
  CLI::App* const following =
      app.add_subcommand("follow", "take rows of new releases from the package index");
  following->add_option("PLAN", flags->plan, "the plan file")->required();
  const char* group = "Following";
  following->add_flag("--check", flags->check, "write nothing; exit status 1 if something would change")
      ->group(group);
  repeatable(following->add_option("--only", flags->only,
                                   "derive rows of this release only; repeatable. Others stay as they are"))
      ->type_name("VERSION")
      ->group(group);
  following
      ->add_option("--prove", flags->repository,
                   "then open each unproven build of this repository that fits this machine, with its "
                   "self-test and the plan's models")
      ->type_name("REPOSITORY")
      ->group(group);
  following
      ->add_option("--package-index", flags->package_index,
                   "read this index in place of those that pip is configured for")
      ->type_name("URL")
      ->group(group);
  return [flags, output]() -> Result<int> { return run_follow(*flags, output); };
}

}  // namespace enginehost::commands
