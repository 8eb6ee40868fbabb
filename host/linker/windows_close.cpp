#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/linker/refusals.hpp"
#include "host/linker/windows.hpp"

namespace enginehost::linker {
namespace {

// Returns whether a process accepts DLLs of that machine ("PE Format", machine types; "Arm64X PE files").
bool machine_fits(std::string_view process, std::string_view dll) {
  if (process == "aarch64") return dll == "aarch64" || dll == "arm64x";
  if (process == "arm64ec") return dll == "arm64ec" || dll == "arm64x" || dll == "x86_64";
  return dll == process;
}

// Returns whether the search continues after a file of that machine. It does if the system also runs such
// programs (STATUS_IMAGE_MACHINE_TYPE_MISMATCH); any other machine is a bad image, which ends the search.
// Seen with Wine's loader for x86-64 (search_dll_file in its dlls/ntdll/loader.c, tests/windows). Microsoft's
// pages do not say, and it was not tested on Windows.
bool machine_is_passed_over(std::string_view process, std::string_view dll) {
  if (process == "x86_64") return dll == "i386";
  if (process == "i386") return dll == "x86_64";
  return dll == "x86_64" || dll == "i386" || dll == "arm";
}

// Compares the text only.
bool same_path(std::string left, std::string right) {
  for (std::string* path : {&left, &right}) std::replace(path->begin(), path->end(), '/', '\\');
  return to_lower(left) == to_lower(right);
}

// Warns of a file that a search with the program's default order would find instead (Ollama, cuDNN's
// zlibwapi.dll).
void warn_of_other_copies(const WindowsMachine& machine, const Object& one, Closure& closure,
                          Reader& reader) {
  if (one.found_by == "already loaded" || one.parent < 0) return;
  const std::string name = module_name(one.path);
  for (const WindowsPlace& place : windows_places(machine, 0, one.path)) {
    const std::string path = joined(place.directory, name);
    const std::string file = on_disk(machine, path, reader);
    if (file.empty()) continue;
    if (file == on_disk(machine, one.path, reader)) return;
    // Copies in a driver's store are for the driver only.
    if (to_lower(path).find("\\driverstore\\") != std::string::npos) continue;
    closure.warnings.push_back(std::move(diagnose(Code::dll_from_path)
                                             .with(Key::library, one.name)
                                             .with(Key::path, path, place.why)
                                             .with(Key::wanted, one.path)));
    return;
  }
}

// A runtime must not be older than the toolset: "C++ binary compatibility between Visual Studio versions".
void warn_of_old_runtime(const Object& one, const binary::PeResources& resources, Closure& closure) {
  if (system_name(module_name(one.path)) != SystemName::redistributable) return;
  if (resources.file_version.empty()) return;
  for (const Object& user : closure.objects) {
    if (user.info == nullptr || !user.info->pe.linker_version.starts_with("14.")) continue;
    const auto& needed = user.info->needed;
    const bool uses = std::any_of(needed.begin(), needed.end(), [&](const std::string& name) {
      return module_name(name) == module_name(one.path);
    });
    if (!uses || compare_versions(resources.file_version, user.info->pe.linker_version) >= 0) continue;
    closure.warnings.push_back(
        std::move(diagnose(Code::old_visual_cpp_runtime_first)
                      .with(Key::library, one.name)
                      .with(Key::path, one.path, one.found_by)
                      .with(Key::found, resources.file_version, "VS_FIXEDFILEINFO")
                      .with(Key::required, user.info->pe.linker_version, "linker version")
                      .with(Key::required_by, user.path)));
    return;
  }
}

// Adds the warnings EH-W06, W07, W08 and W12 to the closure's list.
void warn(const WindowsMachine& machine, const std::vector<Missing>& delayed, Closure& closure,
          Reader& reader) {
  for (const Missing& missing : delayed) {
    Diagnosis warning = diagnose(Code::delayed_dll_missing);
    warning.with(Key::file, closure.file)
        .with(Key::library, missing.name, "delay imports of " + missing.needed_by);
    warning.with(Key::needed_by, missing.needed_by);
    for (const Searched& place : missing.searched) warning.with(Key::searched, place.directory, place.why);
    for (const std::string& path : missing.present_at) warning.with(Key::present_at, path);
    closure.warnings.push_back(std::move(warning));
  }
  for (const Object& one : closure.objects) {
    if (one.info == nullptr) continue;
    warn_of_other_copies(machine, one, closure, reader);
    if (!one.info->pe.has_resources) continue;
    const auto resources = binary::pe_resources(on_disk(machine, one.path, reader));
    if (!resources) continue;
    warn_of_old_runtime(one, *resources, closure);
    for (const std::string& assembly : resources->assemblies)
      closure.warnings.push_back(std::move(diagnose(Code::side_by_side_configuration_wrong)
                                               .with(Key::file, one.path)
                                               .with(Key::assembly, assembly, "manifest resource")));
  }
}

class WindowsClosureWalk {
 public:
  WindowsClosureWalk(const WindowsMachine& machine, const WindowsRequest& request, Reader& reader)
      : machine_(machine), request_(request), reader_(reader) {}

