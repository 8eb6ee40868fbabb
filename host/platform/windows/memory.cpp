#include <algorithm>

#include "base/windows/system.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

// The limit of a container or of a job scheduler is that of its job object.
Fact<Memory> detect_memory(const Root&) {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (::GlobalMemoryStatusEx(&status) == 0)
    return Fact<Memory>::unknown("GlobalMemoryStatusEx failed: error " + std::to_string(::GetLastError()));
  Memory memory{status.ullTotalPhys, status.ullAvailPhys};
  std::string source = "GlobalMemoryStatusEx";
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION job{};
  if (::QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &job, sizeof job, nullptr) !=
      0) {
    std::uint64_t limit = memory.total;
    const DWORD flags = job.BasicLimitInformation.LimitFlags;
    if ((flags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0)
      limit = std::min<std::uint64_t>(limit, job.JobMemoryLimit);
    if ((flags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) != 0)
      limit = std::min<std::uint64_t>(limit, job.ProcessMemoryLimit);
    if (limit < memory.total) {
      memory.total = limit;
      memory.available = std::min(memory.available, limit);
      source += ", limited by the job object";
    }
  }
  return Fact<Memory>::known(memory, std::move(source));
}

}  // namespace enginehost::platform
