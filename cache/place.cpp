#include "cache/place.hpp"

#include <algorithm>

#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "cache/folder_trust.hpp"
#include "cache/store_paths.hpp"

namespace enginehost::cache {
namespace {

using namespace inside;

// The folders that lead to what is loaded. Who may write one of them decides what code runs.
std::vector<fs::path> leading_folders(const fs::path& root) {
  return {root, root / "refs", root / "views", root / "trees", root / "lists"};
}

}  // namespace

std::optional<Diagnosis> layer_problem(const fs::path& layer) {
  for (const fs::path& folder : leading_folders(layer))
    if (auto problem = folder_problem(folder)) return problem;
  return {};
}

std::optional<std::string> warning_for_administrators(const fs::path& root) {
  const auto owner = owner_shut_out(root);
  if (!owner) return {};
  return path_text(root) + " belongs to user " + *owner +
         ", who cannot change or remove what root makes there: run this as that user, or give it back with "
         "chown -R --reference=FOLDER FOLDER";
}

std::vector<Diagnosis> place_problems(const fs::path& root) {
  std::vector<Diagnosis> problems;
  for (const fs::path& folder : leading_folders(root)) {
    if (auto problem = folder_problem(folder)) {
      problems.push_back(std::move(*problem));
      continue;
    }
    if (auto problem = group_problem(folder)) problems.push_back(std::move(*problem));
  }
  if (forbids_execution(root))
    problems.push_back(diagnose("EH-L22").with("folder", path_text(root)).with("flag", "noexec", "statvfs"));
  if (auto format = check_format(root); !format) problems.push_back(std::move(format).error());
  return problems;
}

}  // namespace enginehost::cache
