#pragma once
#include <algorithm>
#include <string>

#include "host/explain/explain.hpp"
#include "host/preflight/preflight.hpp"
#include "tests/faults/workshop.hpp"

namespace enginehost::preflight {

// A library alone, without a view.
inline Spec alone(const std::filesystem::path& file) {
  Spec spec;
  spec.plugin = file;
  spec.machine = linker::describe_this_machine();
  spec.plugin_header = false;
  return spec;
}

// A build: everything below the workshop's folder.
inline Spec build(const faults::Workshop& workshop, const std::filesystem::path& plugin,
                  std::vector<std::string> search = {"lib"}) {
  Spec spec;
  spec.view = workshop.folder();
  spec.plugin = plugin;
  for (const std::string& folder : search) spec.search.push_back(workshop.path(folder));
  spec.machine = linker::describe_this_machine();
  return spec;
}

inline std::string first_code(const Report& report) {
  return report.diagnoses.empty() ? std::string() : std::string(report.diagnoses.front().code_text());
}

inline const Diagnosis* find(const std::vector<Diagnosis>& list, std::string_view code) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Diagnosis& one) { return one.code == code; });
  return found != list.end() ? &*found : nullptr;
}

}  // namespace enginehost::preflight
