#include <sys/mount.h>
#include <string>

#include "base/paths.hpp"
#include "host/linker/dyld.hpp"
#include "host/preflight/judgments.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

bool is_native(binary::Kind kind) { return kind == binary::Kind::macho; }

Report check_native(const Spec& spec) {
  linker::AppleMachine machine = linker::describe_this_mac();
  machine.loaded = spec.machine.loaded;
  ForeignSpec foreign{spec};
  foreign.mac = &machine;
  foreign.on_closure = [&](const linker::Closure& closure, Report& report) {
    judge_memory(spec, closure, report);
  };
  Report report = check_foreign(foreign);
  if (is_native(report.kind)) finish_at_home(spec, report);
  return report;
}

// Checks whether code may run from a folder (EH-L22).

// Unsigned code cannot be mapped executable on Apple silicon; the closure reports that (EH-X04).
Result<void> check_executable_mapping(const std::filesystem::path& file) {
  struct statfs status {};
  if (::statfs(file.c_str(), &status) != 0 || (status.f_flags & MNT_NOEXEC) == 0) return {};
  return fail(std::move(diagnose(Code::mounted_noexec)
                            .with(Key::file, path_text(file))
                            .with(Key::folder, path_text(file.parent_path()))
                            .with(Key::mount_point, status.f_mntonname, "statfs")
                            .with(Key::flag, "noexec", "statfs")));
}

// macOS accepts RLIMIT_AS and does not enforce it.
std::optional<std::uint64_t> address_space_limit() { return std::nullopt; }
std::optional<std::uint64_t> data_limit() { return std::nullopt; }
bool lacks_memory_for(const std::filesystem::path&, std::uint64_t) { return false; }

void judge_memory(const Spec& spec, const linker::Closure& closure, Report& report) {
  const MemoryNeed need = memory_needed_by(closure);
  if (need.largest == nullptr || spec.platform == nullptr || !spec.platform->memory.is_known()) return;
  const platform::Memory& memory = spec.platform->memory.value();
  if (memory.total == 0 || need.bytes <= memory.total) return;
  report.warnings.push_back(
      std::move(diagnose(Code::memory_short_for_library)
                    .with(Key::file, path_text(spec.plugin))
                    .with(Key::needed, std::to_string(need.bytes), "segments of the closure")
                    .with(Key::memory, std::to_string(memory.total), spec.platform->memory.source())
                    .with(Key::largest, need.largest->path)
                    .with(Key::largest_size, std::to_string(need.largest_size), "segments")));
}

}  // namespace enginehost::preflight
