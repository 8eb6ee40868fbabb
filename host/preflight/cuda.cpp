#include "host/preflight/judgments.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/platform/driver_state.hpp"

namespace enginehost::preflight {
namespace {

constexpr std::string_view driver_library = "libcuda.so.1";

void take_out(std::vector<Diagnosis>& diagnoses) {
  for (auto diagnosis = diagnoses.begin(); diagnosis != diagnoses.end();) {
    auto& evidence = diagnosis->evidence;
    const bool about_missing =
        diagnosis->code == Code::library_missing || diagnosis->code == Code::library_missing_indirectly;
    if (about_missing)
      evidence.erase(std::remove_if(evidence.begin(), evidence.end(),
                                    [](const Evidence& fact) {
                                      return fact.what == Key::library && fact.value == driver_library;
                                    }),
                     evidence.end());
    diagnosis =
        about_missing && diagnosis->value(Key::library).empty() ? diagnoses.erase(diagnosis) : diagnosis + 1;
  }
}

Diagnosis driver_missing(const Spec& spec, const linker::Missing& missing) {
  Diagnosis diagnosis = diagnose(Code::driver_not_found);
  if (spec.platform != nullptr) diagnosis = platform::why_no_driver(*spec.platform);
  // The facts know of a file that this search does not meet: another file was asked about, or another
  // variable.
  if (diagnosis.code != Code::driver_not_found && diagnosis.code != Code::driver_and_library_differ &&
      diagnosis.code != Code::driver_library_not_searched) {
    diagnosis = diagnose(Code::driver_not_found);
    platform::add_driver_facts(*spec.platform, diagnosis);
  }
  std::erase_if(diagnosis.evidence, [](const Evidence& fact) { return fact.what == Key::library; });
  diagnosis.with(Key::file, path_text(spec.plugin))
      .with(Key::library, missing.name, "DT_NEEDED of " + missing.needed_by)
      .with(Key::needed_by, missing.needed_by);
  for (const std::string& link : missing.chain) diagnosis.with(Key::chain, link);
  for (const linker::Searched& place : missing.searched)
    diagnosis.with(Key::searched, place.directory, place.why);
  return diagnosis;
}

// NVIDIA's container runtime mounts these over empty files that it creates in the image.
bool comes_with_driver(std::string_view name) {
  return name == driver_library || name == "libnvcuvid.so.1" || name.starts_with("libnvidia-");
}

bool is_stub(const Spec& spec, const linker::Object& object) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path_of(object.path), error);
  if ((error ? object.path : path_text(real)).find("/stubs/") != std::string::npos) return true;
  if (spec.platform == nullptr || !spec.platform->cuda.library.is_known()) return false;
  const platform::Installed& library = spec.platform->cuda.library.value();
  return platform::driver_library_state(*spec.platform) == platform::DriverLibrary::stub &&
         (library.path == object.path ||
          std::filesystem::equivalent(path_of(library.path), path_of(object.path), error));
}

}  // namespace

void judge_driver(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& diagnoses) {
  for (Diagnosis& diagnosis : diagnoses) {
    if (diagnosis.code != Code::file_empty || !comes_with_driver(diagnosis.value(Key::library))) continue;
    diagnosis.code = Code::driver_library_empty;
    if (spec.platform != nullptr) platform::add_driver_facts(*spec.platform, diagnosis);
  }
  for (const linker::Missing& missing : closure.missing) {
    if (missing.name != driver_library) continue;
    take_out(diagnoses);
    Diagnosis diagnosis = driver_missing(spec, missing);
    // Without a GPU there is nothing to install, whatever else is missing, so this comes first. With a GPU
    // the other libraries are equally important.
    const bool no_gpu = !diagnosis.value(Key::no_gpu).empty();
    diagnoses.insert(no_gpu ? diagnoses.begin() : diagnoses.end(), std::move(diagnosis));
  }
  for (const linker::Object& object : closure.objects) {
    if (object.soname != driver_library && object.name != driver_library) continue;
    // A recorded machine without a driver does not have that of this machine.
    if (spec.machine.recorded && spec.platform->cuda.library.is_absent() && !object.needed_by.empty()) {
      linker::Missing missing;
      missing.name = driver_library;
      missing.needed_by = object.needed_by;
      diagnoses.push_back(driver_missing(spec, missing));
      return;
    }
    if (!is_stub(spec, object)) continue;
    diagnoses.push_back(std::move(diagnose(Code::driver_is_stub)
                                      .with(Key::file, path_text(spec.plugin))
                                      .with(Key::library, driver_library)
                                      .with(Key::needed_by, object.needed_by)
                                      .with(Key::path, object.path, object.found_by)));
    return;
  }
}

