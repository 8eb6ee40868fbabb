#include <mach/mach.h>

#include "host/platform/darwin/kernel_values.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

// Available memory is what needs no writing of pages: free pages, and those whose content is on disk as well.
Fact<Memory> detect_memory(const Root&) {
  Memory memory;
  memory.total = kernel::number("hw.memsize").value_or(0);
  if (memory.total == 0) return Fact<Memory>::unknown("sysctl hw.memsize failed");
  vm_statistics64_data_t pages{};
  mach_msg_type_number_t words = HOST_VM_INFO64_COUNT;
  vm_size_t page = 0;
  const mach_port_t host = ::mach_host_self();
  if (::host_page_size(host, &page) == KERN_SUCCESS &&
      ::host_statistics64(host, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &words) ==
          KERN_SUCCESS)
    memory.available =
        (std::uint64_t{pages.free_count} + pages.inactive_count + pages.purgeable_count) * page;
  ::mach_port_deallocate(mach_task_self(), host);
  return Fact<Memory>::known(memory, "sysctl hw.memsize, host_statistics64");
}

}  // namespace enginehost::platform
