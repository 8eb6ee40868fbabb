// How a diagnosis is told to a person: one screen, the same facts as the JSON.
#include <algorithm>
#include <set>

#include "base/printable.hpp"
#include "host/explain/explain.hpp"
#include "host/explain/providers.hpp"
#include "host/explain/template.hpp"

namespace enginehost::explain {
namespace {

constexpr std::size_t most_facts = 10;
constexpr std::size_t longest_value = 400;
constexpr std::size_t most_folders = 12;

std::string shortened(std::string text) {
  if (text.size() <= longest_value) return text;
  std::size_t from = text.size() - longest_value;
  // Not in the middle of a character.
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
  return "… " + text.substr(from);
}

// Evidence comes from manifests, files and libraries of strangers.
Diagnosis for_a_person(const Diagnosis& diagnosis) {
  Diagnosis whole = diagnosis;
  complete(whole);
  const auto line = [](std::string& text) { text = printable_line(text); };
  line(whole.code);
  line(whole.title);
  line(whole.cause);
  for (Evidence& fact : whole.evidence) {
    line(fact.what);
    line(fact.value);
    line(fact.source);
  }
  for (std::string& remedy : whole.remedy) line(remedy);
  for (std::string& context : whole.context) line(context);
  return whole;
}

std::string words(std::string_view key) {
  std::string text(key);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// Who needs that one: said where the need was read.
std::string needer_of(const Evidence& library, const std::string& otherwise) {
  // "DT_NEEDED of /v/a.so", "imports of C:\\v\\a.dll", "delay imports of …"
  const std::size_t at = library.source.find(" of ");
  return file_name(at != std::string::npos ? library.source.substr(at + 4) : otherwise);
}

// libfoo.so -> libbar.so.1     CUDA runtime 12
// libfoo.so -> libbarfoo.so.1
void report_missing(const Diagnosis& diagnosis, std::string& text) {
  const std::string needed_by(diagnosis.value("needed_by"));
  if (needed_by.empty()) return;
  std::vector<std::string> needs;
  std::vector<const Provider*> providers;
  std::size_t width = 0;
  for (const Evidence& fact : diagnosis.evidence) {
    if (fact.what != "library") continue;
    needs.push_back(needer_of(fact, needed_by) + " -> " + fact.value);
    providers.push_back(provider_of(fact.value));
    width = std::max(width, needs.back().size());
  }
  for (std::size_t i = 0; i < needs.size(); ++i) {
    text += "\n  " + needs[i];
    if (providers[i] == nullptr) continue;
    text.append(width - needs[i].size() + 3, ' ');
    text += providers[i]->what;
  }
  if (const auto chain = diagnosis.values("chain"); chain.size() > 2) {
    text += "\n  reached through ";
    for (std::size_t i = 0; i < chain.size(); ++i) text += (i == 0 ? "" : " -> ") + file_name(chain[i]);
  }
}

void report_searched(const Diagnosis& diagnosis, std::string& text) {
  std::size_t count = 0;
  for (const Evidence& fact : diagnosis.evidence) {
    if (fact.what != "searched" || ++count > most_folders) continue;
    text +=
        (count == 1 ? "\n  looked in: " : ", ") + (fact.value.empty() ? "the current folder" : fact.value);
    if (fact.source.ends_with("does not exist")) text += " (does not exist)";
  }
  if (count > most_folders) text += " and " + std::to_string(count - most_folders) + " more";
}

// EH-L01 library missing: 3 libraries, while opening x 1.0   [stage preflight, nothing was executed]
std::string headline(const Diagnosis& diagnosis) {
  std::string text = diagnosis.code + " " + diagnosis.title;
  const std::size_t libraries = diagnosis.values("library").size();
  if (libraries > 1 && !diagnosis.value("needed_by").empty())
    text += ": " + std::to_string(libraries) + " libraries";
  for (const std::string& line : diagnosis.context) text += ", " + line;
  for (const Evidence& fact : diagnosis.evidence)
    if (fact.what == "stage") {
      text += "   [stage " + fact.value + (fact.source.empty() ? "" : ", " + fact.source) + "]";
      break;
    }
  return text;
}

void report_other_facts(const Diagnosis& diagnosis, std::string& text) {
  static const auto& reported = *new std::set<std::string_view>{
      "library",     "needed_by", "chain",  "searched",         "os_said",       "errno",
      "provided_by", "build",     "mended", "from_environment", "last_words",    "stage",
      "place",       "named_by",  "remedy", "engine",           "option_set_by", "closed"};
  std::size_t count = 0;
  std::set<std::string_view> values;
  for (const Evidence& fact : diagnosis.evidence) {
    if (reported.count(fact.what) != 0 || fact.value.empty() || count == most_facts) continue;
    // What the cause says already in full is not said twice.
    if (diagnosis.cause.find(fact.value) != std::string::npos || !values.insert(fact.value).second) continue;
    text += "\n  " + words(fact.what) + ": " + shortened(fact.value);
    if (!fact.source.empty()) text += "   (" + fact.source + ")";
    ++count;
  }
}

}  // namespace

std::string describe(const Diagnosis& diagnosis) {
  const Diagnosis whole = for_a_person(diagnosis);
  std::string text = headline(whole);
  text += "\n  " + whole.cause;
  report_missing(whole, text);
  report_searched(whole, text);
  report_other_facts(whole, text);
  for (std::size_t i = 0; i < whole.remedy.size(); ++i)
    text += (i == 0 ? "\n  fix: " : "\n  or:  ") + whole.remedy[i];
  if (const std::string_view last = whole.value("last_words"); !last.empty())
    text += "\n  printed last: " + shortened(std::string(last));
  if (const std::string_view said = whole.value("os_said"); !said.empty())
    text += "\n  OS said: " + shortened(std::string(said));
  return text;
}

std::string one_line(const Diagnosis& diagnosis) {
  const Diagnosis whole = for_a_person(diagnosis);
  return whole.code + " " + whole.title + ": " + shortened(whole.cause);
}

}  // namespace enginehost::explain
