#include "host/commands/audit_check.hpp"

#include <cstdio>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/commands/say.hpp"
#include "host/settings/audit.hpp"

namespace enginehost::commands {

Json check_audit_log(const settings::Settings& settings, bool print_text, std::optional<Diagnosis>& worst) {
  const auto folder = settings.state_folder / "audit";
  Json document = Json::object().set("folder", path_text(folder));
  const auto report = settings::check_audit(settings.state_folder);
  if (!report) {
    if (!worst) worst = report.error();
    return document.set("ok", false);
  }
  Json problems = Json::array();
  for (const settings::AuditProblem& problem : report->problems) {
    problems.push(
        Json::object().set("file", problem.file).set("line", problem.line).set("problem", problem.problem));
    if (print_text)
      say("audit log  %s line %lld  %s\n", problem.file.c_str(), static_cast<long long>(problem.line),
          problem.problem.c_str());
  }
  if (!report->problems.empty() && !worst) {
    const settings::AuditProblem& first = report->problems.front();
    worst = std::move(diagnose("EH-P04")
                          .with("file", first.file)
                          .with("line", std::to_string(first.line))
                          .with("problem", first.problem)
                          .with("count", std::to_string(report->problems.size())));
  }
  if (print_text && report->events > 0)
    say("audit log  %s, %s\n",
        pluralize(static_cast<std::uint64_t>(report->events), "event", "events").c_str(),
        report->problems.empty() ? "each follows the one before it" : "not as it was written");
  return document.set("files", report->files)
      .set("events", report->events)
      .set("last", report->last)
      .set("ok", report->problems.empty())
      .set("problems", std::move(problems));
}

}  // namespace enginehost::commands
