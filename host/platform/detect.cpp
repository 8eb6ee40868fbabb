#include "host/platform/detect.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/system_errors.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/thread_variables.hpp"

namespace enginehost::platform {

namespace {

// The call that space_below() makes.
#if defined(_WIN32)
constexpr const char* space_call = "GetDiskFreeSpaceEx of ";
#elif defined(__APPLE__)
constexpr const char* space_call = "statfs of ";
#else
constexpr const char* space_call = "statvfs of ";
#endif

}  // namespace

Fact<Disk> detect_disk(const std::filesystem::path& cache_folder) {
  if (cache_folder.empty()) return Fact<Disk>::unknown("no cache folder was named");
  std::filesystem::path folder = cache_folder;
  calls::Status status{};
  // The cache may not exist yet; it will lie on the disk of its nearest existing parent.
  while (calls::stat(folder, &status) != 0) {
    if (errno != ENOENT || !folder.has_relative_path())
      return Fact<Disk>::unknown("stat of " + path_text(folder) + ": " + error_text(errno));
    folder = folder.parent_path();
  }
  const auto space = space_below(folder);
  if (!space) return Fact<Disk>::unknown(space_call + path_text(folder) + ": " + error_text(errno));
  return Fact<Disk>::known({path_text(cache_folder), space->total, space->free, forbids_execution(folder)},
                           space_call + path_text(folder));
}

Variables process_variables() {
  Variables variables = environment_variables();
#ifdef _WIN32
  for (auto& [name, value] : variables)
    for (char& letter : name)
      if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
#endif
  return variables;
}

Fact<Conda> detect_conda() {
  auto prefix = environment_variable("CONDA_PREFIX");
  if (!prefix || prefix->empty()) return Fact<Conda>::absent("CONDA_PREFIX");
  return Fact<Conda>::known({std::move(*prefix), environment_variable("CONDA_DEFAULT_ENV").value_or("")},
                            "CONDA_PREFIX");
}

// The variable that each scheduler sets in a job. Sources: sbatch(1), "OUTPUT ENVIRONMENT VARIABLES";
// qsub(1B) of PBS; IBM Spectrum LSF, "Environment variables set for job execution".
Fact<std::string> detect_job() {
  static constexpr std::pair<const char*, const char*> marks[] = {
      {"SLURM_JOB_ID", "slurm"}, {"PBS_JOBID", "pbs"}, {"LSB_JOBID", "lsf"}};
  for (const auto& [variable, scheduler] : marks)
    if (!environment_variable(variable).value_or("").empty())
      return Fact<std::string>::known(scheduler, variable);
  return Fact<std::string>::absent("SLURM_JOB_ID, PBS_JOBID, LSB_JOBID");
}

bool is_loader_variable(std::string_view name) {
  static constexpr std::string_view prefixes[] = {"LD_",  "CUDA_", "NVIDIA_", "NCCL_",
                                                  "HIP_", "ROCR_", "HSA_"};
  static constexpr std::string_view names[] = {"ASAN_OPTIONS", "CONDA_PREFIX", "GLIBC_TUNABLES",
                                               "PYTORCH_CUDA_ALLOC_CONF"};
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Fact<Variables> detect_loader_environment() {
  Variables found;
  for (auto& variable : process_variables())
    if (is_loader_variable(variable.first) || is_thread_variable(variable.first))
      found.push_back(std::move(variable));
  if (found.empty()) return Fact<Variables>::absent("environment");
  std::sort(found.begin(), found.end());
  // A name can occur twice in a process's environment; getenv returns the first.
  found.erase(std::unique(found.begin(), found.end(),
                          [](const auto& left, const auto& right) { return left.first == right.first; }),
              found.end());
  return Fact<Variables>::known(std::move(found), "environment");
}

Platform detect(const DetectRequest& request) {
  const Root root(request.root);
  const LibrarySearch libraries(root);
  Platform platform;
  platform.os = detect_os();
  platform.arch = detect_arch();
  platform.kernel = detect_kernel(root);
  platform.distribution = detect_distribution(root);
  platform.cpu = detect_cpu();
  platform.memory = detect_memory(root);
  platform.disk = detect_disk(request.cache_folder);
  // detect_own_facts() replaces those that this system has.
  platform.libc = Fact<Libc>::absent("not Linux");
  platform.libstdcxx = Fact<Libstdcxx>::absent("not Linux");
  platform.container = Fact<std::string>::absent("not Linux");
  platform.wsl = Fact<std::string>::absent("not Linux");
  platform.rocm = Fact<Rocm>::absent("not Linux");
  platform.nvidia_module = Fact<KernelModule>::absent("not Linux");
  platform.metal = Fact<Metal>::absent("not macOS");
  platform.vcruntime = Fact<std::string>::absent("not Windows");
  detect_own_facts(platform, root, libraries);
  platform.cuda = detect_cuda(root, libraries, platform.wsl, request);
  platform.conda = detect_conda();
  platform.job = detect_job();
  platform.loader_environment = detect_loader_environment();
  return platform;
}

void look_for_libraries(Platform& platform, std::vector<std::string> names,
                        const std::filesystem::path& root_folder) {
  std::erase_if(names,
                [](const std::string& name) { return name.find_first_of("/\\") != std::string::npos; });
  if (names.empty()) return;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const Root root(root_folder);
  const LibrarySearch libraries(root);
  Variables answers;
  for (std::string& name : names) {
    const auto found = libraries.find(name);
    // A file that exists but is no library for this process is left to the check before loading.
    if (found || !libraries.is_named(name))
      answers.emplace_back(std::move(name), found ? found->path : std::string());
  }
  platform.libraries = Fact<Variables>::known(std::move(answers), libraries.places());
}

std::vector<std::string> sign_changes(const DeviceSigns& before, const DeviceSigns& after) {
  const auto value_in = [](const DeviceSigns& signs, const std::string& path) -> const std::string* {
    const auto found =
        std::find_if(signs.begin(), signs.end(), [&](const auto& sign) { return sign.first == path; });
    return found != signs.end() ? &found->second : nullptr;
  };
  std::vector<std::string> changes;
  for (const auto& [path, value] : before) {
    const std::string* now = value_in(after, path);
    if (now == nullptr)
      changes.push_back(path + " is gone");
    else if (*now != value)
      changes.push_back(path + " was " + value + " and is " + *now);
  }
  for (const auto& [path, value] : after)
    if (value_in(before, path) == nullptr) changes.push_back(path + " is there now");
  return changes;
}

}  // namespace enginehost::platform
