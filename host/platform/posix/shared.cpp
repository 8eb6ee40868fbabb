#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/posix/local_accounts.hpp"
#include "base/text.hpp"
#include "host/platform/detect.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/platform.hpp"
#include "host/platform/root.hpp"

namespace enginehost::platform {
namespace {

constexpr int most_links = 40;  // the kernel's limit for ELOOP

}  // namespace

Root::Root(std::filesystem::path root) : prefix_(root == "/" ? "" : root.lexically_normal().native()) {
  while (!prefix_.empty() && prefix_.back() == '/') prefix_.pop_back();
}

std::filesystem::path Root::on_disk(const std::string& path) const { return prefix_ + path; }

std::optional<std::filesystem::path> Root::file_of(const std::string& path) const {
  const auto real = is_this_machine() ? path : resolve(path);
  return real ? std::optional(on_disk(*real)) : std::nullopt;
}

bool Root::exists(const std::string& path) const {
  if (is_this_machine()) return ::access(path.c_str(), F_OK) == 0;
  return resolve(path).has_value();
}

std::optional<std::string> Root::resolve(const std::string& path) const {
  if (is_this_machine()) {
    // Checks for existence first: realpath examines every path element, and most of the paths do not exist.
    if (!exists(path)) return std::nullopt;
    char real[PATH_MAX];
    if (::realpath(path.c_str(), real) == nullptr) return std::nullopt;
    return std::string(real);
  }
  // Resolves element by element, because the kernel would follow an absolute link out of the root.
  std::filesystem::path done = "/", rest = std::filesystem::path(path).relative_path();
  for (int links = 0; !rest.empty();) {
    const std::filesystem::path element = *rest.begin();
    rest = rest.lexically_relative(element);
    if (rest == ".") rest.clear();
    if (element.empty() || element == ".") continue;
    if (element == "..") {
      done = done.parent_path();
      continue;
    }
    const std::filesystem::path next = done / element;
    struct stat status {};
    if (::lstat(on_disk(next.native()).c_str(), &status) != 0) return std::nullopt;
    if (!S_ISLNK(status.st_mode)) {
      done = next;
      continue;
    }
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(on_disk(next.native()), error);
    if (error || ++links > most_links) return std::nullopt;
    if (target.is_absolute()) done = "/";
    rest = target.relative_path() / rest;
  }
  return done.native();
}

namespace {

// System accounts have system folders as their home ("/", "/usr/sbin"), which identify nobody.
bool is_of_the_system(std::string_view home) {
  for (const std::string_view folder : {"/usr", "/bin", "/sbin", "/dev", "/etc", "/var", "/run", "/proc"})
    if (home.starts_with(folder)) return true;
  return home.size() < 2;
}

}  // namespace

Identity this_user() {
  Identity identity;
  if (const auto home = environment_variable("HOME"); home && *home != "/") identity.home = *home;
  if (const auto user = local_user(::getuid())) {
    identity.user = user->name;
    if (!is_of_the_system(user->home)) identity.other_home = user->home;
  }
  // Users that only a directory service knows (all users on macOS) are not looked up there, because that
  // would need a socket.
  for (const char* variable : {"LOGNAME", "USER"})
    if (const auto name = environment_variable(variable); name && identity.user.empty())
      identity.user = *name;
  // A system account identifies nobody, and its name is an element of many paths.
  if (::getuid() < 1000 || identity.user == "nobody") identity.user.clear();
  return identity;
}

DeviceSigns device_signs(const Root& root) {
  DeviceSigns signs;
  const auto add_names = [&](const std::string& folder, std::string_view beginning) {
    for (const std::string& name : root.list(folder))
      if (name.starts_with(beginning)) signs.emplace_back(folder + "/" + name, "");
  };
  add_names("/dev", "nvidia");
  add_names("/dev/dri", "renderD");
  add_names("/proc/driver/nvidia/gpus", "");  // one folder per GPU, named by its bus address
  for (const char* file : {"/dev/kfd", "/dev/dxg"})
    if (root.exists(file)) signs.emplace_back(file, "");
  // The module cannot be replaced while a process uses it, but it can after the process lost its device.
  if (auto version = root.read("/sys/module/nvidia/version"))
    signs.emplace_back("/sys/module/nvidia/version", std::move(*version));
  std::sort(signs.begin(), signs.end());
  return signs;
}

namespace {

// The toolkit of the nvcc in PATH: bin/nvcc, or the target of a link to it, lies in the toolkit.
void add_compiler(const Root& root, std::vector<ToolkitPlace>& places) {
  for (const std::string& folder : split(environment_variable("PATH").value_or(""), ':')) {
    if (folder.empty() || folder.front() != '/') continue;
    const auto compiler = root.resolve(folder + "/nvcc");
    if (!compiler) continue;
    const std::filesystem::path bin = path_of(*compiler).parent_path();
    if (bin.filename() == "bin") places.push_back({bin.parent_path().native(), "nvcc in PATH", true});
    return;
  }
}

}  // namespace

std::vector<ToolkitPlace> toolkit_places(const Root& root) {
  std::vector<ToolkitPlace> places = toolkits_of_variables(process_variables());
  add_compiler(root, places);
  for (const std::string& name : root.list("/usr/local"))
    if (name == "cuda" || name.starts_with("cuda-"))
      places.push_back({"/usr/local/" + name, "/usr/local/cuda*", false});
  // The folders of Arch's and Debian's packages.
  places.push_back({"/opt/cuda", "/opt/cuda", false});
  places.push_back({"/usr/lib/nvidia-cuda-toolkit", "/usr/lib/nvidia-cuda-toolkit", false});
  return places;
}

const CudaNames cuda_names = {
    .toolkit_places = "CUDA_HOME, CUDA_PATH, nvcc in PATH, /usr/local/cuda*, /opt/cuda",
    .toolkit_libraries = "/lib64",
    .runtimes = "libcudart.so.* the loader would find",
    .cudnn_folders = {"/lib64", "/lib"}};

std::string runtime_file(std::string version) { return "libcudart.so." + version; }

std::string cudnn_file(const std::string& major) { return "libcudnn.so." + major; }

// Returns the version at the end of libcudnn.so.8.9.7; the package index's packages only have libcudnn.so.9.
std::string version_in_cudnn_name(const std::string& path) {
  const std::size_t at = path.rfind(".so.");
  return at == std::string::npos ? "" : path.substr(at + 4);
}

std::string cudnn_header_folder(const std::string&) { return "/usr/include"; }

}  // namespace enginehost::platform
