#include "base/version.hpp"
#include "host/linker/windows_names.hpp"

namespace enginehost::linker {
namespace {

class Warnings {
 public:
  Warnings(const WindowsMachine& machine, WindowsClosure& closure, ForeignReader& reader)
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
      const std::filesystem::path file = on_disk(machine_, path, reader_);
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
      if (user.info == nullptr || !user.info->pe->linker_version.starts_with("14.")) continue;
      const auto& needed = user.info->needed;
      const bool uses = std::any_of(needed.begin(), needed.end(), [&](const std::string& name) {
        return module_name(name) == module_name(one.path);
      });
      if (!uses || compare_versions(resources->file_version, user.info->pe->linker_version) >= 0) continue;
      result_.closure.warnings.push_back(
          std::move(diagnose("EH-W06")
                        .with("library", one.name)
                        .with("path", one.path, one.found_by)
                        .with("found", resources->file_version, "VS_FIXEDFILEINFO")
                        .with("required", user.info->pe->linker_version, "linker version")
                        .with("required_by", user.path)));
      return;
    }
  }

  void warn_of_assemblies(const Object& one) {
    if (!one.info->pe->has_resources) return;
    const auto resources = binary::pe_resources(on_disk(machine_, one.path, reader_));
    if (!resources) return;
    for (const std::string& assembly : resources->assemblies)
      result_.closure.warnings.push_back(std::move(
          diagnose("EH-W12").with("file", one.path).with("assembly", assembly, "manifest resource")));
  }

  const WindowsMachine& machine_;
  WindowsClosure& result_;
  ForeignReader& reader_;
};

void add_missing(const Closure& closure, std::vector<Diagnosis>& found) {
  struct Group {
    std::string code, needer;
    std::size_t at;
  };
  std::vector<Group> groups;
  for (const Missing& missing : closure.missing) {
    const bool reported =
        std::any_of(closure.rejected.begin(), closure.rejected.end(), [&](const Rejected& file) {
          return !file.fatal && module_name(file.name) == module_name(missing.name);
        });
    if (reported) continue;
    const std::string code = missing.present_at.empty() ? "EH-W01" : "EH-W02";
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& known) {
      return known.code == code && known.needer == missing.needed_by;
    });
    if (group == groups.end()) {
      Diagnosis diagnosis = diagnose(code);
      diagnosis.with("file", closure.file).with("needed_by", missing.needed_by, "import directory");
      for (const std::string& link : missing.chain) diagnosis.with("chain", link);
      for (const Searched& place : missing.searched)
        diagnosis.with("searched", place.directory,
                       place.exists ? place.why : place.why + ", does not exist");
      groups.push_back({code, missing.needed_by, found.size()});
      group = groups.end() - 1;
      found.push_back(std::move(diagnosis));
    }
    Diagnosis& diagnosis = found[group->at];
    diagnosis.with("library", missing.name, "imports of " + missing.needed_by);
    for (const std::string& path : missing.present_at) diagnosis.with("present_at", path);
  }
}

}  // namespace

void warn(const WindowsMachine& machine, WindowsClosure& closure, ForeignReader& reader) {
  Warnings(machine, closure, reader).run();
}

std::vector<Diagnosis> diagnose_windows(const WindowsClosure& all) {
  const Closure& closure = all.closure;
  std::vector<Diagnosis> found;
  for (const Rejected& file : closure.rejected)
    if (file.fatal) found.push_back(file.diagnosis);
  // A skipped file matters only if nothing was found instead.
  for (const Rejected& file : closure.rejected)
    if (!file.fatal &&
        std::any_of(closure.missing.begin(), closure.missing.end(), [&](const Missing& missing) {
          return module_name(missing.name) == module_name(file.name);
        }))
      found.push_back(file.diagnosis);
  add_missing(closure, found);
  return found;
}

}  // namespace enginehost::linker
