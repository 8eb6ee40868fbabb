#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/preflight/judgments.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// Files that are no library at all are reported by this loader's rules too.
bool is_native(binary::Kind kind) { return kind != binary::Kind::pe && kind != binary::Kind::macho; }

Report check_native(const Spec& spec) { return check_elf(spec); }

// Checks whether code may run from a folder (EH-L22, EH-L23, EH-L24): the loader gives one text for all three
// and no errno.

namespace {

// Returns the mount that holds the file: the longest mount point above it in /proc/self/mountinfo (field 5).
std::string mount_point_of(const std::filesystem::path& file) {
  std::ifstream mounts("/proc/self/mountinfo");
  std::string line, longest;
  while (std::getline(mounts, line)) {
    const std::vector<std::string> fields = split(line, ' ');
    if (fields.size() < 5) continue;
    if (fields[4].size() >= longest.size() && is_below(file, fields[4])) longest = fields[4];
  }
  return longest;
}

}  // namespace

Result<void> check_executable_mapping(const std::filesystem::path& file) {
  const std::string folder = path_text(file.parent_path());
  struct statvfs status {};
  if (::statvfs(file.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC) != 0) {
    Diagnosis diagnosis = diagnose(Code::mounted_noexec);
    diagnosis.with(Key::file, path_text(file)).with(Key::folder, folder);
    if (std::string mount = mount_point_of(file); !mount.empty())
      diagnosis.with(Key::mount_point, mount, "/proc/self/mountinfo");
    return fail(std::move(diagnosis.with(Key::flag, "noexec", "statvfs")));
  }
  // An unreadable or missing file is reported by the code that reads it.
  const auto opened = open_to_read(file);
  struct stat kind {};
  if (!opened || ::fstat(opened->get(), &kind) != 0 || !S_ISREG(kind.st_mode)) return {};
  const long page = ::sysconf(_SC_PAGESIZE);
  const std::size_t length = page > 0 ? static_cast<std::size_t>(page) : 4096;
  void* mapped = ::mmap(nullptr, length, PROT_READ | PROT_EXEC, MAP_PRIVATE, opened->get(), 0);
  if (mapped != MAP_FAILED) {
    ::munmap(mapped, length);
    return {};
  }
  Code code = errno == ENOMEM ? Code::memory_short_for_library : Code::security_policy_forbids;
  return fail(diagnose_errno(code, errno).with(Key::file, path_text(file)).with(Key::folder, folder));
}

namespace {

// Returns the bytes that this process has mapped (the first number of /proc/self/statm, in pages), which
// RLIMIT_AS counts.
std::uint64_t mapped_now() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages * static_cast<std::uint64_t>(page > 0 ? page : 4096);
}

template <class Resource>
std::optional<std::uint64_t> limit_of(Resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

// Tests by mapping whether the system refuses the memory that a library's segments need beyond the bytes of
// its file. Only amounts of 1 GiB and more are tested. 0 when the system grants them, or when no library
// needs that much.
std::uint64_t refused_memory(const linker::Closure& closure) {
  constexpr std::uint64_t worth_a_try = std::uint64_t{1} << 30;
  for (const linker::Object& object : closure.objects) {
    if (object.info == nullptr || object.found_by == "already loaded") continue;
    const std::uint64_t memory = object.info->memory_size, file = object.info->file_size;
    if (memory <= file || memory - file < worth_a_try) continue;
    void* const tried =
        ::mmap(nullptr, memory - file, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (tried == MAP_FAILED) return memory - file;
    ::munmap(tried, memory - file);
  }
  return 0;
}

}  // namespace

std::optional<std::uint64_t> address_space_limit() { return limit_of(RLIMIT_AS); }
std::optional<std::uint64_t> data_limit() { return limit_of(RLIMIT_DATA); }

bool lacks_memory_for(const std::filesystem::path& file, std::uint64_t bytes) {
  const auto opened = open_to_read(file);
  if (!opened || bytes == 0) return false;
  // First map the segments as they are in the file, then request the part that is written to.
  const auto refused = [&](int protection, int flags, int descriptor) {
    void* const tried = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | flags, descriptor, 0);
    if (tried == MAP_FAILED) return errno == ENOMEM;
    ::munmap(tried, bytes);
    return false;
  };
  return refused(PROT_READ | PROT_EXEC, 0, opened->get()) ||
         refused(PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
}

void judge_memory(const Spec& spec, const linker::Closure& closure, Report& report) {
  const MemoryNeed need = memory_needed_by(closure);
  if (need.largest == nullptr) return;
  const auto with_sizes = [&](Key what, std::uint64_t limit, std::string_view source) {
    return Diagnosis(diagnose(Code::memory_short_for_library)
                         .with(Key::file, path_text(spec.plugin))
                         .with(Key::needed, std::to_string(need.bytes), "PT_LOAD of the closure")
                         .with(what, std::to_string(limit), source)
                         .with(Key::largest, need.largest->path)
                         .with(Key::largest_size, std::to_string(need.largest_size), "PT_LOAD"));
  };
  // The limits are those of this process, not of a recorded machine.
  const bool here = !spec.machine.recorded;
  if (const auto limit = here ? address_space_limit() : std::nullopt) {
    const std::uint64_t used = mapped_now();
    if (need.bytes + used > *limit) {
      report.diagnoses.push_back(std::move(with_sizes(Key::limit, *limit, "RLIMIT_AS")
                                               .with(Key::used, std::to_string(used), "/proc/self/statm")));
      return;
    }
  }
  if (const std::uint64_t zero_filled = here ? refused_memory(closure) : 0; zero_filled != 0) {
    Diagnosis refused = with_sizes(Key::zero_filled, zero_filled, "a trial mapping");
    if (const auto limit = data_limit()) refused.with(Key::data_limit, std::to_string(*limit), "RLIMIT_DATA");
    report.diagnoses.push_back(std::move(refused.with(Key::os_said, std::strerror(ENOMEM), "mmap")));
    return;
  }
  if (spec.platform == nullptr || !spec.platform->memory.is_known()) return;
  const platform::Memory& memory = spec.platform->memory.value();
  if (memory.total != 0 && need.bytes > memory.total)
    report.warnings.push_back(with_sizes(Key::memory, memory.total, spec.platform->memory.source()));
}

}  // namespace enginehost::preflight
