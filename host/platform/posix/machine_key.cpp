#include "host/platform/machine_key.hpp"

#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/linker/machine.hpp"
#include "host/platform/root.hpp"
#include "host/platform/variables.hpp"

extern char** environ;

namespace enginehost::platform {
namespace {

// Changed when detect() looks at something else, so that what an older version remembered is not taken over.
constexpr std::string_view version = "machine key 1";

// Gathers what the key is a digest of. Nothing here goes through std::filesystem: this runs at every open.
class Gathering {
 public:
  explicit Gathering(const Root& root) : root_(root) { text_.reserve(4096); }

  void add(std::string_view value) { text_.append(value).push_back('\n'); }
  void add(std::string_view name, std::string_view value) {
    text_.append(name).push_back('=');
    add(value);
  }
  void add(std::string_view name, std::uint64_t value) { add(name, std::to_string(value)); }

  bool exists(const std::string& path) {
    const bool there = root_.exists(path);
    add(path, there ? "there" : "absent");
    return there;
  }
  // Device, inode, size and time; `identity`: only the first two.
  bool stamp(const std::string& path, bool identity = false) {
    struct stat status {};
    text_.append(path).push_back('=');
    if (::stat(root_.text_on_disk(path).c_str(), &status) != 0) {
      add(errno == EACCES ? "closed" : "absent");
      return false;
    }
    number(status.st_dev);
    number(status.st_ino);
    if (!identity) {
      number(static_cast<std::uint64_t>(status.st_size));
      number(static_cast<std::uint64_t>(status.st_mtim.tv_sec));
      number(static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
    }
    text_.push_back('\n');
    return true;
  }
  // A file of this machine, also where another root is looked at.
  void stamp_here(const std::string& path) {
    const auto stamp = stamp_of(path);
    if (!stamp) return add("absent");
    number(stamp->device);
    number(stamp->inode);
    number(stamp->size);
    add("time", static_cast<std::uint64_t>(stamp->modified_ns));
  }
  // A file of the kernel, whose times tell nothing.
  bool content(const std::string& path) {
    const std::string bytes = root_.read_start(path, 4096);
    add(path, bytes);
    return !bytes.empty();
  }
  void names_in(const std::string& folder) {
    text_.append(folder).push_back('=');
    for (const std::string& name : root_.list(folder)) text_.append(name).push_back(' ');
    text_.push_back('\n');
  }
  const std::string& text() const { return text_; }

 private:
  void number(std::uint64_t value) { text_.append(std::to_string(value)).push_back(' '); }

  const Root& root_;
  std::string text_;
};

void add_environment(Gathering& key, Reach reach) {
  // Those that parts of detect() read beside the loader's and the runtimes'.
  static constexpr std::string_view told[] = {"PATH", "CONDA_DEFAULT_ENV", "KUBERNETES_SERVICE_HOST",
                                              "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool counts = is_loader_variable(name);
    if (reach == Reach::everything)
      for (const std::string_view one : told) counts = counts || name == one;
    if (counts) key.add(text);
  }
}

// A library that is in the process already serves every need of its name, wherever the files lie.
void add_loaded_libraries(Gathering& key) {
  static constexpr const char* names[] = {"/libstdc++.", "/libcuda.", "/libnvidia-ml.", "/libcudart.",
                                          "/libcudnn."};
  std::vector<const char*> found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* into) {
        if (library->dlpi_name == nullptr) return 0;
        const char* file = std::strrchr(library->dlpi_name, '/');
        for (const char* name : names)
          if (file != nullptr && std::strncmp(file, name, std::strlen(name)) == 0)
            static_cast<std::vector<const char*>*>(into)->push_back(library->dlpi_name);
        return 0;
      },
      &found);
  for (const char* path : found) key.stamp(path);
}

// A folder's time changes when a library is put into it or taken out.
void add_search_folder(Gathering& key, const std::string& folder) {
  if (!key.stamp(folder)) return;
  const std::string levels = folder + "/glibc-hwcaps";
  if (key.stamp(levels))
    for (const char* level : {"/x86-64-v4", "/x86-64-v3", "/x86-64-v2"}) key.stamp(levels + level);
}

void add_loader(Gathering& key) {
  const std::optional<std::string>& at_start = linker::library_path_at_start();
  key.add("LD_LIBRARY_PATH at start", at_start.value_or("(not set)"));
  if (at_start)
    for (const std::string& folder : linker::split_library_path(*at_start))
      add_search_folder(
          key, folder.empty() ? std::string(".") : folder);  // an empty element is the current folder
  key.stamp("/etc/ld.so.cache");
  // /lib and /lib64 are links into /usr on most systems; both are followed, so that nothing has to be known
  // of it.
#if defined(__x86_64__)
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/lib"})
#elif defined(__aarch64__)
  for (const char* folder : {"/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/lib"})
#else
  for (const char* folder : {"/usr/lib64", "/usr/lib", "/lib", "/usr/local/lib"})
#endif
    add_search_folder(key, folder);
}

void add_devices(Gathering& key) {
  // A version that can be read means that the module is loaded; its list of devices follows hot plugging.
  if (key.content("/proc/driver/nvidia/version")) key.names_in("/proc/driver/nvidia/gpus");
  key.content("/sys/module/nvidia/version");
  for (const char* device : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia-uvm", "/dev/dxg"})
    key.exists(device);
  // The kernel counts changes of its list of AMD's devices.
  key.content("/sys/class/kfd/kfd/topology/generation_id");
  key.stamp("/usr/lib/wsl/lib/libcuda.so.1");
  key.stamp("/opt/rocm/.info/version");
}

// What is only told to people.
void add_what_is_told(Gathering& key) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0)
    key.add("processors", static_cast<std::uint64_t>(CPU_COUNT(&usable)));
  key.names_in("/sys/bus/pci/devices");
  key.exists("/etc/nv_tegra_release");
  for (const char* mark : {"/.singularity.d", "/run/.containerenv", "/.dockerenv"}) key.exists(mark);
  key.content("/run/systemd/container");
  key.content("/proc/1/cgroup");
  // Toolkits come as folders of these, and /usr/local/cuda as a link that is set anew.
  for (const char* folder : {"/usr/local", "/opt", "/opt/cuda", "/usr/lib/nvidia-cuda-toolkit"})
    key.stamp(folder);
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path != nullptr ? path : "", ':'))
    if (folder.starts_with('/') && key.exists(folder + "/nvcc")) break;
}

}  // namespace

