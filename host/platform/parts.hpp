// The parts of detect(). Every function returns one kind of fact, never fails and may run on any thread. A
// fact that could not be determined says why. system.cpp of each system (posix is Linux's) holds those that
// ask it.
#pragma once
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"
#include "base/cpuid.hpp"
#include "host/platform/detect.hpp"
#include "host/platform/machine_key.hpp"
#include "host/platform/platform.hpp"
#include "host/platform/root.hpp"

namespace enginehost::platform {

// The file that the dynamic loader of this process would take for a name.
struct FoundLibrary {
  std::string path;       // as the loader would open it
  std::string real_path;  // links followed; shows versions ("libcuda.so.535.104.05") and stubs
  std::string source;  // "LD_LIBRARY_PATH", "/etc/ld.so.cache", "default folder /usr/lib", "in this process"
};

// A file of that name that the loader would not take.
struct SkippedFile {
  std::string path;
  std::string why;  // "is empty (0 bytes)", "is no library for this process: 32-bit"
  std::string source;
  bool ends_search = false;  // the loader fails here; otherwise it continues with the next folder
  bool is_empty = false;
};
inline constexpr const char* empty_library = "is empty (0 bytes)";

// The search order of one machine, read once. Refers to the Root, which must outlive it. Thread safety: const
// functions may be called from any thread.
class LibrarySearch {
 public:
  explicit LibrarySearch(const Root& root);
  ~LibrarySearch();
  LibrarySearch(const LibrarySearch&) = delete;
  LibrarySearch& operator=(const LibrarySearch&) = delete;

  // For a library that this process has loaded, returns that one, because its SONAME satisfies every later
  // need. Skips files of another architecture and fails at an empty file, as the loader does. Adds both to
  // `skipped`. Skips EngineHost's stand-ins, which the loader would take.
  std::optional<FoundLibrary> find(const std::string& soname,
                                   std::vector<SkippedFile>* skipped = nullptr) const;
  // Returns why the loader would not take the file at this path; nothing if it would, or if there is no file.
  std::optional<SkippedFile> why_unusable(const std::string& path) const;
  // Returns whether any file has that name in the folders of find(), even one that find() skips because the
  // loader would reject it.
  bool is_named(const std::string& soname) const;
  // The folders that find() searches, for facts that say "absent".
  std::string places() const;

