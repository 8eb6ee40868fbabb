#include "host/preflight/memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "base/files.hpp"
#include "base/paths.hpp"

namespace enginehost::preflight {
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
  std::uint64_t needed = 0, largest_size = 0;
  const linker::Object* largest = nullptr;
  for (const linker::Object& object : closure.objects) {
    if (object.info == nullptr || object.found_by == "already loaded") continue;
    const std::uint64_t most = ~std::uint64_t{0} - needed;  // the size in a file is untrusted
    needed += std::min(most, object.info->memory_size);
    if (object.info->memory_size <= largest_size) continue;
    largest_size = object.info->memory_size;
    largest = &object;
  }
  if (largest == nullptr) return;
  const auto with_sizes = [&](std::string_view what, std::uint64_t limit, std::string_view source) {
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
          with_sizes("limit", *limit, "RLIMIT_AS").with("used", std::to_string(used), "/proc/self/statm")));
      return;
    }
  }
  if (const std::uint64_t zero_filled = refused_memory(closure); zero_filled != 0) {
    Diagnosis refused = with_sizes("zero_filled", zero_filled, "a trial mapping");
    if (const auto limit = data_limit()) refused.with("data_limit", std::to_string(*limit), "RLIMIT_DATA");
    report.diagnoses.push_back(std::move(refused.with("os_said", std::strerror(ENOMEM), "mmap")));
    return;
  }
  if (spec.platform == nullptr || !spec.platform->memory.is_known()) return;
  const platform::Memory& memory = spec.platform->memory.value();
  if (memory.total != 0 && needed > memory.total)
    report.warnings.push_back(with_sizes("memory", memory.total, spec.platform->memory.source()));
}

}  // namespace enginehost::preflight
