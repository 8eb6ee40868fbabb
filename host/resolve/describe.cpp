#include "host/resolve/describe.hpp"

#include <algorithm>

#include "base/columns.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

namespace enginehost::resolve {
namespace {

std::string reason_of(const Candidate& candidate, const std::vector<Check>& checks) {
  if (candidate.verdict == Verdict::quarantined || candidate.verdict == Verdict::disabled ||
      candidate.verdict == Verdict::failed) {
    const std::optional<Diagnosis> diagnosis = candidate.diagnosis();
    if (!diagnosis) return {};
    const std::string_view reason = diagnosis->value("reason");
    const std::string& cause = diagnosis->cause.empty() ? diagnosis->title : diagnosis->cause;
    return printable_line(diagnosis->code + " " + (reason.empty() ? cause : std::string(reason)));
  }
  const Check* check = decisive_check(checks);
  const std::string early = candidate.behind_releases ? "a prerelease; name it to get it" : "";
  if (candidate.forced) {
    const auto overridden =
        std::find_if(checks.begin(), checks.end(), [](const Check& one) { return one.overridden; });
    if (candidate.rank != 0 && overridden != checks.end())
      return "forced, although it needs " + overridden->requirement + ", found " + overridden->observed;
  }
  if (check == nullptr) return !early.empty() ? early : candidate.proven ? "proven here" : "";
  if (check->result == Answer::unknown)
    return (early.empty() ? "" : early + "; ") + "unknown: " + check->requirement + " (" + check->source +
           ")";
  if (check->code == "EH-S12" && !check->evidence.empty())
    return printable_line(check->code + " " + check->evidence.front().value);
  return check->code + " needs " + check->requirement + ", found " + check->observed;
}

// Texts of a manifest are untrusted. Each must stay in its own table cell.
std::vector<Check> printable_checks(const Candidate& candidate) {
  std::vector<Check> checks = candidate.checks();
  for (Check& check : checks)
    for (std::string* text : {&check.requirement, &check.observed, &check.source})
      *text = printable_line(*text);
  return checks;
}

void describe_checks(const std::vector<Check>& checks, std::string& text) {
  std::size_t widest = 0;
  for (const Check& check : checks) widest = std::max(widest, width_of(check.requirement));
  for (const Check& check : checks) {
    text +=
        "      " + padded(name_of(check.result), 9) + padded(check.requirement, widest + 2) + check.observed;
    if (!check.source.empty()) text += "  [" + check.source + "]";
    if (!check.code.empty()) text += "  " + check.code + (check.overridden ? " (overridden by force)" : "");
    text += "\n";
  }
}

}  // namespace

// The names are in the order of Verdict.
const char* name_of(Verdict verdict) {
  static constexpr const char* names[] = {"chosen",   "fits",   "rejected",   "quarantined",
                                          "disabled", "failed", "unavailable"};
  return names[static_cast<std::size_t>(verdict)];
}

const Check* decisive_check(const std::vector<Check>& checks) {
  const Check *unknown = nullptr, *left_to_preflight = nullptr;
  for (const Check& check : checks) {
    if (check.result == Answer::no && !check.overridden) return &check;
    if (check.result != Answer::unknown) continue;
    const Check*& first = check.left_to_preflight ? left_to_preflight : unknown;
    if (first == nullptr) first = &check;
  }
  return unknown != nullptr ? unknown : left_to_preflight;
}

std::optional<Check> decisive_check(const Candidate& candidate) {
  const std::vector<Check> checks = candidate.checks();
  const Check* check = decisive_check(checks);
  return check != nullptr ? std::optional(*check) : std::nullopt;
}

Diagnosis diagnosis_of(const manifest::Build& build, const Check& check) {
  Diagnosis diagnosis = diagnose(check.code).with("build", build.id, "catalog");
  diagnosis.with("engine", build.engine, "catalog");
  diagnosis.with("requirement", check.requirement, "manifest").with("observed", check.observed, check.source);
  for (const Evidence& evidence : check.evidence) diagnosis.evidence.push_back(evidence);
  if (diagnosis.value("required").empty()) diagnosis.with("required", check.requirement, "manifest");
  if (diagnosis.value("found").empty()) diagnosis.with("found", check.observed, check.source);
  return diagnosis;
}

std::string describe_plan(const Plan& plan, bool explain,
                          const std::function<std::string(const Candidate&)>& note) {
  std::size_t build_width = 5, hidden = 0;
  // Builds for other systems are only counted, unless everything is explained.
  const auto is_shown = [&](const Candidate& candidate, const std::vector<Check>& checks) {
    if (explain || candidate.verdict != Verdict::rejected) return true;
    const Check* check = decisive_check(checks);
    return check == nullptr || (check->code != "EH-S03" && check->code != "EH-S05");
  };
  struct TableRow {
    const Candidate& candidate;
    std::vector<Check> checks;
  };
  std::vector<TableRow> rows;
  for (const Candidate& candidate : plan.candidates) {
    std::vector<Check> checks = printable_checks(candidate);
    if (!is_shown(candidate, checks)) {
      ++hidden;
      continue;
    }
    build_width = std::max(build_width, candidate.build->id.size());
    rows.push_back({candidate, std::move(checks)});
  }
  std::string text;
  if (!rows.empty())
    text = padded("rank", 6) + padded("build", build_width + 2) + padded("verdict", 13) + "because\n";
  for (const auto& [candidate, checks] : rows) {
    std::string line = padded(candidate.rank != 0 ? std::to_string(candidate.rank) : "-", 6) +
                       padded(candidate.build->id, build_width + 2) + padded(name_of(candidate.verdict), 13) +
                       reason_of(candidate, checks);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (note && candidate.rank != 0) text += "      " + printable_line(note(candidate)) + "\n";
    if (explain) describe_checks(checks, text);
  }
  if (hidden != 0) text += "and " + pluralize(hidden, "build", "builds") + " for other systems or versions\n";
  return text;
}

Json to_json(const Check& check) {
  Json json = Json::object();
  json.set("requirement", check.requirement)
      .set("observed", check.observed)
      .set("source", check.source)
      .set("result", name_of(check.result));
  if (!check.code.empty()) json.set("code", check.code);
  if (check.overridden) json.set("overridden", true);
  return json;
}

Json to_json(const Candidate& candidate) {
  Json checks = Json::array();
  for (const Check& check : candidate.checks()) checks.push(to_json(check));
  Json json = Json::object();
  json.set("build", candidate.build->id)
      .set("engine", candidate.build->engine)
      .set("version", candidate.build->version)
      .set("flavor", candidate.build->flavor)
      .set("rank", candidate.rank)
      .set("verdict", name_of(candidate.verdict))
      .set("proven", candidate.proven)
      .set("behind_releases", candidate.behind_releases)
      .set("forced", candidate.forced)
      .set("checks", std::move(checks));
  return json;
}

Json to_json(const Request& request) {
  Json json = Json::object();
  json.set("engine", request.engine)
      .set("version", request.version)
      .set("flavor", request.flavor)
      .set("device", request.device)
      .set("require", request.require)
      .set("offline", request.offline);
  if (!request.force.empty()) json.set("force", request.force);
  return json;
}

}  // namespace enginehost::resolve