 private:
  struct Order;
  const Root& root_;
  std::unique_ptr<Order> order_;
};

Fact<std::string> detect_os();
Fact<std::string> detect_arch();
Fact<std::string> detect_kernel(const Root& root);
Fact<Distribution> detect_distribution(const Root& root);
Fact<Cpu> detect_cpu();
Fact<Memory> detect_memory(const Root& root);
Fact<Disk> detect_disk(const std::filesystem::path& cache_folder);

// Facts that not every system has. detect_own_facts() fills those of this one.
Fact<Libc> detect_libc(const Root& root);
Fact<Libstdcxx> detect_libstdcxx(const Root& root, const LibrarySearch& libraries);
Fact<std::string> detect_container(const Root& root);
Fact<std::string> detect_wsl(const Fact<std::string>& kernel);
Fact<Rocm> detect_rocm(const Root& root);
Fact<KernelModule> detect_nvidia_module(const Root& root, const Fact<std::string>& kernel);
Fact<std::string> detect_other_gpus(const Root& root, const Fact<std::string>& wsl);
Fact<Metal> detect_metal();
Fact<std::string> detect_vcruntime(const Root& root);
void detect_own_facts(Platform& platform, const Root& root, const LibrarySearch& libraries);

Fact<Conda> detect_conda();
Fact<std::string> detect_job();
Fact<Variables> detect_loader_environment();

// Returns true for LD_*, CUDA_*, NVIDIA_* and the like, which change what a loader or a GPU runtime finds.
// Values of other variables are never read, because they are private.
bool is_loader_variable(std::string_view name);

// Returns all variables of this process in their order. On Windows, where case does not matter, names are in
// upper case. Any thread, as long as no thread changes the environment.
Variables process_variables();

// The text of the machine key: one line per value (machine_key.hpp).
class KeyText {
 public:
  void add(std::string_view name, std::string_view value) {
    text_.append(name).append("=").append(value).push_back('\n');
  }
  void add(std::string_view name, std::uint64_t value) { add(name, std::to_string(value)); }
  // Adds device, inode, size and time of the file.
  void stamp(std::string_view name, const std::filesystem::path& file);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};
// The parts of the key that depend on the system.
void add_system(KeyText& text, const Root& root, Reach reach);
std::vector<MachineInput> system_inputs(const Root& root, Reach reach);

// Returns feature names and the x86-64-v level from the answers of CPUID and XGETBV. Features whose registers
// the system does not save are left out even if CPUID lists them, because using them raises SIGILL.
Cpu x86_cpu(const Cpuid& answers);

Fact<std::vector<Installed>> detect_toolkits(const Root& root, const LibrarySearch& libraries);
Fact<std::vector<Installed>> detect_cudnn(const Root& root, const LibrarySearch& libraries,
                                          const std::vector<Installed>& toolkits);

// First the facts about hardware and driver that files hold, then the driver's answers if anything
// of NVIDIA is present.
Cuda detect_cuda(const Root& root, const LibrarySearch& libraries, const Fact<std::string>& wsl,
                 const DetectRequest& request);

// Facts about NVIDIA's hardware and driver that are read from files, without calling into the driver.

// "libcuda.so.1", on Windows "nvcuda.dll".
std::string driver_library_name();

// Returns the graphics and compute devices of vendor 10de on the PCI bus ("10de:2684", "10de:20b2 x 2"), or a
// Tegra chip with its release of Linux for Tegra ("tegra234, L4T 36.4.3"). Unknown in WSL, where GPUs do not
// appear on a bus. On Windows: the present devices as SetupAPI lists them, including those without a driver.
Fact<std::string> nvidia_hardware(const Root& root, const Fact<std::string>& wsl);

// Returns the version of the loaded kernel module. Unknown in WSL, where Windows has the driver. On Windows:
// the version of the driver that is registered for a present device.
Fact<std::string> kernel_driver(const Root& root, const Fact<std::string>& wsl);

// Returns the folders in which systems and clouds of Linux keep the driver's libraries, although the loader
// may not look there.
std::vector<std::string> driver_folders(const Root& root);

// Returns libcuda.so.1 as the loader would find it, else a usable one in a folder where a system or cloud
// keeps it, with a note (driver_state.hpp). When absent, the source lists the folders searched and the files
// that the loader would not take, and says whether device files hint at a driver.
Fact<Installed> driver_library(const Root& root, const LibrarySearch& libraries,
                               const Fact<std::string>& driver);

// The same for libnvidia-ml.so.1 (nvml.dll).
std::optional<std::string> find_nvml(const Root& root, const LibrarySearch& libraries);

// The lines that `enginehost-probe drivers` printed, as one document. Lines without the nonce are ignored
// because other code printed them.
struct DriverAnswer {
  Json document;          // null: no line carried the nonce
  bool complete = false;  // the driver query reached its end
};
DriverAnswer read_driver_answer(const std::string& lines, const std::string& nonce);

// Fills driver_cuda, devices and init from the document, and completes driver and library. `cuda` must
// already hold the facts found in files (driver, hardware, library, visible_devices). `why_incomplete` says
// why the driver query did not reach its end; empty: it did. An incomplete query's answers stand, and
// everything it did not reach becomes unknown for that reason. Pure.
void apply_driver_answer(const Json& answer, const std::string& why_incomplete, Cuda& cuda);

// The same for a driver query that gave no answer: its facts become unknown with this reason.
void apply_no_answer(const std::string& why, Cuda& cuda);

// Describes how a driver query ended without a usable answer: "the driver did not answer in 15 s", "the
// driver's library crashed the probe (SIGSEGV)", ...
std::string why_no_answer(const ChildOutcome& outcome, std::chrono::milliseconds deadline);

// "12.2" for 12020.
std::string cuda_version_text(std::int64_t number);

// The folders of CUDA toolkits and cuDNN on this system, and the names of their libraries.
struct ToolkitPlace {
  std::string folder;
  std::string source;
  bool named =
      false;  // named by a variable, a compiler in PATH or an installer's entry: worth a note if it is empty
};

// Returns folders that may hold a toolkit, the explicitly named ones first. Some may not exist and some may
// occur twice.
std::vector<ToolkitPlace> toolkit_places(const Root& root);
// Returns the absolute folders that CUDA_HOME, CUDA_PATH and similar variables name.
std::vector<ToolkitPlace> toolkits_of_variables(const Variables& variables);

// The names of NVIDIA's files on this system.
struct CudaNames {
  const char* toolkit_places;     // where toolkit_places() looks, for the fact that says "absent"
  const char* toolkit_libraries;  // the folder of a toolkit's libraries, below the toolkit: "/lib64"
  const char* runtimes;           // "libcudart.so.* the loader would find"
  std::array<const char*, 2> cudnn_folders;  // of a toolkit
};
extern const CudaNames cuda_names;
std::string runtime_file(std::string version);     // "libcudart.so.11.0" for "11.0"
std::string cudnn_file(const std::string& major);  // "libcudnn.so.9" for "9"
// Returns the version in the name of a cuDNN library: "8.9.7" or "9".
std::string version_in_cudnn_name(const std::string& path);
// The folder of the header of a cuDNN that lies outside of toolkits.
std::string cudnn_header_folder(const std::string& library);

// Graphics and compute devices on the PCI bus of Linux.
inline constexpr const char* pci_folder = "/sys/bus/pci/devices";

// "0x030000" display, "0x030200" 3D, "0x120000" accelerator
bool is_graphics_class(std::string_view text);

// Returns the vendor's devices, sorted: "10de:2684", "10de:20b2 x 2". `vendor`: four hexadecimal digits.
// Empty also if there is no such folder.
std::vector<std::string> graphics_devices(const Root& root, std::string_view vendor);

}  // namespace enginehost::platform
