#include "host/resolve/describe.hpp"

#include <algorithm>

#include "base/columns.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/resolve/passed_over.hpp"

namespace enginehost::resolve {
namespace {

constexpr std::size_t most_choices = 3, longest_cell = 300, most_checks = 100;

std::string cut(std::string text) {
  if (text.size() <= longest_cell) return text;
  std::size_t end = longest_cell;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // within a character
  text.resize(end);
  return text + "...";
}

std::string reason_of(const Candidate& candidate, const OneLine& one_line) {
  if (candidate.turned_down && candidate.verdict != Verdict::chosen) {
    // The row of a quarantined build names it already.
    const std::string_view reason = candidate.turned_down->value(Key::reason);
    return printable_line(reason.empty() ? one_line(*candidate.turned_down)
                                         : std::string(text_of(candidate.turned_down->code)) + " " +
                                               std::string(reason));
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
  if (check->code == Code::no_plugin_for_build && !check->evidence.empty())
    return printable_line(std::string(text_of(check->code)) + " " + check->evidence.front().value);
  return std::string(text_of(check->code)) + " " + needs_and_found(*check);
}

// Texts of a manifest are untrusted. Each must stay in its own table cell.
Candidate printable_candidate(Candidate candidate) {
  if (candidate.checks.size() > most_checks) candidate.checks.resize(most_checks);
  for (Check& check : candidate.checks)
    for (std::string* text : {&check.requirement, &check.observed, &check.source})
      *text = printable_line(cut(std::move(*text)));
  return candidate;
}

void describe_checks(const std::vector<Check>& checks, std::string& text) {
  std::size_t widest = 0;
  for (const Check& check : checks) widest = std::max(widest, width_of(check.requirement));
  for (const Check& check : checks) {
    text +=
        "      " + padded(name_of(check.result), 9) + padded(check.requirement, widest + 2) + check.observed;
    if (!check.source.empty()) text += "  [" + check.source + "]";
    if (check.code != Code::none)
      text += "  " + std::string(text_of(check.code)) + (check.overridden ? " (overridden by force)" : "");
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
  const auto first = [&](auto matches) -> const Check* {
    const auto found = std::ranges::find_if(candidate.checks, matches);
    return found != candidate.checks.end() ? &*found : nullptr;
  };
  const auto refuses = [](const Check& check) { return check.result == Answer::no && !check.overridden; };
  if (const Check* const refusal = first(refuses)) {
    if (const Check* const hardware = first([](const Check& one) { return lacks_hardware(one); }))
      return hardware;
    const bool is_library = refusal->code == Code::library_missing;
    const Check* const driver = first(
        [&](const Check& one) { return is_library && refuses(one) && area_of(one.code) == Area::gpus; });
    return driver != nullptr ? driver : refusal;
  }
  const auto is_unknown = [](const Check& check) { return check.result == Answer::unknown; };
  const Check* const doubt =
      first([&](const Check& check) { return is_unknown(check) && !check.left_to_preflight; });
  return doubt != nullptr ? doubt : first(is_unknown);
}

bool lacks_hardware(const Check& check) {
  if (check.result != Answer::no || check.overridden) return false;
  if (check.code == Code::driver_not_found)
    return std::ranges::any_of(check.evidence, [](const Evidence& fact) {
      return fact.what == Key::pci_device && fact.value == "none";
    });
  if (check.code == Code::rocm_does_not_fit) return check.observed == "none";
  return check.code == Code::no_code_for_gpu || check.code == Code::no_metal_device ||
         check.code == Code::other_kind_of_arm64_machine;
}

std::string needs_and_found(const Check& check) {
  return "needs " + check.requirement + ", found " + check.observed;
}

namespace {

std::string table_of(const std::vector<const Candidate*>& candidates, bool with_checks,
                     const OneLine& one_line, const NoteOf& note) {
  std::size_t build_width = 5;
  for (const Candidate* candidate : candidates)
    build_width = std::max(build_width, candidate->build->id.size());
  std::string text;
  if (!candidates.empty())
    text = padded("rank", 6) + padded("build", build_width + 2) + padded("verdict", 13) + "because\n";
  for (const Candidate* of_plan : candidates) {
    const Candidate candidate = printable_candidate(*of_plan);
    std::string line = padded(candidate.rank != 0 ? std::to_string(candidate.rank) : "-", 6) +
                       padded(candidate.build->id, build_width + 2) + padded(name_of(candidate.verdict), 13) +
                       cut(reason_of(candidate, one_line));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (note && candidate.rank != 0) text += "      " + printable_line(note(candidate)) + "\n";
    if (with_checks) describe_checks(candidate.checks, text);
  }
  return text;
}

}  // namespace

std::string describe_plan(const Plan& plan, const OneLine& one_line, const NoteOf& note) {
  std::vector<const Candidate*> all;
  for (const Candidate& candidate : plan.candidates)
    if (all.size() < most_listed) all.push_back(&candidate);
  std::string text = table_of(all, true, one_line, note);
  if (const std::size_t more = plan.candidates.size() - all.size(); more != 0)
    text += "and " + pluralize(more, "more build", "more builds") + ", which no report lists\n";
  return text;
}

std::string describe_choice(const Plan& plan, const OneLine& one_line, const NoteOf& note) {
  std::size_t fitting = 0;
  std::vector<const Candidate*> first;
  for (const Candidate& candidate : plan.candidates)
    if (candidate.rank != 0 && ++fitting <= most_choices) first.push_back(&candidate);
  std::vector<std::string> others;
  if (fitting > first.size()) others.push_back(std::to_string(fitting - first.size()) + " more that fit");
  if (const std::size_t unfit = plan.candidates.size() - fitting; unfit != 0)
    others.push_back(std::to_string(unfit) + " that " + (unfit == 1 ? "does" : "do") + " not fit");
  std::string text = table_of(first, false, one_line, note);
  if (!others.empty()) text += "and " + join(others, ", ") + ": --explain lists them\n";
  return text;
}

Json to_json(const Check& check) {
  Json json = Json::object();
  json.set("requirement", check.requirement)
      .set("observed", check.observed)
      .set("source", check.source)
      .set("result", name_of(check.result));
  if (check.code != Code::none) json.set("code", text_of(check.code));
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
      .set("compiled_for", Json::strings(compiled_for(candidate)))
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