namespace {

// Returns EH-G08 if the device cannot be used. It is opened, too, because the mode of the file does not show
// what a control group forbids.
std::optional<Diagnosis> device_problem(const std::string& device, const linker::Object& library,
                                        const linker::Reader& reader) {
  const std::filesystem::path file = reader.on_disk(device);
  const bool allowed = calls::access(file.c_str(), R_OK | W_OK) == 0;
  if (allowed && FileDescriptor(calls::open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)).valid())
    return std::nullopt;
  Diagnosis diagnosis = diagnose_errno(Code::gpu_device_files_not_accessible, errno);
  diagnosis.with(Key::path, device).with(Key::library, library.path, library.found_by);
  if (allowed) diagnosis.with(Key::mode_allows, "yes", "access");
  return diagnosis;
}

}  // namespace

void judge_device_files(const Spec& spec, const linker::Closure& closure, const linker::Reader& reader,
                        std::vector<Diagnosis>& warnings) {
  if (spec.platform == nullptr) return;
  const linker::Object* library = closure.find(driver_library);
  if (library == nullptr || is_stub(spec, *library)) return;
  const platform::DriverLibrary state = platform::driver_library_state(*spec.platform);
  if (state == platform::DriverLibrary::linux_in_wsl || state == platform::DriverLibrary::no_module ||
      state == platform::DriverLibrary::refused)
    warnings.push_back(platform::why_no_driver(*spec.platform));
  if (spec.machine.recorded || !spec.platform->cuda.driver.is_known() || spec.platform->wsl.is_known())
    return;
  if (auto closed = device_problem("/dev/nvidiactl", *library, reader)) {
    platform::add_driver_facts(*spec.platform, *closed);
    warnings.push_back(std::move(*closed));
  }
}

void judge_amd_device_file(const Spec& spec, const linker::Closure& closure, const linker::Reader& reader,
                           std::vector<Diagnosis>& warnings) {
  if (spec.machine.recorded) return;
  const std::string device = "/dev/kfd";
  const auto runtime = std::ranges::find_if(closure.objects, [](const linker::Object& object) {
    return object.name.starts_with("libhsa-runtime64.so") || object.name.starts_with("libamdhip64.so");
  });
  if (runtime == closure.objects.end() || calls::access(reader.on_disk(device), F_OK) != 0) return;
  auto closed = device_problem(device, *runtime, reader);
  if (!closed) return;
  closed->with(Key::maker, "AMD");
  if (spec.platform != nullptr && spec.platform->container.is_known())
    closed->with(Key::inside, spec.platform->container.value(), spec.platform->container.source());
  warnings.push_back(std::move(*closed));
}

namespace {

using platform::CudaDevice;

bool runs_on(const binary::GpuCode::Entry& code, const CudaDevice& device) {
  const auto compiled = platform::parse_capability(code.arch);
  const auto capability = platform::parse_capability(device.compute_capability);
  if (!compiled || !capability) return true;  // a device that cannot be compared counts as suitable
  return code.kind == "ptx" ? platform::ptx_runs_on(*compiled, *capability)
                            : platform::sass_runs_on(*compiled, *capability);
}

}  // namespace

void judge_gpu_code(const Spec& spec, const std::vector<std::string>& files,
                    std::vector<Diagnosis>& warnings) {
  if (spec.platform == nullptr || !spec.platform->cuda.devices.is_known()) return;
  std::vector<const CudaDevice*> devices;
  for (const CudaDevice& device : spec.platform->cuda.devices.value())
    if (device.visible) devices.push_back(&device);
  if (devices.empty()) return;
  std::set<std::string> held;
  std::string first;
  for (const std::string& file : files) {
    const auto code = binary::gpu_code(path_of(file));
    // An incomplete list cannot show that something is missing.
    if (!code) return;
    if (code->entries.empty()) continue;
    if (!code->note.empty()) return;
    if (first.empty()) first = file;
    for (const auto& entry : code->entries) {
      if (std::any_of(devices.begin(), devices.end(),
                      [&](const CudaDevice* device) { return runs_on(entry, *device); }))
        return;
      held.insert(entry.arch + (entry.kind == "ptx" ? "+PTX" : ""));
    }
  }
  if (held.empty()) return;
  Diagnosis diagnosis = diagnose(Code::no_code_for_gpu);
  diagnosis.with(Key::file, first)
      .with(Key::sass, join({held.begin(), held.end()}, " "), ".nv_fatbin of the build's files");
  for (const CudaDevice* device : devices)
    diagnosis.with(Key::device, device->name, spec.platform->cuda.devices.source())
        .with(Key::compute_capability, device->compute_capability, spec.platform->cuda.devices.source());
  warnings.push_back(std::move(diagnosis));
}

