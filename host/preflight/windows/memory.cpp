#include "host/preflight/memory.hpp"

#include <string>

#include "base/paths.hpp"
#include "base/windows/system.hpp"

namespace enginehost::preflight {

std::optional<std::uint64_t> address_space_limit() { return std::nullopt; }
std::optional<std::uint64_t> data_limit() { return std::nullopt; }
bool lacks_memory_for(const std::filesystem::path&, std::uint64_t) { return false; }

// Only the writable part of a DLL counts against the commit limit, so the total is a warning.
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
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (largest == nullptr || ::GlobalMemoryStatusEx(&status) == 0 || needed <= status.ullAvailPageFile) return;
  report.warnings.push_back(
      std::move(diagnose("EH-W11")
                    .with("file", path_text(spec.plugin))
                    .with("needed", std::to_string(needed), "SizeOfImage of the closure")
                    .with("limit", std::to_string(status.ullAvailPageFile), "GlobalMemoryStatusEx")
                    .with("largest", largest->path)
                    .with("largest_size", std::to_string(largest_size), "SizeOfImage")));
}

}  // namespace enginehost::preflight