  WindowsClosure run() {
    closure().file = request_.file;
    for (const LoadedLibrary& library : machine_.loaded) {
      add({library.soname, path_text(library.path), library.soname, {}, "already loaded"});
    }
    for (const std::string& file : request_.preloaded) open(file, "preloaded");
    open(request_.file, "request");
    for (std::size_t i = 0; i < closure().objects.size(); ++i) look_up_delayed(static_cast<int>(i));
    warn(machine_, result_.delayed, closure(), reader_);
    return std::move(result_);
  }

 private:
  Closure& closure() { return result_.closure; }
  const Object& object(int index) const { return result_.closure.objects[static_cast<std::size_t>(index)]; }

  // A name is served by any loaded file of that name; a whole path by that file alone, so two engines may
  // have plugins of one name ("LoadLibraryExW function": lpLibFileName). Preloaded DLLs are needed by name.
  bool serves(const std::string& path, std::string_view found_by) const {
    const auto module = modules_.find(module_name(path));
    if (module == modules_.end()) return false;
    return found_by != "request" || same_path(object(module->second).path, path);
  }

  void open(const std::string& path, const char* found_by) {
    if (serves(path, found_by)) return;
    const std::size_t first = closure().objects.size();
    const std::string file = on_disk(machine_, path, reader_);
    if (file.empty()) {
      reject(closure(), path, path, -1,
             {"missing", true, Diagnosis(diagnose(Code::file_not_readable).with(Key::file, path))});
      return;
    }
    const auto& read = reader_.read(file);
    if (std::optional<Refusal> refusal = refusal_of(path, read, true)) {
      reject(closure(), path, path, -1, std::move(*refusal));
      return;
    }
    add({path, path, read->soname, {}, found_by, -1, &*read});
    for (std::size_t i = first; i < closure().objects.size() && i < object_limit; ++i)
      bring_needs(static_cast<int>(i), path);
  }

  void bring_needs(int index, const std::string& root) {
    const binary::BinaryInfo* info = object(index).info;
    if (info == nullptr) return;
    // All needs, also indirect ones, are searched with the flags and the folder of the DLL being loaded. Only
    // /DEPENDENTLOADFLAG gives a DLL a search of its own.
    const std::uint32_t own = info->pe.dependent_load_flags;
    const std::vector<WindowsPlace> places =
        windows_places(machine_, own != 0 ? own : request_.flags, own != 0 ? object(index).path : root);
    const std::vector<std::string> needed = info->needed;
    for (const std::string& name : needed)
      if (!bring(name, index, places)) miss(name, index, places, closure().missing);
  }

  bool bring(const std::string& written, int parent, const std::vector<WindowsPlace>& places) {
    const std::string name = module_name(written);
    if (system_name(name) == SystemName::api_set || modules_.count(name) != 0) return true;
    if (is_known(name)) {
      const std::string& folder = machine_.system_directory;
      add({written,
           folder.empty() ? std::string() : joined(folder, name),
           {},
           object(parent).path,
           "known DLL",
           parent});
      return true;
    }
    for (const WindowsPlace& place : places) {
      const std::string file = on_disk(machine_, joined(place.directory, name), reader_);
      if (file.empty()) continue;
      const auto& read = reader_.read(file);
      const std::string path = joined(place.directory, base_name(file));
      if (std::optional<Refusal> refusal = refusal_of(path, read, false)) {
        if (reject(closure(), written, path, parent, std::move(*refusal))) return true;
        continue;
      }
      add({written, path, read->soname, object(parent).path, place.why, parent, &*read});
      return true;
    }
    return serve_assumed(written, name, parent);
  }

  bool is_known(const std::string& name) const {
    return std::find(machine_.known_dlls.begin(), machine_.known_dlls.end(), name) !=
           machine_.known_dlls.end();
  }

