#include "host/settings/person.hpp"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <system_error>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace enginehost::settings {
std::vector<std::string> local_user(std::uint64_t uid) {
  const std::string wanted = std::to_string(uid);
  if (const auto users = read_file("/etc/passwd", 8u << 20))
    for (const std::string& line : split(*users, '\n'))
      if (auto fields = split(line, ':'); fields.size() == 7 && fields[2] == wanted) return fields;
  return {};
}

Person Person::of_this_process() {
  Person person;
  person.uid = ::getuid();
  const std::vector<std::string> fields = local_user(person.uid);
  person.user = fields.empty() ? environment_variable("LOGNAME").value_or("") : fields[0];
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
