#include "host/load/probe_system.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/load/loader_search.hpp"

namespace enginehost::load {

#ifdef __linux__
const bool probe_ends_descendants = true;
#else
const bool probe_ends_descendants = false;
#endif

std::uint64_t default_memory_limit() {
  constexpr std::uint64_t least = std::uint64_t{4} << 30;
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return 0;
  return std::max(least, static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page));
}

void ask_loader(const ProbeRequest& request, Diagnosis& diagnosis) {
  const auto left_out = [&](std::string_view why) {
    diagnosis.with("loader_search_left_out", why, "LD_AUDIT");
  };
  const std::filesystem::path audit = request.helper.parent_path() / "enginehost-audit.so";
  if (!request.launcher.empty()) return left_out("the probe is started by another program");
  if (std::error_code error; !std::filesystem::exists(audit, error))
    return left_out(path_text(audit) + " does not exist");
  // The variable holds a list, so a path must not contain its separators.
  if (path_text(audit).find_first_of(": ") != std::string::npos)
    return left_out("LD_AUDIT cannot hold the path of the probe's folder");
  const std::string nonce = random_hex(16);
  const auto outcome = run_helper(request, random_hex(16), audit, nonce);
  if (!outcome || outcome->canceled) return left_out("the second run could not be made");
  add_loader_search(read_loader_searches(outcome->channel, nonce), diagnosis);
}

std::optional<std::int64_t> count_oom_kills() {
  const auto groups = read_file("/proc/self/cgroup");
  if (!groups) return std::nullopt;
  for (const std::string& line : split(*groups, '\n')) {
    const std::vector<std::string> parts = split(line, ':');  // hierarchy, controllers, path
    if (parts.size() != 3 || (parts[0] != "0" && parts[1] != "memory")) continue;
    const std::string file = parts[0] == "0" ? "/sys/fs/cgroup" + parts[2] + "/memory.events"
                                             : "/sys/fs/cgroup/memory" + parts[2] + "/memory.oom_control";
    const auto events = read_file(path_of(file));
    if (!events) continue;
    for (const std::string& event : split(*events, '\n'))
      if (event.starts_with("oom_kill ")) return parse_integer(std::string_view(event).substr(9));
  }
  return std::nullopt;
}

Ending ending_of(int signal) {
  switch (signal) {
    // The three signals that end a whole service, a terminal's programs or a job. Someone sent them; no fault
    // raises them.
    case SIGKILL:
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
      return Ending::killed;
    case SIGBUS:
      return Ending::bus_error;
    case SIGALRM:
      return Ending::alarm;
    default:
      return Ending::crash;
  }
}

bool is_reported_signal(int number) {
  return number == SIGILL || number == SIGABRT || number == SIGBUS || number == SIGFPE || number == SIGSEGV ||
         ending_of(number) == Ending::killed;
}

}  // namespace enginehost::load
