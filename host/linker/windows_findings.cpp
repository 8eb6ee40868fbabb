#include "host/linker/windows_names.hpp"

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/version.hpp"
#include "host/linker/loader_rules.hpp"

namespace enginehost::linker {
namespace {

class Warnings {
 public:
  Warnings(const WindowsMachine& machine, WindowsClosure& closure, Reader& reader)
      : machine_(machine), result_(closure), reader_(reader) {}

  void run() {
    for (const Missing& missing : result_.delayed) {
      Diagnosis warning = diagnose("EH-W08");
      warning.with("file", result_.closure.file)
          .with("library", missing.name, "delay imports of " + missing.needed_by);
      warning.with("needed_by", missing.needed_by);
      for (const Searched& place : missing.searched) warning.with("searched", place.directory, place.why);
      for (const std::string& path : missing.present_at) warning.with("present_at", path);
      result_.closure.warnings.push_back(std::move(warning));
    }
    for (const Object& one : result_.closure.objects) {
      if (one.info == nullptr) continue;
      warn_of_other_copies(one);
      warn_of_old_runtime(one);
      warn_of_assemblies(one);
    }
  }

 private:
  // Warns of a file that a search with the program's default order would find instead (Ollama, cuDNN's
  // zlibwapi.dll).
  void warn_of_other_copies(const Object& one) {
    if (one.found_by == "already loaded" || one.parent < 0) return;
    const std::string name = module_name(one.path);
    for (const WindowsPlace& place : windows_places(machine_, 0, one.path)) {
      const std::string path = joined(place.directory, name);
      const std::string file = on_disk(machine_, path, reader_);
      if (file.empty()) continue;
      if (file == on_disk(machine_, one.path, reader_)) return;
      // Copies in a driver's store are for the driver only.
      if (to_lower(path).find("\\driverstore\\") != std::string::npos) continue;
      result_.closure.warnings.push_back(std::move(diagnose("EH-W07")
                                                       .with("library", one.name)
                                                       .with("path", path, place.why)
                                                       .with("wanted", one.path)));
      return;
    }
  }

  // A runtime must not be older than the toolset: "C++ binary compatibility between Visual Studio versions".
  void warn_of_old_runtime(const Object& one) {
    if (system_name(module_name(one.path)) != SystemName::redistributable) return;
    const auto resources = binary::pe_resources(on_disk(machine_, one.path, reader_));
    if (!resources || resources->file_version.empty()) return;
    for (const Object& user : result_.closure.objects) {
      if (user.info == nullptr || !user.info->pe.linker_version.starts_with("14.")) continue;
      const auto& needed = user.info->needed;
      const bool uses = std::any_of(needed.begin(), needed.end(), [&](const std::string& name) {
        return module_name(name) == module_name(one.path);
      });
      if (!uses || compare_versions(resources->file_version, user.info->pe.linker_version) >= 0) continue;
      result_.closure.warnings.push_back(
          std::move(diagnose("EH-W06")
                        .with("library", one.name)
                        .with("path", one.path, one.found_by)
                        .with("found", resources->file_version, "VS_FIXEDFILEINFO")
                        .with("required", user.info->pe.linker_version, "linker version")
                        .with("required_by", user.path)));
      return;
    }
  }

  void warn_of_assemblies(const Object& one) {
    if (!one.info->pe.has_resources) return;
    const auto resources = binary::pe_resources(on_disk(machine_, one.path, reader_));
    if (!resources) return;
    for (const std::string& assembly : resources->assemblies)
      result_.closure.warnings.push_back(std::move(
          diagnose("EH-W12").with("file", one.path).with("assembly", assembly, "manifest resource")));
  }

  const WindowsMachine& machine_;
  WindowsClosure& result_;
  Reader& reader_;
};

}  // namespace

void warn(const WindowsMachine& machine, WindowsClosure& closure, Reader& reader) {
  Warnings(machine, closure, reader).run();
}

std::vector<Diagnosis> diagnose_windows(const WindowsClosure& all) {
  const MissingRules rules{
      "import directory",
      [](const Missing& missing) { return missing.present_at.empty() ? "EH-W01" : "EH-W02"; },
      [](const Rejected& file, const Missing& missing) {
        return module_name(file.name) == module_name(missing.name);
      },
      "imports of "};
  std::vector<Diagnosis> found;
  for (const bool fatal : {true, false}) add_rejected(all.closure, rules, fatal, found);
  add_missing(all.closure, rules, found);
  return found;
}

}  // namespace enginehost::linker
