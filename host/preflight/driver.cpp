#include "host/preflight/driver.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

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
  diagnosis.with("file", spec.plugin.native())
      .with("library", missing.name, "DT_NEEDED of " + missing.needed_by)
      .with("needed_by", missing.needed_by);
  for (const std::string& link : missing.chain) diagnosis.with("chain", link);
  for (const linker::Searched& place : missing.searched)
    diagnosis.with("searched", place.directory, place.why);
  if (spec.platform == nullptr) return diagnosis;
  const platform::Cuda& cuda = spec.platform->cuda;
  if (spec.platform->container.is_known())
    diagnosis.with("container", spec.platform->container.value(), spec.platform->container.source());
  if (cuda.hardware.is_known()) diagnosis.with("pci_device", cuda.hardware.value(), cuda.hardware.source());
  if (cuda.hardware.is_absent()) diagnosis.with("pci_device", "none", cuda.hardware.source());
  if (cuda.driver.is_known()) diagnosis.with("driver", cuda.driver.value(), cuda.driver.source());
  return diagnosis;
}

bool is_stub(const Spec& spec, const linker::Object& object) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(object.path, error);
  if ((error ? object.path : real.native()).find("/stubs/") != std::string::npos) return true;
  if (spec.platform == nullptr || !spec.platform->cuda.library.is_known()) return false;
  const platform::Installed& library = spec.platform->cuda.library.value();
  return library.note.find("stub") != std::string::npos &&
         (library.path == object.path || std::filesystem::equivalent(library.path, object.path, error));
}

}  // namespace

void judge_driver(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& diagnoses) {
  for (const linker::Missing& missing : closure.missing) {
    if (missing.name != driver_library) continue;
    take_out(diagnoses);
    Diagnosis told = driver_missing(spec, missing);
    // Without a GPU there is nothing to install, whatever else is missing: that is said first. With one, the
    // other libraries are as important.
    const bool no_gpu = told.value("pci_device") == "none";
    diagnoses.insert(no_gpu ? diagnoses.begin() : diagnoses.end(), std::move(told));
  }
  for (const linker::Object& object : closure.objects) {
    if ((object.soname != driver_library && object.name != driver_library) || !is_stub(spec, object))
      continue;
    diagnoses.push_back(
        std::move(diagnose("EH-G02")
                      .with("file", spec.plugin.native())
                      .with("library", driver_library)
                      .with("needed_by", object.needed_by)
                      .with("path", object.path, object.found_by)
                      .with("folder", std::filesystem::path(object.path).parent_path().native())));
    return;
  }
}

}  // namespace enginehost::preflight
