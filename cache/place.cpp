#include "cache/place.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/json.hpp"
#include "cache/store_paths.hpp"

namespace enginehost::cache {
namespace {

using namespace inside;

// The folders that lead to what is loaded. Who may write one of them decides what code runs.
std::vector<fs::path> leading_folders(const fs::path& root) {
  return {root, root / "refs", root / "views", root / "trees", root / "lists"};
}

Diagnosis untrusted(const fs::path& folder, std::string problem, const struct stat& status) {
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(status.st_mode & 07777));
  return std::move(diagnose("EH-F22")
                       .with("folder", folder.native())
                       .with("problem", problem)
                       .with("owner", std::to_string(status.st_uid), "stat")
                       .with("mode", mode, "stat"));
}

std::optional<Diagnosis> folder_problem(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return {};
  if (status.st_uid != 0 && status.st_uid != ::geteuid())
    return untrusted(
        folder, "it belongs to user " + std::to_string(status.st_uid) + ", who is neither this user nor root",
        status);
  if ((status.st_mode & S_IWOTH) != 0) return untrusted(folder, "everybody may write into it", status);
  return {};
}

// A group that only this user is in (as many systems give everyone) adds nobody who may write.
bool is_private_group(gid_t group) {
  const passwd* user = ::getpwuid(::geteuid());
  if (user == nullptr || user->pw_gid != group) return false;
  const std::string name = user->pw_name;
  const struct group* found = ::getgrgid(group);
  return found != nullptr && name == found->gr_name &&
         (found->gr_mem[0] == nullptr || (name == found->gr_mem[0] && found->gr_mem[1] == nullptr));
}

}  // namespace

std::optional<Diagnosis> layer_problem(const fs::path& layer) {
  for (const fs::path& folder : leading_folders(layer))
    if (auto problem = folder_problem(folder)) return problem;
  return {};
}

std::vector<Diagnosis> place_problems(const fs::path& root) {
  std::vector<Diagnosis> problems;
  for (const fs::path& folder : leading_folders(root)) {
    if (auto problem = folder_problem(folder)) {
      problems.push_back(std::move(*problem));
      continue;
    }
    struct stat status {};
    if (::stat(folder.c_str(), &status) == 0 && (status.st_mode & S_IWGRP) != 0 && status.st_gid != 0 &&
        !is_private_group(status.st_gid))
      problems.push_back(untrusted(
          folder, "the members of group " + std::to_string(status.st_gid) + " may write into it", status));
  }
  struct statvfs mounted {};
  if (::statvfs(root.c_str(), &mounted) == 0 && (mounted.f_flag & ST_NOEXEC) != 0)
    problems.push_back(diagnose("EH-L22").with("folder", root.native()).with("flag", "noexec", "statvfs"));
  if (auto format = check_format(root); !format) problems.push_back(std::move(format).error());
  return problems;
}

}  // namespace enginehost::cache
