#include "host/explain/describe_code.hpp"

namespace enginehost::explain {
namespace {

constexpr Code reported_by_plugin = Code::engine_reports_error;

std::string in_capitals(std::string_view text) {
  std::string capitals;
  for (const char c : text) capitals += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return capitals;
}

// Returns the text between the braces of a template, without evidence.
std::string readable_slot(std::string_view inner) {
  if (inner.starts_with('?') || inner.starts_with('!') || inner.starts_with('+')) return {};
  if (const std::size_t equals = inner.find('='); equals != std::string_view::npos) {
    const std::string_view wanted = inner.substr(equals + 1);
    if (wanted.empty()) return {};
    return "(" + in_capitals(inner.substr(0, equals)) + " is " + std::string(wanted) + ") ";
  }
  const std::size_t first = inner.find('|'), last = inner.rfind('|');
  const std::string noun = first != last ? " " + std::string(inner.substr(last + 1)) : "";
  return in_capitals(inner.substr(0, inner.find_first_of("|."))) + noun;
}

void add_line(std::string& text, std::string_view label, std::string_view value) {
  if (value.empty()) return;
  text += "\n  ";
  text += label;
  text.append(label.size() < 15 ? 15 - label.size() : 1, ' ');
  text += value;
}

Json readable_lines(std::span<const std::string_view> lines) {
  Json array = Json::array();
  for (const std::string_view line : lines) array.push(readable(line));
  return array;
}

}  // namespace

std::string normalised_code(std::string_view code) {
  std::string text = in_capitals(code);
  if (!text.starts_with("EH-")) text.insert(0, "EH-");
  return text;
}

std::string readable(std::string_view text) {
  std::string sentence;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    sentence += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) break;
    sentence += readable_slot(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  return sentence;
}

std::string_view consequence(history::Category category) {
  switch (category) {
    case history::Category::content:
      return "its files are discarded and fetched again";
    case history::Category::host:
      return "quarantined until the machine has what it needs; checked again as soon as that changes";
    case history::Category::policy:
      return "quarantined; checked again after ten minutes, or when it is allowed";
    case history::Category::transient:
      return "not recorded; tried again";
    case history::Category::crash:
      return "tried once more, then quarantined for a week; a new driver, system or build is tried at once";
    case history::Category::request:
      return "not recorded against the build";
  }
  return {};
}

std::string exit_status_text(const Entry& entry) {
  std::string text = std::to_string(static_cast<int>(entry.exit_status));
  if (entry.code != reported_by_plugin) return text;
  text += " while a build is opened; afterwards";
  const char* before = " ";
  for (const StatusOfPlugin& status : statuses_of_plugins()) {
    text += before + std::to_string(static_cast<int>(status.exit)) + " for " + std::string(status.said);
    before = ", ";
  }
  return text;
}

std::string describe_code(const Entry& entry) {
  std::string text = std::string(text_of(entry.code)) + "  " + std::string(entry.title);
  add_line(text, "means", entry.meaning);
  add_line(text, "known before", entry.before.empty() ? "it cannot be detected" : entry.before);
  add_line(text, "known after", entry.after);
  for (const std::string_view remedy : entry.remedies) add_line(text, "to do", readable(remedy));
  add_line(text, "the build", consequence(entry.category));
  if (entry.proof != Proof::none)
    add_line(text, "proven",
             entry.unproduced.empty()
                 ? "tests produce it"
                 : std::string(name_of(entry.proof)) + " only: " + std::string(entry.unproduced));
  add_line(text, "exit status", exit_status_text(entry));
  return text;
}

Json code_document(const Entry& entry) {
  Json document = Json::object()
                      .set("code", text_of(entry.code))
                      .set("title", entry.title)
                      .set("meaning", entry.meaning)
                      .set("detected_before", entry.before)
                      .set("detected_after", entry.after)
                      .set("causes", readable_lines(entry.causes))
                      .set("remedies", readable_lines(entry.remedies))
                      .set("exit_status", static_cast<int>(entry.exit_status))
                      .set("consequence", consequence(entry.category));
  if (entry.code == reported_by_plugin) {
    Json statuses = Json::object();
    for (const StatusOfPlugin& status : statuses_of_plugins())
      statuses.set(std::string(status.said), static_cast<int>(status.exit));
    document.set("exit_statuses", std::move(statuses));
  }
  if (entry.proof != Proof::none)
    document.set("proven", Json::object().set("how", name_of(entry.proof)).set("reason", entry.unproduced));
  return document;
}

}  // namespace enginehost::explain
