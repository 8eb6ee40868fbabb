#include "host/resolve/describe.hpp"

#include <algorithm>

#include "base/columns.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

namespace enginehost::resolve {
namespace {

std::string reason_of(const Candidate& candidate) {
  if (candidate.turned_down && candidate.verdict != Verdict::chosen) {
    const Diagnosis& diagnosis = *candidate.turned_down;
    const std::string_view reason = diagnosis.value("reason");
    const std::string& cause = diagnosis.cause.empty() ? diagnosis.title : diagnosis.cause;
    return printable_line(diagnosis.code + " " + (reason.empty() ? cause : std::string(reason)));
  }
  const Check* check = decisive_check(candidate);
  const std::string early = candidate.behind_releases ? "a prerelease; name it to get it" : "";
  const auto overridden = std::ranges::find_if(candidate.checks, &Check::overridden);
  if (candidate.rank != 0 && overridden != candidate.checks.end())
    return "forced, although it " + needs_and_found(*overridden);
  if (check == nullptr) return !early.empty() ? early : candidate.proven ? "proven here" : "";
  if (check->result == Answer::unknown)
    return (early.empty() ? "" : early + "; ") + "unknown: " + check->requirement + " (" + check->source +
           ")";
  if (check->code == "EH-S12" && !check->evidence.empty())
    return printable_line(check->code + " " + check->evidence.front().value);
  return check->code + " " + needs_and_found(*check);
}

// Texts of a manifest are untrusted. Each must stay in its own table cell.
Candidate printable_candidate(Candidate candidate) {
  for (Check& check : candidate.checks)
    for (std::string* text : {&check.requirement, &check.observed, &check.source})
      *text = printable_line(*text);
  return candidate;
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

const char* name_of(Answer answer) {
  return answer == Answer::yes ? "yes" : answer == Answer::no ? "no" : "unknown";
}

const Check* decisive_check(const Candidate& candidate) {
  const Check *unknown = nullptr, *left_to_preflight = nullptr;
  for (const Check& check : candidate.checks) {
    if (check.result == Answer::no && !check.overridden) return &check;
    if (check.result != Answer::unknown) continue;
    const Check*& first = check.left_to_preflight ? left_to_preflight : unknown;
    if (first == nullptr) first = &check;
  }
  return unknown != nullptr ? unknown : left_to_preflight;
}

std::string needs_and_found(const Check& check) {
  return "needs " + check.requirement + ", found " + check.observed;
}

std::string describe_plan(const Plan& plan, bool explain,
                          const std::function<std::string(const Candidate&)>& note) {
  std::size_t build_width = 5, hidden = 0;
  std::vector<Candidate> rows;
  for (const Candidate& candidate : plan.candidates) {
    // Builds for other systems are only counted, unless everything is explained.
    const Check* const check = decisive_check(candidate);
    if (!explain && candidate.verdict == Verdict::rejected && check != nullptr &&
        (check->code == "EH-S03" || check->code == "EH-S05")) {
      ++hidden;
      continue;
    }
    build_width = std::max(build_width, candidate.build->id.size());
    rows.push_back(printable_candidate(candidate));
  }
  std::string text;
  if (!rows.empty())
    text = padded("rank", 6) + padded("build", build_width + 2) + padded("verdict", 13) + "because\n";
  for (const Candidate& candidate : rows) {
    std::string line = padded(candidate.rank != 0 ? std::to_string(candidate.rank) : "-", 6) +
                       padded(candidate.build->id, build_width + 2) + padded(name_of(candidate.verdict), 13) +
                       reason_of(candidate);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (note && candidate.rank != 0) text += "      " + printable_line(note(candidate)) + "\n";
    if (explain) describe_checks(candidate.checks, text);
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
  for (const Check& check : candidate.checks) checks.push(to_json(check));
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
