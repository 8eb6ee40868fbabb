#include "cache/layer_trust.hpp"

#include <algorithm>
#include <cerrno>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "cache/store_inside.hpp"

namespace enginehost::cache {

using namespace inside;

std::vector<fs::path> leading_folders(const fs::path& root) {
  return {root, root / "refs", root / "views", root / "trees", root / "lists"};
}

namespace {

// `folder`: one of the leading folders. Those above the root are looked at only with the root.
Changers who_may_change_folder(const fs::path& folder, const fs::path& root, Purpose purpose) {
  return who_may_change(folder, purpose, {.above = folder == root ? fs::path() : root, .sdk = {}});
}

}  // namespace

Changers who_may_change_cache(const fs::path& root, Purpose purpose) {
  Changers all;
  for (const fs::path& folder : leading_folders(root)) {
    Changers one = who_may_change_folder(folder, root, purpose);
    if (all.other.empty()) all.other = std::move(one.other);
    if ((all.problem = std::move(one.problem))) return all;
  }
  return all;
}

std::optional<Diagnosis> layer_problem(const fs::path& layer) {
  return who_may_change_cache(layer, Purpose::belief).problem;
}

std::optional<Diagnosis> folder_unreadable(const fs::path& folder) {
  calls::Status status{};
  if (calls::stat(folder.c_str(), &status) != 0 && errno == ENOENT) {
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(folder, error))) return {};
    return std::move(diagnose(Code::cache_unusable)
                         .with(Key::folder, path_text(folder))
                         .with(Key::problem, "a link to " + path_text(fs::read_symlink(folder, error)) +
                                                 ", which is not there"));
  }
  const FileDescriptor opened(calls::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.valid() && calls::access(folder.c_str(), X_OK) == 0) return {};
  const int why = errno;
  Diagnosis diagnosis = why == ENOTDIR && S_ISREG(status.st_mode) ? diagnose(Code::cache_unusable)
                                                                  : diagnose_errno(Code::cache_unusable, why);
  if (diagnosis.evidence.empty()) diagnosis.with(Key::problem, "a file, not a folder");
  return std::move(diagnosis.with(Key::folder, path_text(folder)));
}

std::vector<Diagnosis> layers_passed_over(const std::vector<fs::path>& layers) {
  std::vector<Diagnosis> why;
  for (const fs::path& layer : layers) {
    std::optional<Diagnosis> problem = layer_problem(layer);
    for (const fs::path& folder : {layer, layer / "refs", layer / "views"})
      if (!problem) problem = folder_unreadable(folder);
    if (problem) why.push_back(std::move(*problem));
  }
  return why;
}

std::vector<Diagnosis> place_problems(const fs::path& root) {
  std::vector<Diagnosis> problems;
  for (const fs::path& folder : leading_folders(root))
    if (auto problem = who_may_change_folder(folder, root, Purpose::belief).problem)
      problems.push_back(std::move(*problem));
  if (forbids_execution(root))
    problems.push_back(diagnose(Code::mounted_noexec)
                           .with(Key::folder, path_text(root))
                           .with(Key::flag, "noexec", "statvfs"));
  if (auto format = check_format(root); !format) problems.push_back(std::move(format).error());
  return problems;
}

}  // namespace enginehost::cache
