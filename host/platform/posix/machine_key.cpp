#include "host/platform/machine_key.hpp"

#include <link.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/environment.hpp"
#include "base/process.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/linker/machine.hpp"
#include "host/linker/this_linux.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/root.hpp"

namespace enginehost::platform {
namespace {

using What = MachineInput::What;
using namespace std::string_view_literals;

// Change this when detect() reads something else, so that facts remembered by an older version are not used.
constexpr std::string_view version = "machine key 4";

// Avoids std::filesystem because this runs at every open.
class KeyText {
 public:
  KeyText() { text_.reserve(1024); }
  void add(std::string_view value) { text_.append(value).push_back('\n'); }
  void add(std::string_view name, std::string_view value) {
    text_.append(name).push_back('=');
    add(value);
  }
  void add(std::string_view name, std::uint64_t value) { add(name, std::to_string(value)); }
  void add(std::string_view name, std::initializer_list<std::uint64_t> values) {
    text_.append(name).push_back('=');
    for (const std::uint64_t value : values) text_.append(std::to_string(value)).push_back(' ');
    text_.push_back('\n');
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_environment(KeyText& key_text, Reach reach) {
  // Variables that parts of detect() read, besides those of the loader and the runtimes.
  static constexpr std::string_view reported[] = {"PATH", "CONDA_DEFAULT_ENV", "KUBERNETES_SERVICE_HOST",
                                                  "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"};
  for (char** entry = environment_entries(); *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool counts = is_loader_variable(name);
    if (reach == Reach::everything)
      for (const std::string_view one : reported) counts = counts || name == one;
    if (counts) key_text.add(text);
  }
}

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
    for (const char* mark : {"/.singularity.d", "/run/.containerenv", "/.dockerenv"})
      at(What::presence, mark);
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

std::vector<MachineInput> inputs_below(const Root& root, const DetectRequest& request, Reach reach) {
  MachineInputs inputs(root);
  inputs.at(What::boot, "/proc/sys/kernel/random/boot_id");
  // Another root file system has another file here.
  static constexpr const char* system = "/etc/os-release";
  inputs.at(What::stamp, system);
  if (!root.exists(system)) inputs.at(What::identity, "/");
  if (!request.helper.empty()) inputs.at(What::stamp, request.helper.native());
  if (!request.cache_folder.empty()) inputs.at(What::noexec, request.cache_folder.native());
  for_each_loaded_library([&](const dl_phdr_info& library, const char* path) {
    if (mapped_build_id(library).empty()) inputs.at(What::stamp, path);
  });
  inputs.at_loader();
  inputs.at_devices();
  if (reach == Reach::everything) inputs.at_reported();
  return inputs.take();
}

void add_stamp(KeyText& text, const std::string& name, const std::string& path, What what) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return text.add(name, errno == EACCES ? "closed" : "absent");
  if (what == What::identity) return text.add(name, {status.st_dev, status.st_ino});
  text.add(name, {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
                  static_cast<std::uint64_t>(status.st_mtim.tv_sec),
                  static_cast<std::uint64_t>(status.st_mtim.tv_nsec)});
}

void add_answer(KeyText& text, const Root& root, const DetectRequest& request, const MachineInput& input) {
  switch (input.what) {
    case What::presence:
      return text.add(input.path, root.exists(input.path) ? "there" : "absent");
    case What::identity:
    case What::stamp:
      // The probe belongs to this machine even when another root is examined.
      return add_stamp(text, input.path,
                       input.path == request.helper.native() ? input.path : root.text_on_disk(input.path),
                       input.what);
    case What::content:
    case What::boot:
      return text.add(input.path, root.read_start(input.path, 4096));
    case What::names:
      return text.add(input.path, join(root.list(input.path), " "));
    case What::noexec: {
      struct statvfs disk {};
      const bool noexec = ::statvfs(input.path.c_str(), &disk) == 0 && (disk.f_flag & ST_NOEXEC) != 0;
      return text.add("noexec", noexec ? "yes" : "no");
    }
  }
}

}  // namespace

std::string machine_key_text(Reach reach) {
  KeyText key_text;
  key_text.add(version);
  key_text.add(reach == Reach::everything ? "everything" : "decisive");
  utsname names{};
  if (::uname(&names) == 0) {
    key_text.add(names.release);
    key_text.add(names.version);
    key_text.add(names.machine);
  }
  key_text.add("pointer", sizeof(void*));  // a 32-bit program on the same system
  key_text.add("user", ::geteuid());       // who may open a device
  add_environment(key_text, reach);
  for_each_loaded_library([&](const dl_phdr_info& library, const char* path) {
    key_text.add("loaded", path);
    key_text.add("as", mapped_build_id(library));
  });
  key_text.add("the loader's folders", linker::loader_folders_at_start());
  if (reach == Reach::everything) {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    if (::sched_getaffinity(0, sizeof usable, &usable) == 0)
      key_text.add("processors", static_cast<std::uint64_t>(CPU_COUNT(&usable)));
  }
  return key_text.take();
}

std::vector<MachineInput> machine_inputs(const DetectRequest& request, Reach reach) {
  return inputs_below(Root(), request, reach);
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

std::string machine_text(const DetectRequest& request, Reach reach) {
  const Root root(request.root);
  KeyText rest;
  rest.add("helper", request.helper.native());
  for (const std::string& word : request.helper_launcher) rest.add("launcher", word);
  rest.add("cache", request.cache_folder.native());
  for (const MachineInput& input : inputs_below(root, request, reach)) add_answer(rest, root, request, input);
  return machine_key_text(reach) + rest.take();
}

std::string machine_key(const DetectRequest& request, Reach reach) {
  return sha256_hex(machine_text(request, reach));
}

}  // namespace enginehost::platform
