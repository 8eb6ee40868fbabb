#include "host/settings/person.hpp"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <system_error>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace enginehost::settings {
namespace {

// getpwuid() may ask a daemon over a socket, which "offline" promises not to open.
std::string name_of_user(uid_t uid) {
  const std::string wanted = std::to_string(uid);
  if (const auto users = read_file("/etc/passwd", 8u << 20))
    for (const std::string& line : split(*users, '\n'))
      if (const auto fields = split(line, ':'); fields.size() > 2 && fields[2] == wanted) return fields[0];
  return environment_variable("LOGNAME").value_or("");
}

}  // namespace

Person Person::of_this_process() {
  Person person;
  person.uid = ::getuid();
  person.user = name_of_user(::getuid());
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) == 0) person.host = name;
  std::error_code error;
  person.application = std::filesystem::read_symlink("/proc/self/exe", error).filename().native();
  person.process = ::getpid();
  return person;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace enginehost::settings
