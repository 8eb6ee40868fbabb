#include "base/file_system.hpp"

#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string_view>

namespace enginehost {
namespace {

// Calls statfs(2); flags and names are empty if it fails.
struct statfs status_of(const std::filesystem::path& folder, bool& known) {
  struct statfs status {};
  known = ::statfs(folder.c_str(), &status) == 0;
  return status;
}

}  // namespace

std::optional<Space> space_below(const std::filesystem::path& folder) {
  bool known = false;
  const struct statfs status = status_of(folder, known);
  if (!known) return std::nullopt;
  return Space{static_cast<std::uint64_t>(status.f_bavail) * status.f_bsize,
               static_cast<std::uint64_t>(status.f_blocks) * status.f_bsize,
               status.f_files != 0 && status.f_ffree == 0};
}

// FUSE volumes may claim to be local, and often are shared folders.
bool is_shared_file_system(const std::filesystem::path& folder) {
  bool known = false;
  const struct statfs status = status_of(folder, known);
  const std::string_view kind = status.f_fstypename;
  return known && ((status.f_flags & MNT_LOCAL) == 0 || kind.find("fuse") != std::string_view::npos);
}

bool keeps_modes(const std::filesystem::path& folder) {
  bool known = false;
  const struct statfs status = status_of(folder, known);
  const std::string_view kind = status.f_fstypename;
  return !known || (kind != "msdos" && kind != "exfat" && kind != "ntfs");
}

bool forbids_execution(const std::filesystem::path& folder) {
  bool known = false;
  const struct statfs status = status_of(folder, known);
  return known && (status.f_flags & MNT_NOEXEC) != 0;
}

std::string mount_flags(const std::filesystem::path& folder) {
  bool known = false;
  const struct statfs status = status_of(folder, known);
  if (!known) return {};
  std::string flags = (status.f_flags & MNT_RDONLY) != 0 ? "ro" : "rw";
  if ((status.f_flags & MNT_NOEXEC) != 0) flags += " noexec";
  if ((status.f_flags & MNT_NOSUID) != 0) flags += " nosuid";
  return flags;
}

std::uint64_t file_size_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

// APFS clones only to a name that does not exist yet (clonefile(2)), never into an open file.
bool clone_content(int, int) { return false; }

// macOS has no call that starts writing without waiting.
void begin_writing_out(int, std::uint64_t, std::uint64_t) {}

void allow_holes(int) {}

std::optional<std::uint64_t> first_hole(int file, std::uint64_t from) {
  const off_t hole = ::lseek(file, static_cast<off_t>(from), SEEK_HOLE);
  if (hole < 0) return std::nullopt;
  return static_cast<std::uint64_t>(hole);
}

// Syncs the whole volume at once.
bool write_out_below(const std::filesystem::path& folder) {
  return ::sync_volume_np(folder.c_str(), SYNC_VOLUME_FULLSYNC | SYNC_VOLUME_WAIT) == 0;
}

bool exchange_names(const std::filesystem::path& one, const std::filesystem::path& other) {
  return ::renamex_np(one.c_str(), other.c_str(), RENAME_SWAP) == 0;
}

}  // namespace enginehost
