#include <pwd.h>
#include <unistd.h>

#include <climits>
#include <system_error>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/posix/environment.hpp"
#include "base/posix/local_accounts.hpp"
#include "base/process.hpp"
#include "base/system_errors.hpp"
#include "base/text.hpp"
#include "host/settings/person.hpp"
#include "host/settings/places.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

// A daemon may run without HOME; its home is then in the user database. "/nonexistent" and the like do not
// count.
fs::path home_of(const std::map<std::string, std::string>& variables) {
  const auto home = variables.find("HOME");
  if (home != variables.end() && fs::path(home->second).is_absolute()) return home->second;
  std::error_code error;
  // The folder of the user whose rights the program has. A name service, which loads libraries and may open
  // sockets, is not asked with those rights.
  if (has_more_rights_than_its_caller()) {
    const auto user = local_user(::geteuid());
    return user && fs::is_directory(user->home, error) ? fs::path(user->home) : fs::path();
  }
  // Tries without the name services first, because they may open a socket, which "offline" rules out.
  if (const auto user = local_user(::getuid()))
    return fs::is_directory(user->home, error) ? fs::path(user->home) : fs::path();
  char buffer[4096];
  passwd entry{}, *found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found) != 0 || found == nullptr) return {};
  return fs::is_directory(found->pw_dir, error) ? fs::path(found->pw_dir) : fs::path();
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : std::string();
}

}  // namespace

Environment Environment::of_this_process() {
  Environment result;
  for (char** entry = environment_entries(); *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      result.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  result.home = home_of(result.variables);
  char folder[PATH_MAX];
  if (::getcwd(folder, sizeof folder) != nullptr) result.current_folder = folder;
  result.executable_folder = enginehost::executable_folder();
  result.library_folder = enginehost::library_folder();
  // Skips invalid contents: systemd writes "uninitialized" while an image boots for the first time.
  for (const char* file : {"/etc/machine-id", "/var/lib/dbus/machine-id"}) {
    result.machine_files.emplace_back(file);
    auto text = read_file(file, 1u << 20);
    if (!text && is_transient(text.error().value("errno"))) {
      result.machine_failure = std::move(text).error();
      return result;
    }
    result.machine = text ? trim(*text) : std::string_view();
    if (!result.machine.empty() && result.machine != "uninitialized") return result;
  }
  if (const std::string name = host_name(); !name.empty()) result.machine = "host:" + name;
  return result;
}

User User::of_this_process() {
  User person;
  person.uid = ::getuid();
  const auto user = local_user(person.uid);
  person.user = user ? user->name : environment_variable("LOGNAME").value_or("");
  person.host = host_name();
  person.application = path_text(fs::path(executable_path()).filename());
  person.process = calls::getpid();
  return person;
}

}  // namespace enginehost::settings
