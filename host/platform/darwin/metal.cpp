#include "host/platform/darwin/kernel_values.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

// Decides by system and processor, without calling a GPU's driver. macOS 11, the oldest supported, needs a
// Mac whose GPU has Metal (Apple, "macOS Big Sur is compatible with these computers"). A virtual machine may
// have no GPU. Apple silicon's GPU has the chip's name, also for a program under Rosetta.
Fact<Metal> detect_metal() {
  if (kernel::number("kern.hv_vmm_present").value_or(0) != 0)
    return Fact<Metal>::unknown("a virtual machine, which may show a GPU or not");
  const std::string chip = kernel::text("machdep.cpu.brand_string");
  if (chip.starts_with("Apple")) return Fact<Metal>::known({chip}, "machdep.cpu.brand_string");
  if (chip.starts_with("VirtualApple"))
    return Fact<Metal>::known({"Apple silicon"}, "sysctl.proc_translated");
  return Fact<Metal>::known({"the GPU of this Mac"}, "macOS 11 or later");
}

}  // namespace enginehost::platform