namespace {

using linker::Object;

// Libraries of the toolkit itself. The driver's libcuda.so.1 and nvcuda.dll come with the driver; NCCL and
// TensorRT are products of their own. Windows names are compared in lower case, as its loader does.
constexpr std::string_view cuda_libraries[] = {
    "libcudart.",   "libcublas.",        "libcublasLt.", "libcufft.",   "libcufftw.",         "libcurand.",
    "libcusolver.", "libcusolverMg.",    "libcusparse.", "libnvrtc.",   "libnvrtc-builtins.", "libnvJitLink.",
    "libnvjpeg.",   "libnvfatbin.",      "libcupti.",    "cudart64_",   "cublas64_",          "cublaslt64_",
    "cufft64_",     "cufftw64_",         "curand64_",    "cusolver64_", "cusolvermg64_",      "cusparse64_",
    "nvrtc64_",     "nvrtc-builtins64_", "nvjitlink_",   "nvjpeg64_",   "nvfatbin_",          "cupti64_"};
constexpr std::string_view cublas_libraries[] = {"libcublas.", "libcublasLt.", "libnvblas.", "cublas64_",
                                                 "cublaslt64_"};
constexpr std::string_view cudnn_libraries[] = {"libcudnn.", "libcudnn_", "cudnn64_", "cudnn_"};
// Wheels rename the libraries that they contain: libgomp-a34b3233.so.1.
constexpr std::string_view openmp_libraries[] = {"libgomp.",       "libgomp-",   "libiomp5.",
                                                 "libiomp5-",      "libomp.",    "libomp-",
                                                 "libiomp5md.dll", "libomp140.", "vcomp140.dll"};
constexpr std::string_view cudart_libraries[] = {"libcudart.", "cudart64_"};

template <std::size_t count>
bool is_one_of(const std::string& name, const std::string_view (&prefixes)[count]) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_dll(std::string_view name) { return to_lower(name).ends_with(".dll"); }

// The name in the form in which the loader compares it.
std::string key_of(const std::string& name) { return is_dll(name) ? to_lower(name) : name; }

// The name by which the loader knows it; on Windows the file's name, not the one inside the file.
std::string name_of(const Object& object) {
  if (is_dll(object.path)) return path_text(path_of(object.path).filename());
  return object.soname.empty() ? object.name : object.soname;
}

// The folder that must hold all parts of one product.
std::string folder_of(const Spec& spec, const Object& object) {
  if (!spec.view.empty() && is_below(path_of(object.path), spec.view)) return path_text(spec.view);
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path_of(object.path), error);
  return path_text((error ? path_of(object.path) : real).parent_path());
}

// Reports the libraries that come from elsewhere than from the place of the inspected file, or than most.
// Returns whether there are any.
template <class PlaceOf>
bool report_places(const Spec& spec, const std::vector<const Object*>& family, Code code,
                   const PlaceOf& place_of, const std::string& own, std::vector<Diagnosis>& warnings) {
  std::map<std::string, std::vector<const Object*>> places;
  for (const Object* object : family) places[place_of(*object)].push_back(object);
  if (places.size() < 2) return false;
  const auto home = places.contains(own) ? places.find(own)
                                         : std::max_element(places.begin(), places.end(),
                                                            [](const auto& left, const auto& right) {
                                                              return left.second.size() < right.second.size();
                                                            });
  Diagnosis diagnosis = diagnose(code);
  diagnosis.with(Key::file, path_text(spec.plugin));
  for (const auto& [place, objects] : places)
    for (const Object* object : objects) {
      const bool foreign = place != home->first;
      if (foreign && diagnosis.value(Key::by).empty()) diagnosis.with(Key::by, object->found_by);
      if (foreign) diagnosis.with(Key::library, name_of(*object), object->found_by);
      diagnosis.with(foreign ? Key::path : Key::others, object->path, object->found_by);
    }
  warnings.push_back(std::move(diagnosis));
  return true;
}

