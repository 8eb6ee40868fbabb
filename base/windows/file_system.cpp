#include "base/file_system.hpp"

#include "base/windows/file_calls.hpp"
#include "base/windows/system.hpp"

#include <winioctl.h>

namespace enginehost {
namespace {

HANDLE open_handle(int file) { return reinterpret_cast<HANDLE>(::_get_osfhandle(file)); }

}  // namespace

std::optional<Space> space_below(const std::filesystem::path& folder) {
  ULARGE_INTEGER mine{}, all{};
  if (::GetDiskFreeSpaceExW(calls::Name(folder).for_call().c_str(), &mine, &all, nullptr) == 0)
    return std::nullopt;
  return Space{mine.QuadPart, all.QuadPart, false};
}

bool is_shared_file_system(const std::filesystem::path& folder) {
  wchar_t root[MAX_PATH + 1];
  return ::GetVolumePathNameW(folder.c_str(), root, MAX_PATH) != 0 && ::GetDriveTypeW(root) == DRIVE_REMOTE;
}

bool keeps_modes(const std::filesystem::path&) { return false; }

bool forbids_execution(const std::filesystem::path&) { return false; }

std::filesystem::path usable_temporary_folder() { return {}; }

std::string mount_flags(const std::filesystem::path& folder) {
  calls::Status status;
  wchar_t root[MAX_PATH + 1];
  DWORD flags = 0;
  if (calls::stat(folder, &status) != 0 || ::GetVolumePathNameW(folder.c_str(), root, MAX_PATH) == 0 ||
      ::GetVolumeInformationW(root, nullptr, 0, nullptr, nullptr, &flags, nullptr, 0) == 0)
    return {};
  return (flags & FILE_READ_ONLY_VOLUME) != 0 ? "ro" : "rw";
}

std::uint64_t file_size_limit() { return UINT64_MAX; }

// ReFS supports it (FSCTL_DUPLICATE_EXTENTS_TO_FILE); that was never tested here.
bool clone_content(int, int) { return false; }

void begin_writing_out(int, std::uint64_t, std::uint64_t) {}

// Fails except on NTFS and ReFS; gaps are then filled with zeros.
void allow_holes(int file) {
  DWORD none = 0;
  ::DeviceIoControl(open_handle(file), FSCTL_SET_SPARSE, nullptr, 0, nullptr, 0, &none, nullptr);
}

}  // namespace enginehost
