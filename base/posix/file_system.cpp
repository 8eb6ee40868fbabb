#include "base/file_system.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/mount.h>
#else
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <array>
#include <string_view>

#include "base/environment.hpp"

namespace enginehost {

#ifdef __APPLE__

namespace {

// The kind of the file system; empty if it is not known.
std::string kind_of(const std::filesystem::path& folder) {
  struct statfs status {};
  return ::statfs(folder.c_str(), &status) == 0 ? status.f_fstypename : "";
}

std::uint32_t flags_of(const std::filesystem::path& folder) {
  struct statfs status {};
  return ::statfs(folder.c_str(), &status) == 0 ? status.f_flags : std::uint32_t{MNT_LOCAL};
}

}  // namespace

// Not statvfs(3), whose numbers of blocks have 32 bits here.
std::optional<Space> space_below(const std::filesystem::path& folder) {
  struct statfs status {};
  if (::statfs(folder.c_str(), &status) != 0) return std::nullopt;
  return Space{static_cast<std::uint64_t>(status.f_bavail) * status.f_bsize,
               static_cast<std::uint64_t>(status.f_blocks) * status.f_bsize,
               status.f_files != 0 && status.f_ffree == 0};
}

// FUSE volumes may claim to be local, and often are shared folders.
bool is_shared_file_system(const std::filesystem::path& folder) {
  return (flags_of(folder) & MNT_LOCAL) == 0 || kind_of(folder).find("fuse") != std::string::npos;
}

bool keeps_modes(const std::filesystem::path& folder) {
  const std::string kind = kind_of(folder);
  return kind != "msdos" && kind != "exfat" && kind != "ntfs";
}

bool forbids_execution(const std::filesystem::path& folder) { return (flags_of(folder) & MNT_NOEXEC) != 0; }

// APFS clones only to a name that does not exist yet (clonefile(2)), never into an open file.
bool clone_content(int, int) { return false; }

// macOS has no call that starts writing without waiting.
void begin_writing_out(int, std::uint64_t, std::uint64_t) {}

#else

namespace {

// From linux/magic.h, and statfs(2) for file systems outside the kernel's tree.
constexpr std::array<std::uint32_t, 15> shared_file_systems{
    0x6969,      // NFS
    0x517B,      // SMB
    0xFE534D42,  // SMB 2
    0xFF534D42,  // CIFS
    0x0BD00BD0,  // Lustre
    0x47504653,  // GPFS
    0x00C36400,  // CephFS
    0x19830326,  // BeeGFS
    0x01021997,  // 9p
    0x65735546,  // FUSE
    0x5346414F,  // AFS
    0x73757245,  // Coda
    0x7461636F,  // OCFS2
    0x01161970,  // GFS2
    0x786F4256,  // VirtualBox's shared folders
};
// FAT, exFAT and NTFS (both drivers) show one mode for all files.
constexpr std::array<std::uint32_t, 4> without_modes{0x4D44, 0x2011BAB0, 0x5346544E, 0x7366746E};

template <std::size_t count>
bool is_one_of(const std::filesystem::path& folder, const std::array<std::uint32_t, count>& kinds) {
  struct statfs status {};
  return ::statfs(folder.c_str(), &status) == 0 &&
         std::find(kinds.begin(), kinds.end(), static_cast<std::uint32_t>(status.f_type)) != kinds.end();
}

}  // namespace

std::optional<Space> space_below(const std::filesystem::path& folder) {
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0) return std::nullopt;
  return Space{static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize,
               static_cast<std::uint64_t>(status.f_blocks) * status.f_frsize,
               status.f_files != 0 && status.f_favail == 0};
}

bool is_shared_file_system(const std::filesystem::path& folder) {
  return is_one_of(folder, shared_file_systems);
}

bool keeps_modes(const std::filesystem::path& folder) { return !is_one_of(folder, without_modes); }

bool forbids_execution(const std::filesystem::path& folder) {
  struct statvfs mounted {};
  return ::statvfs(folder.c_str(), &mounted) == 0 && (mounted.f_flag & ST_NOEXEC) != 0;
}

bool clone_content(int to, int from) { return ::ioctl(to, FICLONE, from) == 0; }

void begin_writing_out(int file, std::uint64_t from, std::uint64_t size) {
  ::sync_file_range(file, static_cast<off_t>(from), static_cast<off_t>(size), SYNC_FILE_RANGE_WRITE);
}

#endif

std::filesystem::path usable_temporary_folder() {
  const std::string named = environment_variable("TMPDIR").value_or("");
  for (const char* folder : {named.c_str(), "/tmp", "/var/tmp", "/dev/shm"})
    if (*folder == '/' && ::access(folder, W_OK | X_OK) == 0 && !forbids_execution(folder)) return folder;
  return {};
}

std::string mount_flags(const std::filesystem::path& folder) {
  struct statvfs mounted {};
  if (::statvfs(folder.c_str(), &mounted) != 0) return {};
  std::string flags = (mounted.f_flag & ST_RDONLY) != 0 ? "ro" : "rw";
  if (forbids_execution(folder)) flags += " noexec";
  if ((mounted.f_flag & ST_NOSUID) != 0) flags += " nosuid";
  return flags;
}

std::uint64_t file_size_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

void allow_holes(int) {}

}  // namespace enginehost
