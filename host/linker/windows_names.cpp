// Names that are served without a file of the build: API sets, parts of Windows, Microsoft's C++ runtime,
// drivers.
#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "host/linker/windows.hpp"

namespace enginehost::linker {
namespace {

// What engines import of Windows 10 and 11, sorted; the first column of a fresh System32 would be thousands.
constexpr std::string_view parts_of_windows[] = {
    "advapi32.dll",
    "avicap32.dll",
    "avrt.dll",
    "bcrypt.dll",
    "bcryptprimitives.dll",
    "cabinet.dll",
    "cfgmgr32.dll",
    "clbcatq.dll",
    "combase.dll",
    "comctl32.dll",
    "comdlg32.dll",
    "credui.dll",
    "crypt32.dll",
    "cryptbase.dll",
    "cryptsp.dll",
    "d2d1.dll",
    "d3d10.dll",
    "d3d10_1.dll",
    "d3d11.dll",
    "d3d12.dll",
    "d3d9.dll",
    "d3dcompiler_47.dll",
    "dbgeng.dll",
    "dbghelp.dll",
    "ddraw.dll",
    "dhcpcsvc.dll",
    "dinput8.dll",
    "directml.dll",
    "dnsapi.dll",
    "dsound.dll",
    "dwmapi.dll",
    "dwrite.dll",
    "dxcore.dll",
    "dxgi.dll",
    "dxva2.dll",
    "fwpuclnt.dll",
    "gdi32.dll",
    "gdi32full.dll",
    "gdiplus.dll",
    "glu32.dll",
    "hid.dll",
    "imagehlp.dll",
    "imm32.dll",
    "iphlpapi.dll",
    "kernel32.dll",
    "kernelbase.dll",
    "ktmw32.dll",
    "mf.dll",
    "mfplat.dll",
    "mfreadwrite.dll",
    "mfuuid.dll",
    "mpr.dll",
    "msacm32.dll",
    "mscoree.dll",
    "msctf.dll",
    "msvcp_win.dll",
    "msvcrt.dll",
    "msvfw32.dll",
    "mswsock.dll",
    "ncrypt.dll",
    "netapi32.dll",
    "normaliz.dll",
    "nsi.dll",
    "ntdll.dll",
    "ntdsapi.dll",
    "ole32.dll",
    "oleacc.dll",
    "oleaut32.dll",
    "opengl32.dll",
    "pdh.dll",
    "powrprof.dll",
    "profapi.dll",
    "propsys.dll",
    "psapi.dll",
    "rpcrt4.dll",
    "sechost.dll",
    "secur32.dll",
    "setupapi.dll",
    "shcore.dll",
    "shell32.dll",
    "shlwapi.dll",
    "srvcli.dll",
    "sspicli.dll",
    "tdh.dll",
    "ucrtbase.dll",
    "urlmon.dll",
    "user32.dll",
    "userenv.dll",
    "usp10.dll",
    "uxtheme.dll",
    "version.dll",
    "wbemuuid.dll",
    "wevtapi.dll",
    "win32u.dll",
    "windowscodecs.dll",
    "winhttp.dll",
    "wininet.dll",
    "winmm.dll",
    "winspool.drv",
    "wintrust.dll",
    "wkscli.dll",
    "wldap32.dll",
    "wlanapi.dll",
    "ws2_32.dll",
    "wsock32.dll",
    "wtsapi32.dll",
    "xaudio2_9.dll",
    "xinput1_4.dll",
};

// "Visual C++ Redistributable for Visual Studio 2015-2022"; api-ms-win-crt-* and ucrtbase.dll are Windows'
// own since Windows 10.
constexpr std::string_view redistributable[] = {
    "concrt140.dll",
    "mfc140.dll",
    "mfc140u.dll",
    "msvcp140.dll",
    "msvcp140_1.dll",
    "msvcp140_2.dll",
    "msvcp140_atomic_wait.dll",
    "msvcp140_codecvt_ids.dll",
    "vcamp140.dll",
    "vccorlib140.dll",
    "vcomp140.dll",
    "vcruntime140.dll",
    "vcruntime140_1.dll",
    "vcruntime140_threads.dll",
};

constexpr std::string_view driver[] = {
    "amdhip64.dll", "nvapi64.dll", "nvcuda.dll", "nvcuvid.dll",  "nvencodeapi64.dll",
    "nvml.dll",     "nvoptix.dll", "opencl.dll", "vulkan-1.dll", "ze_loader.dll",
};

template <std::size_t n>
bool holds(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

SystemName system_name(std::string_view written) {
  const std::string name = to_lower(written);
  if (name.starts_with("api-ms-") || name.starts_with("ext-ms-")) return SystemName::api_set;
  if (holds(parts_of_windows, name)) return SystemName::windows;
  if (holds(redistributable, name)) return SystemName::redistributable;
  if (holds(driver, name)) return SystemName::driver;
  return SystemName::no;
}

}  // namespace enginehost::linker
