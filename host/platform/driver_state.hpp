// The obstacles between this process and an NVIDIA driver. Every refusal and every remedy about drivers is
// made of these facts. Pure functions over a described machine; any thread.
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::platform {

// The use of `cuda.library`. Its note has one of the words below.
enum class DriverLibrary {
  not_found,      // absent, or nobody looked
  found,          // the loader finds a file that is no stub
  stub,           // a toolkit's link stub
  empty,          // no bytes: the loader fails at it
  not_searched,   // in a folder that the loader does not search
  other_version,  // the same, and the kernel's driver is of another version
  linux_in_wsl,   // a Linux package's library hides that of Windows
  no_module,      // the kernel has no module of NVIDIA's, so the library cannot work
  refused         // its cuInit fails until the machine is changed
};
inline constexpr std::string_view stub_note = "stub", empty_note = "empty (0 bytes)",
                                  not_searched_note = "the loader does not look there";
// The beginning of the reason why a fact is unknown, if the driver hangs or is slow.
inline constexpr std::string_view driver_is_silent = "the driver did not answer in ";
// The folder of the library that Windows's driver gives to WSL 2.
inline constexpr std::string_view wsl_folder = "/usr/lib/wsl/lib";

DriverLibrary driver_library_state(const Platform& platform);

// Returns true if only a change of the machine makes the driver's library usable, whatever its version is.
bool hides_driver(DriverLibrary state);

// Returns the class of what cuInit returned, if it was an error other than "no device": EH-G09, EH-G10,
// EH-G13; EH-G11 and EH-G12 pass by themselves. EH-G22 if it did not return in time. Empty: it succeeded, was
// not asked, or has no class.
Code class_of_init(const Platform& platform);

// Returns why there is no usable driver: EH-G01, EH-G02 (stub), EH-G09 (other version), EH-G15 (a folder that
// is not searched), EH-G19 (empty), EH-G20 (Linux driver in WSL), EH-G21 (no module) or class_of_init(), with
// the facts of add_driver_facts().
Diagnosis why_no_driver(const Platform& platform);

// Returns the same in a few words: "/zero/libcuda.so.1 is empty (0 bytes)"; empty if no library was found.
std::string obstacle_text(const Platform& platform);

// Adds what decides which remedy helps here: "container", "sandbox" (Flatpak, Snap), "own_libraries" (a
// container that boots a system of its own), "pod" (Kubernetes), "wsl", "jetson", "pci_device" or "no_gpu",
// "driver" (the kernel's), "gl_extension" of Flatpak, and NVIDIA_VISIBLE_DEVICES if it keeps the driver out
// of a container.
void add_driver_facts(const Platform& platform, Diagnosis& diagnosis);

// Adds why a driver that works offers no GPU, beside the variable: "unused_gpu" (on the bus, and the driver
// lists none), "hidden_gpu" (NVML lists it, CUDA does not), "job" (a job that was given no GPU).
void add_device_facts(const Platform& platform, Diagnosis& diagnosis);

// Returns the AMD cards on the PCI bus: "AMD 1002:744c"; empty if there is none or nobody looked.
std::string amd_cards(const Platform& platform);

// Returns a variable of `loader_environment`; nullptr if it is not set or nobody looked.
const std::string* variable_of(const Platform& platform, std::string_view name);

}  // namespace enginehost::platform
