#include "host/preflight/memory.hpp"

#include <string>

#include "base/paths.hpp"

namespace enginehost::preflight {

// macOS accepts RLIMIT_AS and does not enforce it.
std::optional<std::uint64_t> address_space_limit() { return std::nullopt; }
std::optional<std::uint64_t> data_limit() { return std::nullopt; }
bool lacks_memory_for(const std::filesystem::path&, std::uint64_t) { return false; }

void judge_memory(const Spec& spec, const linker::Closure& closure, Report& report) {
  std::uint64_t needed = 0;
  const linker::Object* largest = nullptr;
  for (const linker::Object& object : closure.objects) {
    if (object.info == nullptr || object.found_by == "already loaded") continue;
    needed += object.info->memory_size;
    if (largest == nullptr || object.info->memory_size > largest->info->memory_size) largest = &object;
  }
  if (largest == nullptr || spec.platform == nullptr || !spec.platform->memory.is_known()) return;
  const platform::Memory& memory = spec.platform->memory.value();
  if (memory.total == 0 || needed <= memory.total) return;
  report.warnings.push_back(
      std::move(diagnose("EH-L23")
                    .with("file", path_text(spec.plugin))
                    .with("needed", std::to_string(needed), "segments of the closure")
                    .with("memory", std::to_string(memory.total), spec.platform->memory.source())
                    .with("largest", largest->path)
                    .with("largest_size", std::to_string(largest->info->memory_size), "segments")));
}

}  // namespace enginehost::preflight
