#include "tools/follow/report.hpp"

#include <algorithm>

#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::follow {
namespace {

// Reasons of files that are alike are counted, because a broken index may have thousands.
constexpr std::size_t most_lines_of_files = 20;

std::string padded(std::string_view word) {
  std::string text(word);
  text.resize(std::max<std::size_t>(text.size() + 1, 11), ' ');
  return text;
}

std::string line(std::string_view word, const std::string& text) {
  return padded(word) + printable_line(text) + "\n";
}

std::string line_of_row(const ReportedRow& row, bool with_facts) {
  std::string text = row.build.empty() ? row.name : row.build;
  if (row.state == RowState::added || row.state == RowState::changed)
    text += row.proof.empty() ? "  (decided only)" : "  (proven: " + row.proof + ")";
  if (!row.unproven.empty()) text += ": " + row.unproven;
  std::string lines = line(name_of(row.state), text);
  if (row.why) lines += line("", explain::one_line(*row.why));
  if (with_facts)
    for (const Fact& fact : row.facts) lines += line("", fact.what + "  <- " + fact.source);
  return lines;
}

}  // namespace

std::string_view name_of(RowState state) {
  switch (state) {
    case RowState::same:
      return "unchanged";
    case RowState::added:
      return "new";
    case RowState::changed:
      return "changed";
    case RowState::waiting:
      return "to derive";
    case RowState::failed:
      return "failed";
    case RowState::held:
      return "held back";
    case RowState::left:
      break;
  }
  return "left";
}

const Diagnosis* first_failure(const Report& report) {
  for (const Diagnosis& problem : report.problems) return &problem;
  for (const ReportedRow& row : report.rows)
    if (row.state == RowState::failed && row.why) return &*row.why;
  return nullptr;
}

ReadBytes bytes_of(const Report& report) {
  ReadBytes bytes;
  for (const ReadArchive& archive : report.archives) {
    bytes.fetched += archive.fetched;
    if (archive.whole) bytes.whole += archive.size;
  }
  return bytes;
}

std::string text_of(const Report& report, bool with_facts) {
  std::string text;
  std::size_t same = 0;
  for (const ReportedRow& row : report.rows) {
    if ((row.state == RowState::same || row.state == RowState::left) && row.unproven.empty())
      same += row.build.empty() ? 0 : 1;
    else
      text += line_of_row(row, with_facts);
  }
  for (const SkippedRelease& skipped : report.skipped)
    text += skipped.until != 0
                ? line("held back", skipped.project + " " + skipped.version + " until " +
                                        text_of_time(skipped.until) + ": " + skipped.reason)
                : line("left out", skipped.project + " " + skipped.version + ": " + skipped.reason);
  for (std::size_t i = 0; i < std::min(report.left_out.size(), most_lines_of_files); ++i) {
    const LeftOut& one = report.left_out[i];
    text +=
        line("left out", (one.file.empty() ? one.project + " " + one.version : one.file) + ": " + one.reason);
  }
  if (report.left_out.size() > most_lines_of_files)
    text += line("left out",
                 pluralize(report.left_out.size() - most_lines_of_files, "further file", "further files") +
                     "; --json lists all");
  for (const std::string& name : report.licenses)
    text += line("license", name + ": the plan has other terms than the manifest before; read them");
  for (const std::string& id : report.dropped)
    text += line("dropped", id + ": the plan does not keep this build any more");
  for (const Diagnosis& warning : report.warnings) text += line("warning", explain::one_line(warning));
  for (const Diagnosis& problem : report.problems) {
    text += line("problem", explain::one_line(problem));
    for (const std::string& remedy : explain::render(problem).remedy) text += line("  fix:", remedy);
  }
  const std::string rest = pluralize(same, "row is", "rows are") + " unchanged";
  const ReadBytes bytes = bytes_of(report);
  if (bytes.fetched > 0) {
    const auto whole = std::ranges::count_if(report.archives, &ReadArchive::whole);
    text += format_bytes(bytes.fetched) + " fetched of " +
            pluralize(report.archives.size(), "wheel", "wheels") + ", " + std::to_string(whole) +
            " of them whole (" + format_bytes(bytes.whole) + ")\n";
  }
  const std::string& manifest = path_text(report.manifest);
  if (!report.changed) return text + "nothing new for " + manifest + "; " + rest + "\n";
  return text + manifest + (report.check ? " would change; " : " is written; ") + rest + "\n";
}

Json to_json(const Report& report) {
  Json rows = Json::array(), held = Json::array(), left_out = Json::array(), problems = Json::array(),
       warnings = Json::array(), archives = Json::array();
  for (const ReportedRow& row : report.rows) {
    Json facts = Json::array();
    for (const Fact& fact : row.facts)
      facts.push(Json::object().set("what", fact.what).set("source", fact.source));
    Json one = Json::object()
                   .set("track", row.track)
                   .set("version", row.version)
                   .set("flavor", row.flavor)
                   .set("os", row.os)
                   .set("arch", row.arch)
                   .set("name", row.name)
                   .set("build", row.build.empty() ? Json() : Json(row.build))
                   .set("state", name_of(row.state))
                   .set("proven", !row.proof.empty())
                   .set("proof", row.proof.empty() ? Json() : Json(row.proof))
                   .set("unproven", row.unproven.empty() ? Json() : Json(row.unproven))
                   .set("facts", std::move(facts));
    if (row.why) one.set("diagnosis", explain::to_json(*row.why));
    rows.push(std::move(one));
  }
  for (const SkippedRelease& one : report.skipped) {
    Json release =
        Json::object().set("project", one.project).set("version", one.version).set("reason", one.reason);
    if (one.until != 0)
      held.push(release.set("until", text_of_time(one.until)));
    else
      left_out.push(release.set("file", Json()));
  }
  for (const LeftOut& one : report.left_out)
    left_out.push(Json::object()
                      .set("project", one.project)
                      .set("version", one.version.empty() ? Json() : Json(one.version))
                      .set("reason", one.reason)
                      .set("file", one.file.empty() ? Json() : Json(one.file)));
  for (const Diagnosis& one : report.problems) problems.push(explain::to_json(one));
  for (const Diagnosis& one : report.warnings) warnings.push(explain::to_json(one));
  for (const ReadArchive& one : report.archives)
    archives.push(Json::object()
                      .set("file", one.file)
                      .set("size", one.size)
                      .set("fetched", one.fetched)
                      .set("whole", one.whole));
  const ReadBytes bytes = bytes_of(report);
  return Json::object()
      .set("format", 1)
      .set("engine", report.engine)
      .set("manifest", path_text(report.manifest))
      .set("check", report.check)
      .set("changed", report.changed)
      .set("rows", std::move(rows))
      .set("held_back", std::move(held))
      .set("left_out", std::move(left_out))
      .set("dropped", Json::strings(report.dropped))
      .set("licenses_changed", Json::strings(report.licenses))
      .set("problems", std::move(problems))
      .set("warnings", std::move(warnings))
      .set("fetched", bytes.fetched)
      .set("read_whole", bytes.whole)
      .set("archives", std::move(archives));
}

}  // namespace enginehost::follow
