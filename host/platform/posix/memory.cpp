#include <algorithm>

#include "base/text.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

// "MemTotal:       16384 kB", "inactive_file 4096": the number after the name, 0 when there is none.
std::uint64_t number_after(std::string_view text, std::string_view name) {
  for (const std::string& line : split(text, '\n')) {
    if (!std::string_view(line).starts_with(name)) continue;
    std::string_view rest = trim(std::string_view(line).substr(name.size()));
    rest = rest.substr(0, rest.find_first_not_of("0123456789"));
    return static_cast<std::uint64_t>(parse_integer(rest).value_or(0));
  }
  return 0;
}

struct Limit {
  std::uint64_t limit = 0, used = 0;
  std::string source;
};

// Reads one folder of a control group hierarchy. Version 1 writes "no limit" as a huge number, version 2 as
// "max".
void apply_limit(const Root& root, const std::string& folder, const char* limit_name, const char* usage_name,
                 Limit& tightest) {
  const auto text = root.read(folder + "/" + limit_name);
  if (!text) return;
  const auto limit = parse_integer(trim(*text));
  if (!limit || static_cast<std::uint64_t>(*limit) >= tightest.limit) return;
  tightest.limit = static_cast<std::uint64_t>(*limit);
  tightest.source = folder + "/" + limit_name;
  tightest.used = static_cast<std::uint64_t>(
      parse_integer(trim(root.read(folder + "/" + usage_name).value_or(""))).value_or(0));
  // The page cache counts as used but can be reclaimed.
  const std::string statistics = root.read(folder + "/memory.stat").value_or("");
  const std::uint64_t reclaimable =
      std::max(number_after(statistics, "inactive_file "), number_after(statistics, "total_inactive_file "));
  tightest.used -= std::min(tightest.used, reclaimable);
}

// The process's own group and each of its parents may have a limit. Inside a container the path in
// /proc/self/cgroup may be the host's; then only the top of the mount is visible, which is the container's
// own group.
Limit tightest_limit(const Root& root, std::uint64_t total) {
  Limit tightest;
  tightest.limit = total;  // a looser limit has no effect
  for (const std::string& line : split(root.read("/proc/self/cgroup").value_or(""), '\n')) {
    const std::vector<std::string> parts = split(line, ':');  // 0::/user.slice  or  4:memory:/docker/…
    if (parts.size() < 3) continue;
    const bool second = parts[0] == "0" && parts[1].empty();
    const std::vector<std::string> controllers = split(parts[1], ',');
    if (!second && std::find(controllers.begin(), controllers.end(), "memory") == controllers.end()) continue;
    const std::string mount = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (std::string group = parts[2];; group.resize(group.find_last_of('/'))) {
      while (!group.empty() && group.back() == '/') group.pop_back();
      apply_limit(root, mount + group, second ? "memory.max" : "memory.limit_in_bytes",
                  second ? "memory.current" : "memory.usage_in_bytes", tightest);
      if (group.empty() || group.front() != '/') break;
    }
  }
  return tightest;
}

}  // namespace

Fact<Memory> detect_memory(const Root& root) {
  const auto text = root.read("/proc/meminfo");
  if (!text) return Fact<Memory>::unknown("/proc/meminfo cannot be read");
  Memory memory;
  memory.total = number_after(*text, "MemTotal:") * 1024;
  memory.available = number_after(*text, "MemAvailable:") * 1024;
  std::string source = "/proc/meminfo";
  if (const Limit limit = tightest_limit(root, memory.total); limit.limit < memory.total) {
    memory.total = limit.limit;
    memory.available = std::min(memory.available, limit.limit - std::min(limit.limit, limit.used));
    source += ", limited by " + limit.source;
  }
  return Fact<Memory>::known(memory, std::move(source));
}

}  // namespace enginehost::platform
