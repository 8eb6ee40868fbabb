#include "host/preflight/judgments.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/paths.hpp"

namespace enginehost::preflight {
namespace {

constexpr std::string_view driver_library = "libcuda.so.1";

void take_out(std::vector<Diagnosis>& diagnoses) {
  for (auto diagnosis = diagnoses.begin(); diagnosis != diagnoses.end();) {
    auto& evidence = diagnosis->evidence;
    const bool about_missing = diagnosis->code == "EH-L01" || diagnosis->code == "EH-L02";
    if (about_missing)
      evidence.erase(std::remove_if(evidence.begin(), evidence.end(),
                                    [](const Evidence& fact) {
                                      return fact.what == "library" && fact.value == driver_library;
                                    }),
                     evidence.end());
    diagnosis =
        about_missing && diagnosis->value("library").empty() ? diagnoses.erase(diagnosis) : diagnosis + 1;
  }
}

Diagnosis driver_missing(const Spec& spec, const linker::Missing& missing) {
  Diagnosis diagnosis = diagnose("EH-G01");
  // In WSL the library lies outside the loader's folders, but exists.
  if (spec.platform != nullptr && spec.platform->wsl.is_known() && spec.platform->cuda.library.is_known()) {
    const platform::Installed& library = spec.platform->cuda.library.value();
    diagnosis.code = "EH-G15";
    diagnosis.with("path", library.path, spec.platform->cuda.library.source()).with("note", library.note);
  }
  diagnosis.with("file", path_text(spec.plugin))
      .with("library", missing.name, "DT_NEEDED of " + missing.needed_by)
      .with("needed_by", missing.needed_by);
  for (const std::string& link : missing.chain) diagnosis.with("chain", link);
  for (const linker::Searched& place : missing.searched)
    diagnosis.with("searched", place.directory, place.why);
  if (spec.platform != nullptr) add_driver_facts(*spec.platform, diagnosis);
  return diagnosis;
}

bool is_stub(const Spec& spec, const linker::Object& object) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path_of(object.path), error);
  if ((error ? object.path : path_text(real)).find("/stubs/") != std::string::npos) return true;
  if (spec.platform == nullptr || !spec.platform->cuda.library.is_known()) return false;
  const platform::Installed& library = spec.platform->cuda.library.value();
  return library.note.find("stub") != std::string::npos &&
         (library.path == object.path ||
          std::filesystem::equivalent(path_of(library.path), path_of(object.path), error));
}

}  // namespace

void add_driver_facts(const platform::Platform& platform, Diagnosis& diagnosis) {
  const platform::Cuda& cuda = platform.cuda;
  if (platform.container.is_known())
    diagnosis.with("container", platform.container.value(), platform.container.source());
  if (cuda.hardware.is_known()) diagnosis.with("pci_device", cuda.hardware.value(), cuda.hardware.source());
  if (cuda.hardware.is_absent()) diagnosis.with("no_gpu", "none found", cuda.hardware.source());
  if (cuda.driver.is_known()) diagnosis.with("driver", cuda.driver.value(), cuda.driver.source());
}

void judge_driver(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& diagnoses) {
  for (const linker::Missing& missing : closure.missing) {
    if (missing.name != driver_library) continue;
    take_out(diagnoses);
    Diagnosis diagnosis = driver_missing(spec, missing);
    // Without a GPU there is nothing to install, whatever else is missing, so this comes first. With a GPU
    // the other libraries are equally important.
    const bool no_gpu = !diagnosis.value("no_gpu").empty();
    diagnoses.insert(no_gpu ? diagnoses.begin() : diagnoses.end(), std::move(diagnosis));
  }
  for (const linker::Object& object : closure.objects) {
    if ((object.soname != driver_library && object.name != driver_library) || !is_stub(spec, object))
      continue;
    diagnoses.push_back(std::move(diagnose("EH-G02")
                                      .with("file", path_text(spec.plugin))
                                      .with("library", driver_library)
                                      .with("needed_by", object.needed_by)
                                      .with("path", object.path, object.found_by)));
    return;
  }
}

void judge_device_files(const Spec& spec, const linker::Closure& closure, const linker::Reader& reader,
                        std::vector<Diagnosis>& warnings) {
  if (spec.platform == nullptr || !spec.platform->cuda.driver.is_known() || spec.platform->wsl.is_known())
    return;
  const linker::Object* library = closure.find(driver_library);
  if (library == nullptr || is_stub(spec, *library)) return;
  const std::string control = "/dev/nvidiactl";
  if (calls::access(reader.on_disk(control), R_OK | W_OK) == 0) return;
  Diagnosis diagnosis = diagnose_errno("EH-G08", errno);
  diagnosis.with("path", control)
      .with("driver", spec.platform->cuda.driver.value(), spec.platform->cuda.driver.source())
      .with("library", library->path, library->found_by);
  if (spec.platform->container.is_known())
    diagnosis.with("container", spec.platform->container.value(), spec.platform->container.source());
  warnings.push_back(std::move(diagnosis));
}

}  // namespace enginehost::preflight
