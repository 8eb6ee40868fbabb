// Parts of transfers that Linux and macOS have in common: the places of pip, certificates, the terminal.
#include <curl/curl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/posix/local_accounts.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/transfer/connection_settings.hpp"
#include "host/transfer/pip.hpp"
#include "host/transfer/progress_bar.hpp"

namespace enginehost::transfer {

namespace fs = std::filesystem;

const std::vector<std::vector<std::string>>& pip_commands() {
  static const auto& commands =
      *new std::vector<std::vector<std::string>>{{"python3", "-m", "pip"}, {"pip3"}, {"pip"}};
  return commands;
}

fs::path home_folder() {
  // The home of the caller, or of another user, gives a program with more rights no index.
  if (has_more_rights_than_its_caller()) return {};
  if (const fs::path home = environment_variable("HOME").value_or(""); home.is_absolute()) return home;
  const auto user = local_user(::geteuid());
  return user ? fs::path(user->home) : fs::path();
}

// Python takes the program's own name for pyvenv.cfg, and the file behind links for lib/python3.N/os.py.
std::optional<fs::path> prefix_of(const fs::path& python) {
  std::error_code error;
  if (environment_variable("PYTHONHOME")) return {};
  const fs::path folder = python.parent_path();
  if (fs::exists(folder / "pyvenv.cfg", error) || fs::exists(folder.parent_path() / "pyvenv.cfg", error))
    return folder.parent_path();
  for (fs::path at = fs::canonical(python, error).parent_path(); at.has_relative_path();
       at = at.parent_path())
    for (const char* library : {"lib", "lib64"})
      for (fs::directory_iterator entry(at / library, error), end; !error && entry != end;
           entry.increment(error))
        if (entry->path().filename().native().starts_with("python3") &&
            fs::exists(entry->path() / "os.py", error))
          return at;
  return {};
}

#ifdef __APPLE__

PipFiles pip_files() {
  PipFiles files;
  files.global = {fs::path("/Library/Application Support/pip") / pip_file_name};
  const fs::path home = home_folder();
  if (home.empty()) return files;
  std::error_code error;
  const fs::path support = home / "Library/Application Support/pip";
  files.user = {home / ".pip" / pip_file_name,
                (fs::is_directory(support, error) ? support : home / ".config/pip") / pip_file_name};
  return files;
}

#else

PipFiles pip_files() {
  PipFiles files;
  const fs::path home = home_folder();
  const auto value = [](const char* name, const std::string& otherwise) {
    const std::string text = environment_variable(name).value_or("");
    return trim(text).empty() ? otherwise : text;
  };
  for (const std::string& folder : split(value("XDG_CONFIG_DIRS", "/etc/xdg"), ':')) {
    const bool at_home = folder == "~" || folder.starts_with("~/");
    files.global.push_back((at_home ? home / folder.substr(folder.size() > 1 ? 2 : 1) : fs::path(folder)) /
                           "pip" / pip_file_name);
  }
  files.global.push_back(fs::path("/etc") / pip_file_name);
  files.user = {home / ".pip" / pip_file_name,
                fs::path(value("XDG_CONFIG_HOME", (home / ".config").native())) / "pip" / pip_file_name};
  for (auto* list : {&files.global, &files.user})
    std::erase_if(*list, [](const fs::path& file) { return !file.is_absolute(); });
  return files;
}

#endif

namespace {

// The default file of libcurl; empty if it has none.
std::string default_authorities() {
  const curl_version_info_data* info = ::curl_version_info(CURLVERSION_NOW);
  const bool reports = info != nullptr && info->age >= CURLVERSION_SEVENTH;
  return reports && info->cainfo != nullptr ? info->cainfo : "";
}

}  // namespace

#ifdef __APPLE__

// libcurl asks the keychain only if no file is named.
Authorities system_authorities() { return {}; }

std::string system_certificates(std::uint64_t limit) {
  return read_file(default_authorities(), limit).value_or(std::string());
}

#else

Authorities system_authorities() {
  Authorities found;
  // Debian; Fedora and RHEL; openSUSE; Fedora and RHEL without the older name; Alpine. The list is that of
  // Go's crypto/x509/root_linux.go.
  for (const std::string& place :
       {default_authorities(), std::string("/etc/ssl/certs/ca-certificates.crt"),
        std::string("/etc/pki/tls/certs/ca-bundle.crt"), std::string("/etc/ssl/ca-bundle.pem"),
        std::string("/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"), std::string("/etc/ssl/cert.pem")}) {
    if (place.empty() || std::ranges::find(found.looked_at, place) != found.looked_at.end()) continue;
    found.looked_at.push_back(place);
    if (::access(place.c_str(), R_OK) == 0) {
      found.place = place;
      return found;
    }
  }
  // A folder with one file for each authority, named by its hash.
  for (const char* folder : {"/etc/ssl/certs", "/etc/pki/tls/certs"}) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      if (entry->path().extension() == ".0") {
        found.place = folder;
        return found;
      }
    found.looked_at.emplace_back(folder);
  }
  found.are_missing = true;
  return found;
}

std::string system_certificates(std::uint64_t limit) {
  return read_file(system_authorities().place, limit).value_or(std::string());
}

#endif

bool needs_given_certificates() { return false; }

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) != 0; }

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace enginehost::transfer
