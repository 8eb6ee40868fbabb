// The text of a diagnosis: the facts of the JSON, on one screen.
#include <algorithm>
#include <cctype>
#include <set>

#include "base/columns.hpp"
#include "base/printable.hpp"
#include "host/explain/explain.hpp"
#include "host/explain/providers.hpp"
#include "host/explain/template.hpp"

namespace enginehost::explain {
namespace {

constexpr std::size_t most_facts = 10;
constexpr std::size_t longest_value = 400;
constexpr std::size_t most_folders = 12;
constexpr std::size_t most_needs = 6;
constexpr std::size_t narrowest = 40;         // columns
constexpr std::size_t least_label_width = 9;  // of "needed by"

struct Row {
  std::string label, value;
};

std::string shortened(std::string text) {
  if (text.size() <= longest_value) return text;
  std::size_t from = text.size() - longest_value;
  // Not in the middle of a character.
  while (from < text.size() && continues_character(text[from])) ++from;
  return "… " + text.substr(from);
}

// Makes every text printable: evidence comes from untrusted manifests and files.
Rendered printable(Rendered whole) {
  const auto line = [](std::string& text) { text = printable_line(text); };
  line(whole.unknown_code);
  line(whole.title);
  line(whole.cause);
  for (Evidence& fact : whole.evidence) {
    line(fact.other_name);
    line(fact.value);
    line(fact.source);
  }
  for (std::string& remedy : whole.remedy) line(remedy);
  for (std::string& context : whole.context) line(context);
  return whole;
}

std::string label_of(const Evidence& fact) {
  if (fact.what == Key::present_at) return "found";
  std::string text(fact.name());
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// Returns whether the text has the part, as words of its own: a size of "20" is not in the path "/tmp/a20f".
bool is_in(std::string_view part, std::string_view text) {
  const auto is_of_a_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto joins = [&](char a, char b) { return is_of_a_word(a) && is_of_a_word(b); };
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if ((at == 0 || !joins(text[at - 1], part.front())) &&
        (end == text.size() || !joins(part.back(), text[end])))
      return true;
  }
  return false;
}

// Returns the file that needs a library, from the source of that evidence.
std::string needer_of(const Evidence& library, const std::string& otherwise) {
  // "DT_NEEDED of /v/a.so", "imports of C:\\v\\a.dll", "delay imports of …"
  const std::size_t at = library.source.find(" of ");
  return file_name(at != std::string::npos ? library.source.substr(at + 4) : otherwise);
}

// The chain of libraries down to the missing one, and each need that the cause cannot name.
void add_needs(const Diagnosis& diagnosis, std::vector<Row>& rows) {
  const std::string needed_by(diagnosis.value(Key::needed_by));
  if (needed_by.empty()) return;
  std::vector<std::string> needs, names;
  std::set<std::string> needers;
  for (const Evidence& fact : diagnosis.evidence) {
    if (fact.what != Key::library) continue;
    const std::string needer = needer_of(fact, needed_by);
    needers.insert(needer);
    names.push_back(fact.value);
    needs.push_back(needer + " -> " + fact.value);
  }
  if (const auto chain = diagnosis.values(Key::chain); chain.size() > 1) {
    std::string text;
    for (const std::string& link : chain) text += (text.empty() ? "" : " -> ") + file_name(link);
    if (names.size() == 1) text += " -> " + names.front();
    rows.push_back({"needed by", std::move(text)});
  }
  const bool named_by_cause = needers.size() < 2 && names.size() <= most_needs;
  if (named_by_cause) return;
  for (std::size_t i = 0; i < std::min(needs.size(), most_folders); ++i) {
    const Provider* provider = provider_of(names[i]);
    rows.push_back(
        {"needed by", needs[i] + (provider == nullptr ? "" : " (" + std::string(provider->what) + ")")});
  }
  if (needs.size() > most_folders)
    rows.push_back({"needed by", "and " + std::to_string(needs.size() - most_folders) + " more"});
}

void add_searched(const Diagnosis& diagnosis, std::vector<Row>& rows) {
  std::size_t count = 0;
  std::string text;
  for (const Evidence& fact : diagnosis.evidence) {
    if (fact.what != Key::searched || ++count > most_folders) continue;
    text += (count == 1 ? "" : ", ") + (fact.value.empty() ? "the current folder" : fact.value);
    if (fact.source.ends_with("does not exist")) text += " (does not exist)";
  }
  if (count > most_folders) text += " and " + std::to_string(count - most_folders) + " more";
  if (count != 0) rows.push_back({"searched", std::move(text)});
}

void add_other_facts(const Rendered& diagnosis, const Style& style, std::vector<Row>& rows) {
  std::size_t count = 0;
  std::set<std::string_view> values;
  for (const Evidence& fact : diagnosis.evidence) {
    if (!is_shown(fact.what) || fact.value.empty() || count == most_facts) continue;
    if (fact.what == Key::candidate &&
        (style.beside_plan || fact.value.starts_with(std::string(diagnosis.value(Key::build)) + ": ")))
      continue;
    if (is_in(fact.value, diagnosis.cause) || !values.insert(fact.value).second) continue;
    rows.push_back(
        {label_of(fact), shortened(fact.value) + (fact.source.empty() ? "" : " (" + fact.source + ")")});
    ++count;
  }
}

// "while opening x 1.0" has the label "while".
void add_context(const Rendered& diagnosis, std::vector<Row>& rows) {
  for (const std::string& line : diagnosis.context) {
    const std::size_t end = line.find(' ');
    const bool labeled = line.starts_with("while ") || line.starts_with("for ");
    rows.push_back({labeled ? line.substr(0, end) : "while", labeled ? line.substr(end + 1) : line});
  }
  for (const Evidence& fact : diagnosis.evidence) {
    if (fact.what != Key::stage || fact.value.empty()) continue;
    if (!is_in("stage " + fact.value, diagnosis.cause))
      rows.push_back({"stage", fact.value + (fact.source.empty() ? "" : " (" + fact.source + ")")});
    break;
  }
}

void add_outputs(const Rendered& diagnosis, std::vector<Row>& rows) {
  const std::string last(diagnosis.value(Key::last_words)), said(diagnosis.value(Key::os_said));
  if (!last.empty() && !is_in(last, diagnosis.cause)) rows.push_back({"last output", shortened(last)});
  if (!said.empty() && said != last && !is_in(said, diagnosis.cause))
    rows.push_back({"OS said", shortened(said)});
}

void add_remedies(const Rendered& diagnosis, std::vector<Row>& rows) {
  const std::string_view last = diagnosis.value(Key::last_words);
  std::set<std::string_view> added;
  for (const std::string& remedy : diagnosis.remedy) {
    const bool is_printed = !last.empty() && is_in(last, remedy);  // has a row of its own
    if (is_printed || !added.insert(remedy).second) continue;
    rows.push_back({added.size() == 1 ? "fix" : "or", remedy});
  }
}

// Appends the value behind a label that takes `indent` columns.
void add_wrapped(std::string& text, std::string_view value, std::size_t indent, const Style& style) {
  if (style.width == 0) {
    text += value;
    return;
  }
  const std::size_t width = std::max(style.width, narrowest);
  std::size_t used = indent;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find(' '), value.size());
    const std::string_view word = value.substr(0, end);
    value.remove_prefix(std::min(end + 1, value.size()));
    if (used > indent && used + 1 + width_of(word) > width) {
      text += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (used > indent) {
      text += ' ';
      ++used;
    }
    text += word;
    used += width_of(word);
  }
}

std::string colored(std::string_view text, std::string_view code, bool color) {
  return color ? "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m" : std::string(text);
}

}  // namespace

