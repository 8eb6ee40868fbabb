#include "tests/support/holes.hpp"

#include "base/windows/system.hpp"

// After <windows.h>.
#include <winioctl.h>

namespace enginehost::test {

bool punch_hole(const std::filesystem::path& file, std::uint64_t from, std::uint64_t size) {
  const windows::Handle opened(::CreateFileW(file.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ,
                                             nullptr, OPEN_EXISTING, 0, nullptr));
  FILE_ZERO_DATA_INFORMATION hole{};
  hole.FileOffset.QuadPart = static_cast<LONGLONG>(from);
  hole.BeyondFinalZero.QuadPart = static_cast<LONGLONG>(from + size);
  DWORD none = 0;
  return opened.valid() &&
         ::DeviceIoControl(opened.get(), FSCTL_SET_SPARSE, nullptr, 0, nullptr, 0, &none, nullptr) != 0 &&
         ::DeviceIoControl(opened.get(), FSCTL_SET_ZERO_DATA, &hole, sizeof hole, nullptr, 0, &none,
                           nullptr) != 0;
}

}  // namespace enginehost::test
