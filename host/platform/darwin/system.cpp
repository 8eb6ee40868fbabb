#include <mach/mach.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/linker/dyld.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

// Reads values of the macOS kernel by name: sysctlbyname(3).
namespace kernel {
namespace {

// Returns "Apple M2" for "machdep.cpu.brand_string"; empty when the kernel has no such name.
std::string text(const char* name) {
  char value[256] = {};
  std::size_t size = sizeof value - 1;
  return ::sysctlbyname(name, value, &size, nullptr, 0) == 0 ? value : std::string();
}

// Reads a number of 32 or 64 bits.
std::optional<std::uint64_t> number(const char* name) {
  unsigned char bytes[8] = {};
  std::size_t size = sizeof bytes;
  if (::sysctlbyname(name, bytes, &size, nullptr, 0) != 0) return std::nullopt;
  // Both processors of Macs are little-endian, so a shorter number is the start of a longer one.
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, size < sizeof value ? size : sizeof value);
  return value;
}

}  // namespace
}  // namespace kernel

namespace {

constexpr const char* version_file = "/System/Library/CoreServices/SystemVersion.plist";

// "<key>ProductVersion</key>\n\t<string>14.5</string>"
std::string value_in(const std::string& list, const std::string& name) {
  std::size_t at = list.find("<key>" + name + "</key>");
  if (at == std::string::npos) return {};
  constexpr std::string_view begin = "<string>";
  at = list.find(begin, at);
  if (at == std::string::npos) return {};
  at += begin.size();
  const std::size_t end = list.find("</string>", at);
  return end == std::string::npos ? std::string() : list.substr(at, end - at);
}

}  // namespace

Fact<std::string> detect_os() { return Fact<std::string>::known("macos", "this program"); }

// The process's architecture: under Rosetta it is x86_64, and libraries must match it.
Fact<std::string> detect_arch() {
#if defined(__aarch64__)
  return Fact<std::string>::known("arm64", "this program");
#else
  return Fact<std::string>::known("x86_64", "this program");
#endif
}

Fact<std::string> detect_kernel(const Root& root) {
  if (!root.is_this_machine())
    return Fact<std::string>::unknown("the kernel of another root cannot be asked");
  utsname names{};
  if (::uname(&names) != 0) return Fact<std::string>::unknown("uname failed");
  return Fact<std::string>::known(names.release, "uname");
}

// Asks the kernel first, because the file shows version 10.16 to programs built for older systems.
Fact<Distribution> detect_distribution(const Root& root) {
  std::string version, source = "sysctl kern.osproductversion";
  if (root.is_this_machine()) version = kernel::text("kern.osproductversion");
  if (version.empty()) {
    version = value_in(root.read(version_file).value_or(""), "ProductVersion");
    source = version_file;
  }
  if (version.empty()) return Fact<Distribution>::unknown(std::string(version_file) + " has no version");
  return Fact<Distribution>::known({"macos", "macOS " + version, version}, source);
}

namespace {

#if defined(__x86_64__)

Cpu ask_processor() { return x86_cpu(cpuid_of_this_processor()); }

#else

// Apple's names ("Determining instruction set characteristics") and Linux's names for the same features.
Cpu ask_processor() {
  struct Feature {
    const char *name, *apple;
  };
  static constexpr Feature features[] = {
      {"aes", "hw.optional.arm.FEAT_AES"},       {"pmull", "hw.optional.arm.FEAT_PMULL"},
      {"sha1", "hw.optional.arm.FEAT_SHA1"},     {"sha2", "hw.optional.arm.FEAT_SHA256"},
      {"sha512", "hw.optional.arm.FEAT_SHA512"}, {"crc32", "hw.optional.armv8_crc32"},
      {"atomics", "hw.optional.arm.FEAT_LSE"},   {"asimdhp", "hw.optional.arm.FEAT_FP16"},
      {"fphp", "hw.optional.arm.FEAT_FP16"},     {"asimdrdm", "hw.optional.arm.FEAT_RDM"},
      {"lrcpc", "hw.optional.arm.FEAT_LRCPC"},   {"asimddp", "hw.optional.arm.FEAT_DotProd"},
      {"i8mm", "hw.optional.arm.FEAT_I8MM"},     {"bf16", "hw.optional.arm.FEAT_BF16"},
      {"sme", "hw.optional.arm.FEAT_SME"}};
  Cpu cpu;
  cpu.features = {"fp", "asimd"};  // every Apple arm64 processor has them
  for (const Feature& feature : features)
    if (kernel::number(feature.apple).value_or(0) != 0) cpu.features.emplace_back(feature.name);
  std::sort(cpu.features.begin(), cpu.features.end());
  return cpu;
}

#endif

}  // namespace

