// Parts of transfers for Windows: the places of pip, certificates, the terminal.
#include <io.h>

#include <system_error>

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/windows/system.hpp"
#include "host/transfer/connection_settings.hpp"
#include "host/transfer/pip.hpp"
#include "host/transfer/progress_bar.hpp"
// After <windows.h>.
#include <knownfolders.h>
#include <shlobj.h>
#include <wincrypt.h>

namespace enginehost::transfer {

namespace fs = std::filesystem;

namespace {

fs::path known_folder(const KNOWNFOLDERID& id) {
  wchar_t* raw = nullptr;
  const fs::path folder = ::SHGetKnownFolderPath(id, 0, nullptr, &raw) == S_OK ? fs::path(raw) : fs::path();
  ::CoTaskMemFree(raw);
  return folder;
}

std::string pem_of(const CERT_CONTEXT& certificate) {
  DWORD size = 0;
  const DWORD form = CRYPT_STRING_BASE64HEADER | CRYPT_STRING_NOCR;
  if (::CryptBinaryToStringA(certificate.pbCertEncoded, certificate.cbCertEncoded, form, nullptr, &size) == 0)
    return {};
  std::string text(size, '\0');  // its last byte is for a zero
  if (::CryptBinaryToStringA(certificate.pbCertEncoded, certificate.cbCertEncoded, form, text.data(),
                             &size) == 0)
    return {};
  text.resize(size);
  return text;
}

HANDLE console_of(std::FILE* stream) { return reinterpret_cast<HANDLE>(::_get_osfhandle(::_fileno(stream))); }

}  // namespace

// py is the launcher that Python's installer puts into Windows' folder.
const std::vector<std::vector<std::string>>& pip_commands() {
  static const auto& commands =
      *new std::vector<std::vector<std::string>>{{"py", "-m", "pip"}, {"python", "-m", "pip"}, {"pip"}};
  return commands;
}

fs::path home_folder() { return path_of(environment_variable("USERPROFILE").value_or("")); }

std::optional<fs::path> prefix_of(const fs::path& python) {
  std::error_code error;
  if (environment_variable("PYTHONHOME")) return {};
  const fs::path folder = python.parent_path();
  if (fs::exists(folder / "pyvenv.cfg", error) || fs::exists(folder.parent_path() / "pyvenv.cfg", error))
    return folder.parent_path();
  if (fs::exists(folder / "Lib" / "os.py", error)) return folder;
  return {};
}

PipFiles pip_files() {
  PipFiles files;
  files.global = {known_folder(FOLDERID_ProgramData) / "pip" / pip_file_name};
  files.user = {home_folder() / "pip" / pip_file_name,
                known_folder(FOLDERID_RoamingAppData) / "pip" / pip_file_name};
  for (auto* list : {&files.global, &files.user})
    std::erase_if(*list, [](const fs::path& file) { return !file.is_absolute(); });
  return files;
}

std::string system_certificates(std::uint64_t limit) {
  std::string text;
  const HCERTSTORE store = ::CertOpenSystemStoreW(0, L"ROOT");
  if (store == nullptr) return text;
  const CERT_CONTEXT* certificate = nullptr;
  while ((certificate = ::CertEnumCertificatesInStore(store, certificate)) != nullptr)
    if (const std::string pem = pem_of(*certificate); text.size() + pem.size() <= limit) text += pem;
  ::CertCloseStore(store, 0);
  return text;
}

Authorities system_authorities() { return {}; }

bool needs_given_certificates() {
  static const bool wine = ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
  return wine;
}

bool is_terminal(std::FILE* stream) {
  const HANDLE console = console_of(stream);
  DWORD mode = 0;
  return ::GetConsoleMode(console, &mode) != 0 &&
         ::SetConsoleMode(console, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

std::size_t columns_of(std::FILE* stream) {
  CONSOLE_SCREEN_BUFFER_INFO screen{};
  if (::GetConsoleScreenBufferInfo(console_of(stream), &screen) == 0) return 80;
  const int columns = screen.srWindow.Right - screen.srWindow.Left + 1;
  return columns > 0 ? static_cast<std::size_t>(columns) : 80;
}

}  // namespace enginehost::transfer
