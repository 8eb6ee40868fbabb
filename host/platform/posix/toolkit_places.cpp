#include "host/platform/toolkit_places.hpp"

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {
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

std::string toolkit_places_text() {
  return "CUDA_HOME, CUDA_PATH, nvcc in PATH, /usr/local/cuda*, /opt/cuda";
}

const char* toolkit_library_folder() { return "/lib64"; }

std::vector<RuntimeName> runtime_names() {
  std::vector<RuntimeName> names;
  for (const std::string version :
       {"13", "12", "11.0", "10.2", "10.1", "10.0", "9.2", "9.1", "9.0", "8.0", "7.5", "7.0", "6.5"})
    names.push_back({version, "libcudart.so." + version});
  return names;
}

std::string runtimes_text() { return "libcudart.so.* the loader would find"; }

std::string cudnn_file(const std::string& major) { return "libcudnn.so." + major; }

std::vector<std::string> cudnn_folders() { return {"/lib64", "/lib"}; }

// Returns the version at the end of libcudnn.so.8.9.7; the package index's packages only have libcudnn.so.9.
std::string version_in_cudnn_name(const std::string& path) {
  const std::size_t at = path.rfind(".so.");
  return at == std::string::npos ? "" : path.substr(at + 4);
}

std::string cudnn_header_folder(const std::string&) { return "/usr/include"; }

}  // namespace enginehost::platform