std::string describe(const Diagnosis& diagnosis, const Style& style) {
  return describe(render(diagnosis), style);
}

std::string describe(const Rendered& diagnosis, const Style& style) {
  const Rendered whole = printable(diagnosis);
  std::vector<Row> rows;
  add_needs(whole, rows);
  add_searched(whole, rows);
  add_other_facts(whole, style, rows);
  add_context(whole, rows);
  add_outputs(whole, rows);
  add_remedies(whole, rows);
  const std::string_view code = whole.code_text();
  std::string text = colored(code, "1;31", style.color) + "  ";
  add_wrapped(text, whole.cause, width_of(code) + 2, style);
  std::size_t widest = least_label_width;
  for (const Row& row : rows) widest = std::max(widest, width_of(row.label));
  std::string_view before;
  for (const Row& row : rows) {
    const std::string_view label = row.label == before && row.label != "or" ? std::string_view() : row.label;
    before = row.label;
    text += "\n  " + (label.empty() ? "" : colored(label, "2", style.color));
    text.append(widest + 3 - width_of(label), ' ');
    add_wrapped(text, row.value, widest + 5, style);
  }
  return text;
}

std::string one_line(const Diagnosis& diagnosis) {
  const Rendered whole = printable(render(diagnosis));
  // A sentence begins with what it is about.
  std::size_t end = std::min(whole.cause.size(), longest_value);
  while (end < whole.cause.size() && continues_character(whole.cause[end])) --end;
  return std::string(whole.code_text()) + " " + whole.cause.substr(0, end) +
         (end < whole.cause.size() ? " …" : "");
}

}  // namespace enginehost::explain
