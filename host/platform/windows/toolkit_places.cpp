#include "host/platform/toolkit_places.hpp"

#include "base/environment.hpp"
#include "base/text.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/windows/registry.hpp"

namespace enginehost::platform {
namespace {

constexpr const char* installers_key = "SOFTWARE\\NVIDIA Corporation\\GPU Computing Toolkit\\CUDA";

// Each version's installer writes a key "v12.4" with its folder.
void add_installed(const Root& root, std::vector<ToolkitPlace>& places) {
  if (!root.is_this_machine()) return;
  for (const std::string& version : registry::keys_below(installers_key)) {
    const std::string key = installers_key + ("\\" + version);
    if (auto folder = registry::text(key, "InstallDir"); folder && !folder->empty())
      places.push_back({std::move(*folder), "registry: " + key, true});
  }
}

// The toolkit of the nvcc in PATH.
void add_compiler(const Root& root, std::vector<ToolkitPlace>& places) {
  for (const std::string& folder : split(environment_variable("PATH").value_or(""), ';')) {
    const std::size_t end = folder.find_last_not_of("\\/") + 1;
    const std::string bin = folder.substr(0, end);
    if (!to_lower(bin).ends_with("\\bin") || !root.exists(bin + "\\nvcc.exe")) continue;
    places.push_back({bin.substr(0, bin.size() - 4), "nvcc in PATH", true});
    return;
  }
}

}  // namespace

std::vector<ToolkitPlace> toolkit_places(const Root& root) {
  std::vector<ToolkitPlace> places = toolkits_of_variables(process_variables());
  add_compiler(root, places);
  add_installed(root, places);
  const std::string usual = environment_variable("ProgramW6432").value_or("C:\\Program Files") +
                            "\\NVIDIA GPU Computing Toolkit\\CUDA";
  for (const std::string& name : root.list(usual))
    if (name.starts_with('v')) places.push_back({usual + "\\" + name, usual, false});
  return places;
}

std::string toolkit_places_text() {
  return "CUDA_HOME, CUDA_PATH, nvcc in PATH, registry: " + std::string(installers_key) +
         ", NVIDIA GPU Computing Toolkit";
}

const char* toolkit_library_folder() { return "/bin"; }

// CUDA 11's runtime kept one name from 11.0 to 11.8, cudart64_110.dll.
std::vector<RuntimeName> runtime_names() {
  std::vector<RuntimeName> names;
  for (const std::string version :
       {"13", "12", "11.0", "10.2", "10.1", "10.0", "9.2", "9.1", "9.0", "8.0", "7.5", "7.0", "6.5"}) {
    std::string digits = version;
    std::erase(digits, '.');
    names.push_back({version, "cudart64_" + digits + ".dll"});
  }
  return names;
}

std::string runtimes_text() { return "cudart64_*.dll in PATH"; }

std::string cudnn_file(const std::string& major) { return "cudnn64_" + major + ".dll"; }

std::vector<std::string> cudnn_folders() { return {"/bin/x64", "/bin"}; }  // CUDA 13 introduced the first

// The file's resources hold a number of the branch instead of the release; the name holds the major version.
std::string version_in_cudnn_name(const std::string& path) {
  const std::size_t at = path.rfind('_');
  const std::string rest = at == std::string::npos ? "" : path.substr(at + 1);
  return rest.substr(0, rest.find_first_not_of("0123456789"));
}

// "…\bin\cudnn64_9.dll", with cuDNN's own installer "…\bin\12.9\cudnn64_9.dll": the header lies beside "bin".
std::string cudnn_header_folder(const std::string& library) {
  const std::size_t at = to_lower(library).rfind("\\bin\\");
  return at == std::string::npos ? "" : library.substr(0, at) + "\\include";
}

}  // namespace enginehost::platform