std::string machine_text(const DetectRequest& request, Reach reach) {
  const Root root(request.root);
  Gathering key(root);
  key.add(version);
  key.add(reach == Reach::everything ? "everything" : "decisive");
  key.content("/proc/sys/kernel/random/boot_id");
  utsname names{};
  if (::uname(&names) == 0) {
    key.add(names.release);
    key.add(names.version);
    key.add(names.machine);
  }
  key.add("pointer", sizeof(void*));  // a 32-bit program on the same system
  key.add("user", ::geteuid());       // who may open a device
  key.stamp("/", true);
  key.stamp("/etc/os-release");
  key.add("helper", request.helper.native());
  if (!request.helper.empty()) key.stamp_here(request.helper.native());
  for (const std::string& word : request.helper_launcher) key.add("launcher", word);
  struct statvfs disk {};
  key.add("cache", request.cache_folder.native());
  if (!request.cache_folder.empty() && ::statvfs(request.cache_folder.c_str(), &disk) == 0)
    key.add("noexec", (disk.f_flag & ST_NOEXEC) != 0 ? "yes" : "no");
  add_environment(key, reach);
  add_loaded_libraries(key);
  add_loader(key);
  add_devices(key);
  if (reach == Reach::everything) add_what_is_told(key);
  return key.text();
}

std::string machine_key(const DetectRequest& request, Reach reach) {
  return sha256_hex(machine_text(request, reach));
}

}  // namespace enginehost::platform
