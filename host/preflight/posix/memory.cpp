#include "host/preflight/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/paths.hpp"

namespace enginehost::preflight {
namespace {

// Bytes this process has mapped (the first number of /proc/self/statm, in pages): what RLIMIT_AS counts.
std::uint64_t mapped_now() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages * static_cast<std::uint64_t>(page > 0 ? page : 4096);
}

}  // namespace

std::optional<std::uint64_t> address_space_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

void judge_memory(const Spec& spec, const linker::Closure& closure, Report& report) {
  std::uint64_t needed = 0, largest_size = 0;
  const linker::Object* largest = nullptr;
  for (const linker::Object& object : closure.objects) {
    if (object.info == nullptr || object.found_by == "already loaded") continue;
    needed += object.info->memory_size;
    if (object.info->memory_size <= largest_size) continue;
    largest_size = object.info->memory_size;
    largest = &object;
  }
  if (largest == nullptr) return;
  const auto told = [&](std::string_view what, std::uint64_t limit, std::string_view source) {
    return Diagnosis(diagnose("EH-L23")
                         .with("file", path_text(spec.plugin))
                         .with("needed", std::to_string(needed), "PT_LOAD of the closure")
                         .with(what, std::to_string(limit), source)
                         .with("largest", largest->path)
                         .with("largest_size", std::to_string(largest_size), "PT_LOAD"));
  };
  if (const auto limit = address_space_limit()) {
    const std::uint64_t used = mapped_now();
    if (needed + used > *limit) {
      report.diagnoses.push_back(std::move(
          told("limit", *limit, "RLIMIT_AS").with("used", std::to_string(used), "/proc/self/statm")));
      return;
    }
  }
  if (spec.platform == nullptr || !spec.platform->memory.is_known()) return;
  const platform::Memory& memory = spec.platform->memory.value();
  if (memory.total != 0 && needed > memory.total)
    report.warnings.push_back(told("memory", memory.total, spec.platform->memory.source()));
}

}  // namespace enginehost::preflight
