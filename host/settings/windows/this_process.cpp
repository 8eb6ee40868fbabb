#include <cstdlib>
#include <cwchar>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/sha256.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "host/settings/person.hpp"
#include "host/settings/settings.hpp"
// Must follow <windows.h>.
#include <knownfolders.h>
#include <shlobj.h>

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

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
  Environment result;
  const fs::path shared = data_of_all_users();
  result.system_config = shared.empty() ? fs::path() : shared / "EngineHost" / "config.json";
  result.system_layer = shared.empty() ? fs::path() : shared / "EngineHost" / "cache";
  if (wchar_t* const block = ::GetEnvironmentStringsW(); block != nullptr) {
    for (const wchar_t* entry = block; *entry != 0; entry += std::wcslen(entry) + 1) {
      const std::wstring_view text = entry;
      // Variables that begin with "=" are the current folders of drives.
      if (const std::size_t equals = text.find(L'=', 1);
          equals != std::wstring_view::npos && text.front() != L'=')
        result.variables.emplace(windows::utf8(text.substr(0, equals)),
                                 windows::utf8(text.substr(equals + 1)));
    }
    ::FreeEnvironmentStringsW(block);
  }
  if (const std::string* home = result.find("USERPROFILE"); home != nullptr && path_of(*home).is_absolute())
    result.home = path_of(*home);
  std::error_code error;
  result.current_folder = fs::current_path(error);
  result.executable_folder = enginehost::executable_folder();
  result.library_folder = enginehost::library_folder();
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
