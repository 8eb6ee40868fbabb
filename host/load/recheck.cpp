#include "host/load/recheck.hpp"

#include <algorithm>

namespace enginehost::load {
namespace {

constexpr std::string_view kept[] = {"os_said", "stage",  "last_words", "message",
                                     "status",  "origin", "native",     "tries"};

// What was seen when it failed stays with what explains it.
Diagnosis merged(Diagnosis better, const Diagnosis& said) {
  for (const Evidence& fact : said.evidence)
    if (std::find(std::begin(kept), std::end(kept), fact.what) != std::end(kept) &&
        better.value(fact.what).empty())
      better.evidence.push_back(fact);
  better.context = said.context;
  return better;
}

bool speaks_of(const Diagnosis& said, const std::string& path_or_name) {
  if (path_or_name.empty()) return false;
  const std::string name = path_or_name.substr(path_or_name.find_last_of('/') + 1);
  return std::any_of(said.evidence.begin(), said.evidence.end(),
                     [&](const Evidence& fact) { return fact.value.find(name) != std::string::npos; });
}

// Classes that come from a text of the loader and not from looking at the files.
bool from_text(const Diagnosis& said) {
  return said.code.starts_with("EH-L") || said.code.starts_with("EH-F") || said.code == "EH-G04" ||
         said.code == "EH-R15";
}

}  // namespace

Diagnosis recheck(Diagnosis said, const preflight::Spec& spec) {
  const bool reported = said.code == "EH-E01" || said.code == "EH-R03";
  if (!from_text(said) && !reported) return said;
  preflight::Spec closer = spec;
  closer.symbols = true;
  const preflight::Report report = preflight::check(closer);
  if (from_text(said)) {
    // A missing driver function is an undefined symbol too; the text's class says more.
    if (said.code == "EH-G04") return said;
    const Diagnosis* best = nullptr;
    for (const Diagnosis& found : report.diagnoses) {
      if (found.code == said.code) return merged(found, said);
      const bool about = speaks_of(said, std::string(found.value("library"))) ||
                         speaks_of(said, std::string(found.value("file"))) ||
                         speaks_of(said, std::string(found.value("symbol")));
      if (best == nullptr && about) best = &found;
    }
    if (best == nullptr && report.verdict == preflight::Verdict::fails) best = &report.diagnoses.front();
    return best != nullptr ? merged(*best, said) : said;
  }
  // The plugin says that something is not there: the library it means is the one whose closure is not whole.
  for (const Diagnosis& found : report.diagnoses)
    if (speaks_of(said, std::string(found.value("library"))) ||
        speaks_of(said, std::string(found.value("file"))))
      return merged(found, said);
  return said;
}

}  // namespace enginehost::load