// Returns "13" for "libcudart.so.13.0" and "cudart64_13.dll", "11" for "cudart64_110.dll", "6" for
// "cudart64_65.dll": up to CUDA 11 the last digit is the minor version (NVIDIA's names of the runtime's DLL).
// "" when there is no number.
std::string major_of(const std::string& soname) {
  if (is_dll(soname)) {
    const std::size_t number = soname.find("64_");
    if (number == std::string::npos) return {};
    const std::size_t past = soname.find_first_not_of("0123456789", number + 3);
    std::string digits = soname.substr(number + 3, past == std::string::npos ? past : past - number - 3);
    if (digits.size() == 3 || (digits.size() == 2 && digits.front() >= '5')) digits.pop_back();
    return digits;
  }
  const std::size_t begin = soname.find(".so.");
  if (begin == std::string::npos) return {};
  const std::size_t end = soname.find_first_not_of("0123456789", begin + 4);
  return soname.substr(begin + 4, end == std::string::npos ? end : end - begin - 4);
}

// The runtime's number is the toolkit's major version (libcudart.so.11.0, .12, .13); other libraries of the
// toolkit have numbers of their own.
void report_majors(const Spec& spec, const Object* ours, const Object* theirs,
                   std::vector<Diagnosis>& warnings) {
  if (ours == nullptr || theirs == nullptr) return;
  const std::string our_major = major_of(name_of(*ours)), their_major = major_of(name_of(*theirs));
  if (our_major.empty() || their_major.empty() || our_major == their_major) return;
  Diagnosis diagnosis = diagnose(Code::two_cuda_major_versions);
  diagnosis.with(Key::file, path_text(spec.plugin))
      .with(Key::cuda, our_major, ours->found_by)
      .with(Key::path, ours->path, ours->found_by)
      .with(Key::held_cuda, their_major, theirs->found_by)
      .with(Key::held, theirs->path, theirs->found_by);
  warnings.push_back(std::move(diagnosis));
}

void report_runtimes(const Spec& spec, const std::vector<const Object*>& runtimes,
                     std::vector<Diagnosis>& warnings) {
  if (runtimes.size() < 2) return;
  Diagnosis diagnosis = diagnose(Code::two_openmp_runtimes);
  diagnosis.with(Key::file, path_text(spec.plugin));
  for (const Object* object : runtimes) {
    diagnosis.with(Key::library, name_of(*object), object->found_by);
    diagnosis.with(Key::path, object->path, object->found_by);
    if (!object->needed_by.empty()) diagnosis.with(Key::needed_by, object->needed_by);
  }
  warnings.push_back(std::move(diagnosis));
}

}  // namespace

std::set<std::string> names_used(const linker::Closure& closure) {
  std::set<std::string> names;
  std::size_t before = 0;
  do {
    before = names.size();
    for (const Object& object : closure.objects)
      if (object.info != nullptr &&
          (object.found_by != "already loaded" || names.contains(key_of(name_of(object)))))
        for (const std::string& needed : object.info->needed) names.insert(key_of(needed));
  } while (names.size() != before);
  return names;
}

void judge_mixed_sources(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& warnings) {
  const std::set<std::string> used = names_used(closure);
  const Sources sources(spec, closure);
  std::vector<const Object*> cuda, cudnn, cublas, openmp;
  const Object *our_cudart = nullptr, *held_cudart = nullptr;
  bool brings_openmp = false;
  for (const Object& object : closure.objects) {
    const std::string name = key_of(name_of(object));
    const bool held = object.found_by == "already loaded";
    const bool asked_for = !held || used.contains(name);
    if (is_one_of(name, openmp_libraries)) {
      openmp.push_back(&object);
      brings_openmp = brings_openmp || asked_for;
    }
    if (is_one_of(name, cudart_libraries)) (held ? held_cudart : our_cudart) = &object;
    if (!asked_for) continue;
    if (is_one_of(name, cuda_libraries)) cuda.push_back(&object);
    if (is_one_of(name, cudnn_libraries)) cudnn.push_back(&object);
    if (is_one_of(name, cublas_libraries)) cublas.push_back(&object);
  }
  const std::string plugin = path_text(spec.plugin);
  const auto folder = [&](const Object& object) { return folder_of(spec, object); };
  const std::string own_folder = path_text(spec.view.empty() ? spec.plugin.parent_path() : spec.view);
  report_places(spec, cudnn, Code::cudnn_parts_differ, folder, own_folder, warnings);
  if (!report_places(
          spec, cuda, Code::cuda_from_two_places,
          [&](const Object& object) { return sources.of(object.path); }, sources.of(plugin), warnings) &&
      report_places(spec, cublas, Code::parts_from_two_folders, folder, own_folder, warnings))
    warnings.back().with(Key::product, "cuBLAS");
  report_majors(spec, our_cudart, held_cudart, warnings);
  if (brings_openmp) report_runtimes(spec, openmp, warnings);
}

}  // namespace enginehost::preflight
