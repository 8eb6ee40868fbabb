#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/sha256.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/settings/places.hpp"
#include "host/settings/records.hpp"
// Must follow <windows.h>.
#include <knownfolders.h>
#include <shlobj.h>

namespace enginehost::settings {

namespace {

namespace fs = std::filesystem;

// %LOCALAPPDATA% belongs to this user on this machine. A roaming folder would be copied over the network at
// each logon.
SettingsPlace local_folder(const Environment& environment, const char* below) {
  const std::string* value = environment.find("LOCALAPPDATA");
  if (value != nullptr && path_of(*value).is_absolute())
    return {path_of(*value) / "EngineHost" / below, "LOCALAPPDATA"};
  if (environment.home.empty()) return {};
  return {environment.home / "AppData" / "Local" / "EngineHost" / below, "default"};
}

}  // namespace

SettingsPlace default_cache(const Environment& environment) { return local_folder(environment, "cache"); }

fs::path user_config_file(const Environment& environment) {
  const SettingsPlace place = local_folder(environment, "config.json");
  return place.folder;
}

SettingsPlace state_folder(const Environment& environment) { return local_folder(environment, "state"); }

char folder_separator() { return ';'; }

const char* helper_name() { return "enginehost-probe.exe"; }

Result<std::string> why_untrusted(const std::vector<fs::path>& paths, const fs::path&) {
  for (const fs::path& path : paths)
    if (const auto problem = who_may_change(path, Purpose::sdk_part).problem) return reason_of(*problem);
  return std::string();
}

// The site-packages of Python's installers for one user and for all: <Python>\Lib\\site-packages.
std::vector<LikelyInstallation> system_installations(const Environment& environment) {
  std::vector<LikelyInstallation> found;
  const auto add_pythons = [&](const fs::path& above, const char* source) {
    std::vector<fs::path> all;
    std::error_code error;
    for (fs::directory_iterator at(above, error), end; !error && at != end; at.increment(error))
      if (path_text(at->path().filename()).starts_with("Python3"))
        all.push_back(at->path() / "Lib" / "site-packages");
    std::sort(all.begin(), all.end());
    for (const fs::path& folder : all) found.push_back({folder, source});
  };
  if (const std::string* local = environment.find("LOCALAPPDATA"))
    add_pythons(path_of(*local) / "Programs" / "Python", "the user's Python packages");
  if (const std::string* programs = environment.find("ProgramFiles"))
    add_pythons(path_of(*programs), "the system's Python packages");
  return found;
}

namespace {

std::string host_name() {
  wchar_t name[256];
  DWORD size = 256;
  return ::GetComputerNameExW(ComputerNameDnsHostname, name, &size) != 0 ? windows::utf8({name, size})
                                                                         : std::string();
}

// The folder that all users of the machine share. Read from the system rather than from %ProgramData%, which
// the user who starts the program may set.
fs::path data_of_all_users() {
  wchar_t* raw = nullptr;
  fs::path folder;
  if (::SHGetKnownFolderPath(FOLDERID_ProgramData, 0, nullptr, &raw) == S_OK) folder = raw;
  ::CoTaskMemFree(raw);
  return folder;
}

// Windows users have no numbers. This number is part of the digest of their SID, so that users of a machine
// differ and JSON can hold it; 0 when the system does not return the SID.
std::uint64_t number_of_this_user() {
  HANDLE raw = nullptr;
  if (::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &raw) == 0) return 0;
  const windows::Handle token(raw);
  alignas(TOKEN_USER) char memory[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
  DWORD size = 0;
  if (::GetTokenInformation(token.get(), TokenUser, memory, sizeof memory, &size) == 0) return 0;
  const PSID user = reinterpret_cast<const TOKEN_USER*>(memory)->User.Sid;
  const std::string digest = sha256_hex({static_cast<const char*>(user), ::GetLengthSid(user)});
  return std::strtoull(digest.substr(0, 12).c_str(), nullptr, 16);
}

}  // namespace

Environment Environment::of_this_process() {
  Environment result = common_environment();
  const fs::path shared = data_of_all_users();
  result.system_config = shared.empty() ? fs::path() : shared / "EngineHost" / "config.json";
  result.system_layer = shared.empty() ? fs::path() : shared / "EngineHost" / "cache";
  if (const std::string* home = result.find("USERPROFILE"); home != nullptr && path_of(*home).is_absolute())
    result.home = path_of(*home);
  wchar_t id[64];
  DWORD size = sizeof id;
  if (::RegGetValueW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Cryptography", L"MachineGuid", RRF_RT_REG_SZ,
                     nullptr, id, &size) == ERROR_SUCCESS)
    result.machine = windows::utf8(id);
  else if (const std::string name = host_name(); !name.empty())
    result.machine = "host:" + name;
  return result;
}

User User::of_this_process() {
  User person;
  person.uid = number_of_this_user();
  person.user = effective_user();
  person.host = host_name();
  person.application = path_text(path_of(executable_path()).filename());
  person.process = calls::getpid();
  return person;
}

}  // namespace enginehost::settings
