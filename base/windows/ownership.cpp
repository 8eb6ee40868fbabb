#include "base/ownership.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "base/windows/file_calls.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
// After <windows.h>, which they need.
#include <aclapi.h>
#include <sddl.h>

namespace enginehost {
namespace {

namespace fs = std::filesystem;

struct FreeLocal {
  void operator()(void* memory) const { ::LocalFree(memory); }
};

// Returns "S-1-5-32-544": the same on every Windows, unlike names.
std::string text_of_sid(PSID sid) {
  wchar_t* text = nullptr;
  if (::ConvertSidToStringSidW(sid, &text) == 0) return {};
  const std::unique_ptr<wchar_t, FreeLocal> owned(text);
  return windows::utf8(text);
}

std::string sid_of_this_user() {
  HANDLE raw = nullptr;
  if (::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &raw) == 0) return {};
  const windows::Handle token(raw);
  std::vector<unsigned char> memory(1024);
  DWORD size = 0;
  if (::GetTokenInformation(token.get(), TokenUser, memory.data(), static_cast<DWORD>(memory.size()),
                            &size) == 0)
    return {};
  return text_of_sid(reinterpret_cast<const TOKEN_USER*>(memory.data())->User.Sid);
}

// Administrators, the system, and the installer of Windows components may change everything anyway.
bool is_administrator(const std::string& sid) {
  return sid == "S-1-5-32-544" || sid == "S-1-5-18" ||
         sid == "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464";
}

const char* everybody_named(const std::string& sid) {
  if (sid == "S-1-1-0") return "Everyone";
  if (sid == "S-1-5-11") return "Authenticated Users";
  if (sid == "S-1-5-32-545") return "Users";
  if (sid == "S-1-5-7") return "Anonymous";
  if (sid == "S-1-5-32-546") return "Guests";
  return nullptr;
}

Diagnosis untrusted(const fs::path& folder, const std::string& problem, const std::string& owner) {
  return std::move(diagnose(Code::cache_folder_not_trusted)
                       .with(Key::folder, path_text(folder))
                       .with(Key::problem, problem)
                       .with(Key::owner, owner, "GetNamedSecurityInfo"));
}

Changers changers_of(const fs::path& path) {
  PSID owner = nullptr;
  PACL list = nullptr;
  PSECURITY_DESCRIPTOR raw = nullptr;
  std::wstring name = calls::Name(path).for_call();
  if (::GetNamedSecurityInfoW(name.data(), SE_FILE_OBJECT,
                              OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner, nullptr, &list,
                              nullptr, &raw) != ERROR_SUCCESS)
    return {};
  const std::unique_ptr<void, FreeLocal> descriptor(raw);
  const std::string owned_by = text_of_sid(owner);
  Changers changers;
  if (owned_by != sid_of_this_user() && !is_administrator(owned_by)) {
    changers.other = "user " + owned_by;
    changers.problem = untrusted(
        path, "it belongs to " + owned_by + ", who is neither this user nor an administrator", owned_by);
    return changers;
  }
  if (list == nullptr) {
    changers.problem = untrusted(path, "everybody has full access to it", owned_by);
    return changers;
  }
  // Rights to add a file, or to let others add one.
  constexpr DWORD writes = FILE_ADD_FILE | FILE_ADD_SUBDIRECTORY | FILE_DELETE_CHILD | DELETE | WRITE_DAC |
                           WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL;
  for (DWORD i = 0; i < list->AceCount; ++i) {
    void* raw_entry = nullptr;
    if (::GetAce(list, i, &raw_entry) == 0) continue;
    const auto* entry = static_cast<const ACCESS_ALLOWED_ACE*>(raw_entry);
    if (entry->Header.AceType != ACCESS_ALLOWED_ACE_TYPE ||
        (entry->Header.AceFlags & INHERIT_ONLY_ACE) != 0 || (entry->Mask & writes) == 0)
      continue;
    const std::string who = text_of_sid(const_cast<DWORD*>(&entry->SidStart));
    if (const char* everybody = everybody_named(who)) {
      changers.problem =
          untrusted(path, std::string(everybody) + " (" + who + ") may write into it", owned_by);
      return changers;
    }
  }
  return changers;
}

}  // namespace

Changers who_may_change(const fs::path& path, Purpose purpose, const Known&) {
  constexpr Purpose not_asked[] = {Purpose::personal, Purpose::named, Purpose::home, Purpose::written};
  if (std::ranges::find(not_asked, purpose) != std::end(not_asked)) return {};
  return changers_of(path);
}

// Files of an administrator have the access list of their folder, which is inherited.
Result<std::optional<std::string>> become_owner_of(const fs::path&) { return std::optional<std::string>(); }

std::optional<Foreign> made_by_another(const fs::path&, const fs::path&) { return {}; }

}  // namespace enginehost
