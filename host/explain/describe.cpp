// How a diagnosis is told to a person: one screen, the same facts as the JSON.
#include <algorithm>
#include <set>

#include "host/explain/explain.hpp"
#include "host/explain/providers.hpp"

namespace enginehost::explain {
namespace {

constexpr std::size_t most_facts = 10;
constexpr std::size_t longest_value = 400;

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string shortened(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > longest_value) text = "… " + text.substr(text.size() - longest_value);
  return text;
}

std::string words(std::string_view key) {
  std::string text(key);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// libfoo.so -> libbar.so.1   CUDA runtime 12
void tell_missing(const Diagnosis& diagnosis, std::string& text) {
  const std::vector<std::string> libraries = diagnosis.values("library");
  const std::string needed_by(diagnosis.value("needed_by"));
  if (libraries.empty() || needed_by.empty()) return;
  for (const std::string& library : libraries) {
    text += "\n  " + file_name(needed_by) + " -> " + library;
    if (const auto provider = provider_of(library)) text += "   " + provider->what;
  }
  if (const auto chain = diagnosis.values("chain"); chain.size() > 2) {
    text += "\n  reached through ";
    for (std::size_t i = 0; i < chain.size(); ++i) text += (i == 0 ? "" : " -> ") + file_name(chain[i]);
  }
}

void tell_searched(const Diagnosis& diagnosis, std::string& text) {
  const std::vector<std::string> searched = diagnosis.values("searched");
  for (std::size_t i = 0; i < searched.size(); ++i) text += (i == 0 ? "\n  looked in: " : ", ") + searched[i];
}

void tell_other_facts(const Diagnosis& diagnosis, std::string& text) {
  static const std::set<std::string_view> told = {
      "library",     "needed_by", "chain",  "searched",         "os_said",   "errno",
      "provided_by", "build",     "mended", "from_environment", "last_words"};
  std::size_t count = 0;
  for (const Evidence& fact : diagnosis.evidence) {
    if (told.count(fact.what) != 0 || fact.value.empty() || count == most_facts) continue;
    // What the cause says already in full is not said twice.
    if (diagnosis.cause.find(fact.value) != std::string::npos) continue;
    text += "\n  " + words(fact.what) + ": " + shortened(fact.value);
    if (!fact.source.empty()) text += "   (" + fact.source + ")";
    ++count;
  }
}

}  // namespace

std::string describe(const Diagnosis& diagnosis) {
  Diagnosis whole = diagnosis;
  complete(whole);
  std::string text = whole.code + " " + whole.title;
  for (const std::string& line : whole.context) text += ", " + line;
  text += "\n  " + whole.cause;
  tell_missing(whole, text);
  tell_searched(whole, text);
  tell_other_facts(whole, text);
  for (std::size_t i = 0; i < whole.remedy.size(); ++i)
    text += (i == 0 ? "\n  fix: " : "\n  or:  ") + whole.remedy[i];
  if (const std::string_view last = whole.value("last_words"); !last.empty())
    text += "\n  printed last: " + shortened(std::string(last));
  if (const std::string_view said = whole.value("os_said"); !said.empty())
    text += "\n  OS said: " + shortened(std::string(said));
  return text;
}

std::string one_line(const Diagnosis& diagnosis) {
  Diagnosis whole = diagnosis;
  complete(whole);
  return whole.code + " " + whole.title + ": " + shortened(whole.cause);
}

}  // namespace enginehost::explain