  bool serve_assumed(const std::string& written, const std::string& name, int parent) {
    const SystemName kind = machine_.assume_system ? system_name(name) : SystemName::no;
    if (kind == SystemName::no) return false;
    if (kind == SystemName::redistributable) result_.redistributable.push_back(written);
    if (kind == SystemName::driver) result_.driver.push_back(written);
    const char* const provider = kind == SystemName::windows           ? "part of Windows"
                                 : kind == SystemName::redistributable ? "Visual C++ Redistributable"
                                                                       : "graphics driver";
    add({written, {}, {}, object(parent).path, provider, parent});
    return true;
  }

  // Returns why the file is refused; nothing if it is accepted.
  std::optional<Refusal> refusal_of(const std::string& path, const Result<binary::BinaryInfo>& read,
                                    bool direct) const {
    if (!read) return Refusal{short_reason(read.error()), true, read.error()};
    const bool is_pe = read->kind == binary::Kind::pe;
    if (!read->problems.empty())
      return Refusal{is_pe ? "damaged" : read->sniffed, true, read->problems.front()};
    if (is_pe && machine_fits(machine_.architecture, read->machine)) return std::nullopt;
    Refusal refusal{is_pe ? read->machine : read->sniffed, true, diagnose(Code::dll_not_for_this_machine)};
    refusal.diagnosis.with(Key::file, path)
        .with(Key::problem, is_pe ? "it is built for " + read->machine : "it is " + read->sniffed);
    if (!is_pe) return refusal;
    refusal.fatal = direct || !machine_is_passed_over(machine_.architecture, read->machine);
    refusal.diagnosis.with(Key::built_for, read->machine, "COFF header")
        .with(Key::machine, machine_.architecture);
    return refusal;
  }

  void add(Object object) {
    const int index = static_cast<int>(closure().objects.size());
    modules_.emplace(module_name(object.path.empty() ? object.name : object.path), index);
    closure().objects.push_back(std::move(object));
  }

  void miss(const std::string& name, int parent, const std::vector<WindowsPlace>& places,
            std::vector<Missing>& into) {
    Missing missing;
    missing.name = name;
    missing.needed_by = object(parent).path;
    missing.chain = chain_to(closure(), parent);
    std::set<std::string> looked_at;
    for (const WindowsPlace& place : places)
      if (looked_at.insert(to_lower(place.directory)).second)
        missing.searched.push_back({place.directory, place.why, directory_exists(place.directory)});
    for (const Object& other : closure().objects) {
      const std::string folder = folder_of(other.path);
      if (other.found_by == "already loaded" || folder.empty() || !looked_at.insert(to_lower(folder)).second)
        continue;
      if (!on_disk(machine_, joined(folder, module_name(name)), reader_).empty())
        missing.present_at.push_back(joined(folder, name));
    }
    into.push_back(std::move(missing));
  }

  bool directory_exists(const std::string& directory) {
    if (directory.starts_with('/')) return reader_.folder_exists(directory);
    const std::string folder = on_disk(machine_, directory, reader_);
    return !folder.empty() && reader_.folder_exists(folder);
  }

  // The delay-load helper calls LoadLibraryExW(name, NULL, 0) ("Understand the helper function") after
  // everything else is loaded, so loaded DLLs serve the name.
  void look_up_delayed(int index) {
    if (object(index).info == nullptr) return;
    const std::vector<WindowsPlace> places = windows_places(machine_, 0, object(index).path);
    for (const std::string& name : object(index).info->delayed) {
      const std::string module = module_name(name);
      // A name like NODE.EXE means the loading program, whatever its name is (through its own delay-load
      // hook).
      if (module.ends_with(".exe") || system_name(module) == SystemName::api_set || is_known(module) ||
          modules_.count(module) != 0)
        continue;
      const bool there = std::any_of(places.begin(), places.end(), [&](const WindowsPlace& place) {
        return !on_disk(machine_, joined(place.directory, module), reader_).empty();
      });
      if (!there && !(machine_.assume_system && system_name(module) != SystemName::no))
        miss(name, index, places, result_.delayed);
    }
  }

  const WindowsMachine& machine_;
  const WindowsRequest& request_;
  Reader& reader_;
  WindowsClosure result_;
  std::unordered_map<std::string, int> modules_;  // base name in lower case -> index
};

}  // namespace

WindowsClosure close_windows(const WindowsMachine& machine, const WindowsRequest& request, Reader& reader) {
  return WindowsClosureWalk(machine, request, reader).run();
}

std::vector<Diagnosis> diagnose_windows(const WindowsClosure& all) {
  const MissingRules rules{"import directory",
                           [](const Missing& missing) {
                             return missing.present_at.empty() ? Code::dll_missing
                                                               : Code::dll_not_where_loader_looks;
                           },
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
