// Names that are served without a file of the build: API sets, parts of Windows, Microsoft's C++ runtime,
// drivers.
#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/windows.hpp"

namespace enginehost::linker {
namespace {

// Libraries in System32 of every 64-bit Windows 10 and 11 that programs import, sorted: the "DLL" rows of
// Microsoft's reference pages and the matching part of Wine's dlls folder. A fresh System32 has thousands.
// The N editions lack those for media (mf.dll, mfplat.dll, mfreadwrite.dll, wmvcore.dll and others) until
// Microsoft's Media Feature Pack is installed. Libraries of a redistributable, a driver or an optional
// feature are not listed.
constexpr std::string_view parts_of_windows =
    " aclui.dll activeds.dll actxprxy.dll adsldp.dll adsldpc.dll advapi32.dll advpack.dll amsi.dll "
    "apphelp.dll atl.dll audioses.dll authz.dll avicap32.dll avifil32.dll avrt.dll bcp47langs.dll "
    "bcrypt.dll bcryptprimitives.dll bluetoothapis.dll browcli.dll bthprops.cpl cabinet.dll certcli.dll "
    "cfgmgr32.dll clbcatq.dll cldapi.dll clusapi.dll combase.dll comctl32.dll comdlg32.dll compstui.dll "
    "comsvcs.dll coremessaging.dll credui.dll crypt32.dll cryptbase.dll cryptdll.dll cryptext.dll "
    "cryptnet.dll cryptsp.dll cryptui.dll cryptxml.dll cscapi.dll d2d1.dll d3d10.dll d3d10_1.dll "
    "d3d10core.dll d3d10warp.dll d3d11.dll d3d12.dll d3d9.dll d3dcompiler_47.dll davclnt.dll dbgcore.dll "
    "dbgeng.dll dbghelp.dll dbgmodel.dll dciman32.dll dcomp.dll ddraw.dll ddrawex.dll devenum.dll "
    "devobj.dll dfscli.dll dhcpcsvc.dll dhcpcsvc6.dll dinput.dll dinput8.dll directml.dll dnsapi.dll "
    "dpapi.dll drt.dll dsound.dll dsparse.dll dsprop.dll dsrole.dll dsuiext.dll dwmapi.dll dwrite.dll "
    "dxcore.dll dxgi.dll dxtrans.dll dxva2.dll eappcfg.dll eappprxy.dll esent.dll evr.dll faultrep.dll "
    "feclient.dll fltlib.dll fontsub.dll fwpuclnt.dll gdi32.dll gdi32full.dll gdiplus.dll glu32.dll "
    "gpapi.dll hid.dll hlink.dll hnetcfg.dll httpapi.dll icu.dll icuin.dll icuuc.dll ieframe.dll "
    "iertutil.dll imagehlp.dll imm32.dll inetcomm.dll inseng.dll iphlpapi.dll jscript.dll kerberos.dll "
    "kernel.appcore.dll kernel32.dll kernelbase.dll ksuser.dll ktmw32.dll loadperf.dll logoncli.dll "
    "lz32.dll mapi32.dll mf.dll mfc42.dll mfc42u.dll mfcore.dll mfmediaengine.dll mfplat.dll mfplay.dll "
    "mfreadwrite.dll mfsensorgroup.dll mfsrcsnk.dll mgmtapi.dll mi.dll mlang.dll mmdevapi.dll mpr.dll "
    "mprapi.dll msacm32.dll msasn1.dll mscat32.dll mscms.dll mscoree.dll msctf.dll msdelta.dll msdmo.dll "
    "msdrm.dll msftedit.dll mshtml.dll msi.dll msimg32.dll msls31.dll mspatcha.dll mssign32.dll mstask.dll "
    "msvcirt.dll msvcp60.dll msvcp_win.dll msvcrt.dll msvfw32.dll mswsock.dll msxml3.dll msxml6.dll "
    "ncrypt.dll ndfapi.dll netapi32.dll netcfgx.dll netprofm.dll netutils.dll newdev.dll ninput.dll "
    "normaliz.dll nsi.dll ntasn1.dll ntdll.dll ntdsapi.dll ntlanman.dll ntmarta.dll odbc32.dll odbccp32.dll "
    "ole32.dll oleacc.dll oleaut32.dll oledlg.dll opcservices.dll opengl32.dll p2p.dll pdh.dll powrprof.dll "
    "printui.dll prntvpt.dll profapi.dll propsys.dll psapi.dll quartz.dll query.dll qwave.dll rasapi32.dll "
    "rasdlg.dll regapi.dll resutils.dll riched20.dll riched32.dll rpcns4.dll rpcrt4.dll rsaenh.dll "
    "rstrtmgr.dll rtutils.dll rtworkq.dll samcli.dll samlib.dll schannel.dll schedcli.dll sechost.dll "
    "secur32.dll security.dll sensapi.dll setupapi.dll sfc.dll sfc_os.dll shcore.dll shdocvw.dll "
    "shell32.dll shfolder.dll shlwapi.dll slc.dll slwga.dll snmpapi.dll softpub.dll spoolss.dll "
    "srclient.dll srvcli.dll sspicli.dll sti.dll sxs.dll t2embed.dll tapi32.dll taskschd.dll tbs.dll "
    "tdh.dll tokenbinding.dll traffic.dll twinapi.appcore.dll ucrtbase.dll uianimation.dll "
    "uiautomationcore.dll uiribbon.dll urlmon.dll user32.dll userenv.dll usp10.dll uxtheme.dll vbscript.dll "
    "version.dll virtdisk.dll vssapi.dll wcmapi.dll wdscore.dll webauthn.dll webio.dll webservices.dll "
    "websocket.dll wer.dll wevtapi.dll wimgapi.dll win32u.dll winbio.dll windows.ai.machinelearning.dll "
    "windows.storage.dll windowscodecs.dll windowscodecsext.dll winhttp.dll wininet.dll winmm.dll "
    "winmmbase.dll winnsi.dll winscard.dll winspool.drv winsta.dll wintrust.dll wintypes.dll winusb.dll "
    "wkscli.dll wlanapi.dll wldap32.dll wldp.dll wmasf.dll wmi.dll wmiclnt.dll wmphoto.dll wmvcore.dll "
    "wofutil.dll ws2_32.dll wscapi.dll wsdapi.dll wsnmp32.dll wsock32.dll wtsapi32.dll wuapi.dll "
    "xaudio2_8.dll xaudio2_9.dll xinput1_4.dll xinput9_1_0.dll xmllite.dll xolehlp.dll xpsprint.dll ";

// "Visual C++ Redistributable for Visual Studio 2015-2022"; api-ms-win-crt-* and ucrtbase.dll are part of
// Windows since Windows 10.
constexpr std::string_view redistributable =
    " concrt140.dll mfc140.dll mfc140u.dll msvcp140.dll msvcp140_1.dll msvcp140_2.dll "
    "msvcp140_atomic_wait.dll msvcp140_codecvt_ids.dll vcamp140.dll vccorlib140.dll vcomp140.dll "
    "vcruntime140.dll vcruntime140_1.dll vcruntime140_threads.dll ";

constexpr std::string_view driver =
    " amdhip64.dll nvapi64.dll nvcuda.dll nvcuvid.dll nvencodeapi64.dll nvml.dll nvoptix.dll opencl.dll "
    "vulkan-1.dll ze_loader.dll ";

// Each name in these lists has a space before and after it.
bool holds(std::string_view names, const std::string& name) {
  return name.find(' ') == std::string::npos && names.find(" " + name + " ") != std::string_view::npos;
}

// "Search order using LOAD_LIBRARY_SEARCH flags".
void add_by_flags(const WindowsMachine& machine, std::uint32_t flags, const std::string& dll,
                  std::vector<WindowsPlace>& places) {
  if ((flags & search_dll_load_dir) != 0) places.push_back({folder_of(dll), "folder of " + base_name(dll)});
  if ((flags & (search_application_dir | search_default_dirs)) != 0)
    places.push_back({machine.application_directory, "folder of the program"});
  if ((flags & (search_user_dirs | search_default_dirs)) != 0) {
    // Microsoft does not specify the order among added folders; in practice it is newest first.
    for (auto added = machine.added_directories.rbegin(); added != machine.added_directories.rend(); ++added)
      places.push_back({*added, "AddDllDirectory"});
    places.push_back({machine.dll_directory, "SetDllDirectory"});
  }
  if ((flags & (search_system32 | search_default_dirs)) != 0)
    places.push_back({machine.system_directory, "system folder"});
}

// "Standard search order for unpackaged apps", and the alternate order, with the DLL's folder instead of the
// program's.
void add_standard(const WindowsMachine& machine, std::uint32_t flags, const std::string& dll,
                  std::vector<WindowsPlace>& places) {
  if ((flags & altered_search_path) != 0)
    places.push_back({folder_of(dll), "folder of " + base_name(dll)});
  else
    places.push_back({machine.application_directory, "folder of the program"});
  // SetDllDirectory removes the current folder from the search and puts its own folder in the place that the
  // current folder has without safe mode.
  const bool current = machine.dll_directory.empty();
  places.push_back({machine.dll_directory, "SetDllDirectory"});
  if (current && !machine.safe_search) places.push_back({machine.current_directory, "current folder"});
  places.push_back({machine.system_directory, "system folder"});
  places.push_back({machine.system16_directory, "16-bit system folder"});
  places.push_back({machine.windows_directory, "Windows folder"});
  if (current && machine.safe_search) places.push_back({machine.current_directory, "current folder"});
  for (const std::string& folder : machine.path) places.push_back({folder, "PATH"});
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

std::vector<WindowsPlace> windows_places(const WindowsMachine& machine, std::uint32_t flags,
                                         const std::string& dll) {
  constexpr std::uint32_t search_flags =
      search_dll_load_dir | search_application_dir | search_user_dirs | search_system32 | search_default_dirs;
  std::vector<WindowsPlace> places;
  if ((flags & search_flags) != 0)
    add_by_flags(machine, flags, dll, places);
  else if (machine.default_flags != 0)
    // "SetDefaultDllDirectories function": used if no such flag is given. The altered search then only adds
    // the DLL's own folder (RtlGetSearchPath of Wine, tests/windows).
    add_by_flags(machine,
                 machine.default_flags | ((flags & altered_search_path) != 0 ? search_dll_load_dir : 0u), dll,
                 places);
  else
    add_standard(machine, flags, dll, places);
  std::erase_if(places, [](const WindowsPlace& place) { return place.directory.empty(); });
  return places;
}

std::string on_disk(const WindowsMachine& machine, std::string_view path, Reader& reader) {
  if (path.starts_with('/')) {
    const std::filesystem::path whole(path_of(path));
    return reader.find_ignoring_case(path_text(whole.parent_path()), path_text(whole.filename()));
  }
  if (path.starts_with("\\\\?\\")) path.remove_prefix(4);
  if (path.size() < 2 || path[1] != ':') return {};
  const auto drive =
      machine.drives.find(static_cast<char>(std::toupper(static_cast<unsigned char>(path.front()))));
  if (drive == machine.drives.end()) return {};
  std::string at = path_text(drive->second);
  path.remove_prefix(2);
  while (!path.empty()) {
    const std::size_t end = path.find_first_of("\\/");
    const std::string_view element = path.substr(0, end);
    if (!element.empty() && element != ".") at = reader.find_ignoring_case(at, element);
    if (at.empty() || end == std::string_view::npos) return at;
    path.remove_prefix(end + 1);
  }
  return at;
}

}  // namespace enginehost::linker
