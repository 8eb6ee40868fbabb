#include "host/platform/machine_key.hpp"

#include <link.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstring>

#include "base/environment.hpp"
#include "base/process.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/linker/machine.hpp"
#include "host/linker/this_linux.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

using What = MachineInput::What;
using namespace std::string_view_literals;

// Change this when detect() reads something else, so that facts remembered by an older version are not used.
constexpr std::string_view version = "7";

// Returns whether builds are chosen or verified by this library. A loaded library satisfies every need of its
// name, wherever files of that name lie. `name`: the file's name after "lib", or the whole name.
bool is_reported(const char* name) {
  static constexpr std::string_view reported[] = {"stdc++.", "cuda.", "nvidia-m", "cudart.", "cudnn.",
                                                  "c.so.",   "m.so.", "gcc_s.",   "ld-linux"};
  return std::ranges::any_of(
      reported, [name](std::string_view one) { return std::string_view(name).starts_with(one); });
}

// Calls action(object, path) for each such library in this process.
template <class Action>
void for_each_loaded_library(Action action) {
  ::dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* into) {
        const char* file = library->dlpi_name != nullptr ? std::strrchr(library->dlpi_name, '/') : nullptr;
        if (file == nullptr) return 0;
        if (is_reported(std::strncmp(file, "/lib", 4) == 0 ? file + 4 : file + 1))
          // Resolves a relative path, which refers to the current folder at load time.
          (*static_cast<Action*>(into))(
              *library, library->dlpi_name[0] == '/'
                            ? library->dlpi_name
                            : linker::file_mapped_at(linker::first_address(*library)).c_str());
        return 0;
      },
      &action);
}

// "/lib", "/usr/lib64", "/lib/x86_64-linux-gnu": folders that glibc always searches.
bool is_compiled_in(std::string_view folder) {
  if (folder.starts_with("/usr/")) folder.remove_prefix(4);
  return folder == "/lib" || folder == "/lib64" ||
         (folder.starts_with("/lib/") && folder.find("-linux-gnu") != std::string_view::npos &&
          folder.find('/', 5) == std::string_view::npos);
}

class MachineInputs {
 public:
  explicit MachineInputs(const Root& root) : root_(root) {}

  void at(What what, std::string path) { all_.push_back({what, std::move(path)}); }
  // A folder's time changes when a library is added or removed.
  void at_search_folder(const std::string& folder) {
    at(What::stamp, folder);
    if (!root_.exists(folder)) return;
    const std::string levels = folder + "/glibc-hwcaps";
    at(What::stamp, levels);
    if (root_.exists(levels))
      for (const char* level : {"/x86-64-v4", "/x86-64-v3", "/x86-64-v2"}) at(What::stamp, levels + level);
  }
  void at_loader() {
    // The program's own path and the variable, as the loader expanded them, come before its built-in folders.
    for (const std::string& folder : linker::split_library_path(linker::loader_folders_at_start()))
      if (!folder.empty() && !is_compiled_in(folder)) at_search_folder(folder);
    at(What::stamp, "/etc/ld.so.cache");
#if defined(__x86_64__)
    for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/lib"})
#elif defined(__aarch64__)
    for (const char* folder : {"/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/lib"})
#else
    for (const char* folder : {"/usr/lib64", "/usr/lib", "/lib", "/usr/local/lib"})
#endif
      // On most systems /lib is a link into /usr and is covered there.
      if (folder != "/lib"sv || root_.resolve(folder) != "/usr/lib") at_search_folder(folder);
  }
  void at_devices() {
    // A readable version means that the module is loaded; its device list follows hot plugging.
    static constexpr const char *nvidia = "/proc/driver/nvidia/version", *module = "/sys/module/nvidia";
    if (root_.exists(nvidia) || root_.exists(module) || !root_.exists("/sys/module")) {
      at(What::content, nvidia);
      if (root_.exists(nvidia)) at(What::names, "/proc/driver/nvidia/gpus");
      at(What::content, "/sys/module/nvidia/version");
    } else {
      at(What::presence, module);  // without the module none of them exists, and these paths are slow
    }
    for (const char* device :
         {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia-uvm", "/dev/dxg"})
      at(What::presence, device);
    // The kernel counts changes of its list of AMD devices. The first device comes with a device file.
    static constexpr const char* devices_of_amd = "/sys/class/kfd/kfd/topology/generation_id";
    if (root_.exists(devices_of_amd)) at(What::content, devices_of_amd);
    at(What::presence, "/dev/kfd");
    at(What::stamp, "/usr/lib/wsl/lib/libcuda.so.1");
    at(What::stamp, "/opt/rocm/.info/version");
  }
  // Inputs of facts that are only reported.
  void at_reported() {
    at(What::names, "/sys/bus/pci/devices");
    at(What::presence, "/etc/nv_tegra_release");
    for (const char* mark : {"/.flatpak-info", "/.singularity.d", "/run/.containerenv", "/.dockerenv"})
      at(What::presence, mark);
    for (const std::string& folder : driver_folders(root_)) at(What::stamp, folder + "/libcuda.so.1");
    at(What::content, "/run/systemd/container");
    at(What::content, "/proc/1/cgroup");
    // Toolkits are folders in these, and /usr/local/cuda is a link that gets replaced.
    for (const char* folder : {"/usr/local", "/opt", "/opt/cuda", "/usr/lib/nvidia-cuda-toolkit"})
      at(What::stamp, folder);
    for (const std::string& folder : split(environment_variable("PATH").value_or(""), ':')) {
      if (!folder.starts_with('/')) continue;
      at(What::presence, folder + "/nvcc");
      if (root_.exists(folder + "/nvcc")) break;
    }
  }
  std::vector<MachineInput> take() { return std::move(all_); }

 private:
  const Root& root_;
  std::vector<MachineInput> all_;
};

}  // namespace

void add_system(KeyText& text, const Root&, Reach reach) {
  text.add("machine key of Linux", version);
  utsname names{};
  if (::uname(&names) == 0)
    for (const char* name : {names.release, names.version, names.machine}) text.add("system", name);
  for_each_loaded_library([&](const dl_phdr_info& library, const char* path) {
    text.add("loaded", path);
    text.add("as", mapped_build_id(library));
  });
  text.add("the loader's folders", linker::loader_folders_at_start());
  if (reach == Reach::everything) {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    if (::sched_getaffinity(0, sizeof usable, &usable) == 0)
      text.add("processors", static_cast<std::uint64_t>(CPU_COUNT(&usable)));
  }
}

std::vector<MachineInput> system_inputs(const Root& root, Reach reach) {
  MachineInputs inputs(root);
  inputs.at(What::boot, "/proc/sys/kernel/random/boot_id");
  // Another root file system has another file here.
  static constexpr const char* system = "/etc/os-release";
  inputs.at(What::stamp, system);
  if (!root.exists(system)) inputs.at(What::stamp, "/");
  for_each_loaded_library([&](const dl_phdr_info& library, const char* path) {
    if (mapped_build_id(library).empty()) inputs.at(What::stamp, path);
  });
  inputs.at_loader();
  inputs.at_devices();
  if (reach == Reach::everything) inputs.at_reported();
  return inputs.take();
}

std::vector<std::string> files_in_machine_key_text(const std::string& key_text) {
  std::vector<std::string> files;
  for_each_loaded_library([&](const dl_phdr_info& library, const char* path) {
    const std::string id(mapped_build_id(library));
    if (!id.empty() &&
        key_text.find("\nloaded=" + std::string(path) + "\nas=" + id + "\n") != std::string::npos)
      files.emplace_back(path);
  });
  return files;
}

}  // namespace enginehost::platform
