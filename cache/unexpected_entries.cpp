#include "cache/store_parts.hpp"

#include <cerrno>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "cache/lock.hpp"
#include "cache/store_paths.hpp"

namespace enginehost::cache::inside {

namespace {

Diagnosis in_the_way(const fs::path& place, std::string problem) {
  return std::move(diagnose("EH-F23")
                       .with("folder", path_text(place))
                       .with("in_the_way", path_text(place))
                       .with("problem", std::move(problem)));
}

std::string link_text(const fs::path& place) {
  std::error_code error;
  return "a link to " + path_text(fs::read_symlink(place, error));
}

}  // namespace

std::optional<Diagnosis> unexpected_entry(const fs::path& place) {
  calls::Status here{}, meant{};
  if (calls::lstat(place.c_str(), &here) != 0 || S_ISDIR(here.st_mode)) return {};
  std::string problem;
  if (S_ISLNK(here.st_mode)) {
    // Something inaccessible may be a folder.
    if (calls::stat(place.c_str(), &meant) != 0) {
      if (errno != ENOENT && errno != ELOOP && errno != ENOTDIR) return {};
      problem = "which is not there";
    } else if (S_ISDIR(meant.st_mode)) {
      return {};
    } else {
      problem = "which is no folder";
    }
    problem = link_text(place) + ", " + problem;
  } else {
    problem =
        S_ISREG(here.st_mode) ? "a file, not a folder" : "a named pipe, a socket or a device, not a folder";
  }
  return in_the_way(place, std::move(problem));
}

std::optional<Diagnosis> unexpected_note(const fs::path& note) {
  calls::Status here{}, meant{};
  if (calls::lstat(note.c_str(), &here) != 0 || S_ISREG(here.st_mode)) return {};
  if (S_ISDIR(here.st_mode)) return in_the_way(note, "a folder, not a file");
  if (!S_ISLNK(here.st_mode)) return in_the_way(note, "a named pipe, a socket or a device, not a file");
  // A dangling link counts as no note.
  const bool odd = calls::stat(note.c_str(), &meant) == 0 ? !S_ISREG(meant.st_mode) : errno == ELOOP;
  return odd ? std::optional(in_the_way(note, link_text(note) + ", which is no file")) : std::nullopt;
}

Result<std::optional<fs::path>> move_unexpected_entry_aside(const fs::path& root, const fs::path& place) {
  // One process at a time, so that a second one does not move away the folder that the first has created. The
  // lock file is beside the folder of locks, which may itself be the unexpected entry.
  // Everybody who may enter the cache may hold the lock; the work under it takes milliseconds.
  WaitOptions wait;
  wait.at_most = std::chrono::seconds(5);
  auto lock = FileLock::exclusive(root / ".places.lk", "places", wait);
  if (!(place == orphaned_trees_file(root) ? unexpected_note(place) : unexpected_entry(place)))
    return std::optional<fs::path>();
  if (!lock) return fail(std::move(lock).error());
  fs::path aside = place;
  aside += ".aside-" + random_hex(4);
  if (calls::rename(place.c_str(), aside.c_str()) != 0) return fail(disk_failure(errno, place, root));
  TRY(sync_folder(root));
  return std::optional<fs::path>(std::move(aside));
}

}  // namespace enginehost::cache::inside