Fact<Cpu> detect_cpu() {
  static const Cpu& processor = *new Cpu(ask_processor());
  Cpu cpu = processor;
  cpu.model = trim(kernel::text("machdep.cpu.brand_string"));
  cpu.cores = static_cast<int>(kernel::number("hw.activecpu").value_or(0));
  return Fact<Cpu>::known(std::move(cpu), "sysctl");
}

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

void detect_own_facts(Platform& platform, const Root&, const LibrarySearch&) {
  // A program under Rosetta has smaller pages than the Mac.
  platform.page_size = Fact<std::uint64_t>::known(static_cast<std::uint64_t>(::getpagesize()), "getpagesize");
  platform.metal = detect_metal();
  platform.other_gpus = Fact<std::string>::absent("macOS reports its GPU as a Metal device");
}

struct LibrarySearch::Order {
  linker::AppleMachine machine;
};

LibrarySearch::LibrarySearch(const Root& root) : root_(root), order_(std::make_unique<Order>()) {
  order_->machine = linker::describe_this_mac();
  if (!root.is_this_machine()) order_->machine.loaded.clear();
}

LibrarySearch::~LibrarySearch() = default;

// dlopen(3) searches a name without a folder in DYLD_LIBRARY_PATH and, since macOS 12, in the system's
// folders only. Libraries in the shared cache have no file and are not found.
std::optional<FoundLibrary> LibrarySearch::find(const std::string& soname, std::vector<SkippedFile>*) const {
  for (const linker::LoadedLibrary& library : order_->machine.loaded)
    if (path_text(library.path.filename()) == soname) {
      const std::string path = path_text(library.path);
      return FoundLibrary{path, root_.resolve(path).value_or(path), "loaded in this process"};
    }
  for (const std::string& folder : order_->machine.library_path.value_or(std::vector<std::string>{})) {
    const std::string path = folder + "/" + soname;
    if (const auto real = root_.resolve(path)) return FoundLibrary{path, *real, "DYLD_LIBRARY_PATH"};
  }
  return std::nullopt;
}

bool LibrarySearch::is_named(const std::string& soname) const { return find(soname).has_value(); }

std::string LibrarySearch::places() const { return "this process, DYLD_LIBRARY_PATH"; }

namespace {

// Change this when detect() reads something else, so that facts remembered by an older version are not used.
constexpr std::string_view version = "3";

}  // namespace

// The system's libraries and drivers are sealed and change only with its version.
void add_system(KeyText& text, const Root&, Reach reach) {
  text.add("machine key of macOS", version);
  text.add("boot", boot_id());
  text.add("system", kernel::text("kern.osversion"));
  text.add("processor", kernel::text("machdep.cpu.brand_string"));
  text.add("translated", kernel::number("sysctl.proc_translated").value_or(0));
  if (reach == Reach::everything) text.add("processors", kernel::number("hw.activecpu").value_or(0));
}

std::vector<MachineInput> system_inputs(const Root&, Reach) { return {}; }

std::vector<std::string> files_in_machine_key_text(const std::string&) { return {}; }

namespace {

constexpr const char* never = "not on macOS: NVIDIA's last driver was for 10.13";

}  // namespace

std::string driver_library_name() { return "libcuda.dylib"; }

Fact<std::string> nvidia_hardware(const Root&, const Fact<std::string>&) {
  return Fact<std::string>::absent(never);
}

Fact<std::string> kernel_driver(const Root&, const Fact<std::string>&) {
  return Fact<std::string>::absent(never);
}

Fact<Installed> driver_library(const Root&, const LibrarySearch&, const Fact<std::string>&) {
  return Fact<Installed>::absent(never);
}

std::optional<std::string> find_nvml(const Root&, const LibrarySearch&) { return std::nullopt; }

}  // namespace enginehost::platform
