// Whether a report states what the loader's message states.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "host/explain/explain.hpp"
#include "host/explain/loader_text.hpp"
#include "host/preflight/preflight.hpp"
#include "tests/linker/real_loader.hpp"

namespace enginehost::preflight {

inline bool same_file(std::string_view a, std::string_view b) {
  return a == b || test::real_path(std::string(a)) == test::real_path(std::string(b));
}

// Whether preflight names the subject of the loader's message: the first missing library, a symbol and its
// needer, a version, or the file itself. The loader stops at the first problem, and does not report the order
// in which it binds libraries.
inline bool names_subject(const Report& report, const explain::LoaderHint& hint) {
  if (report.diagnoses.empty()) return false;
  if (hint.code == "EH-L01") return !report.missing.empty() && report.missing.front().name == hint.subject;
  if (!hint.symbol.empty())
    return std::any_of(report.diagnoses.begin(), report.diagnoses.end(), [&](const Diagnosis& one) {
      const auto symbols = one.values(Key::symbol);
      return std::find(symbols.begin(), symbols.end(), hint.symbol) != symbols.end() &&
             same_file(one.value(Key::required_by), hint.required_by);
    });
  if (!hint.version.empty())
    return std::any_of(report.versions.begin(), report.versions.end(),
                       [&](const auto& one) { return one.version == hint.version; });
  for (const Diagnosis& diagnosis : report.diagnoses)
    for (const Key what : {Key::file, Key::path, Key::library})
      if (same_file(diagnosis.value(what), hint.subject)) return true;
  return false;
}

inline std::string said_by(const Report& report) {
  std::string said = name_of(report.verdict);
  for (const Diagnosis& diagnosis : report.diagnoses) said += "; " + explain::one_line(diagnosis);
  return said;
}

}  // namespace enginehost::preflight
