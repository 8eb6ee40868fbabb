#include <algorithm>
#include <string>
#include <system_error>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "host/linker/windows.hpp"
#include "host/preflight/judgments.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

namespace {

std::vector<std::filesystem::path> folders_of(const Spec& spec) {
  std::vector<std::filesystem::path> folders = spec.search;
  folders.push_back(spec.plugin.parent_path());
  return folders;
}

std::vector<std::string> own_files(const Spec& spec) {
  std::vector<std::string> files{path_text(spec.plugin)};
  for (const std::filesystem::path& folder : folders_of(spec)) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      if (std::string file = path_text(at->path());
          to_lower(file).ends_with(".dll") && std::find(files.begin(), files.end(), file) == files.end())
        files.push_back(std::move(file));
  }
  return files;
}

// Returns the files of the closure that import from the module.
std::vector<std::string> askers(const linker::Closure& closure, const std::string& module) {
  std::vector<std::string> files;
  for (const linker::Object& object : closure.objects)
    if (object.info != nullptr && object.found_by != "already loaded" &&
        std::any_of(object.info->needed.begin(), object.info->needed.end(),
                    [&](const std::string& needed) { return to_lower(needed) == to_lower(module); }))
      files.push_back(object.path);
  return files;
}

// A module that is loaded already serves every later import of its name, wherever it came from.
void warn_of_loaded(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& warnings) {
  for (const linker::LoadedLibrary& module : spec.machine.loaded)
    for (const std::filesystem::path& folder : folders_of(spec)) {
      const std::filesystem::path own = folder / module.path.filename();
      std::error_code error;
      if (!std::filesystem::exists(own, error)) continue;
      if (!std::filesystem::equivalent(own, module.path, error)) {
        Diagnosis warning = diagnose(Code::other_file_already_loaded);
        warning.with(Key::library, module.soname)
            .with(Key::path, path_text(module.path), "modules of this process")
            .with(Key::wanted, path_text(own));
        for (const std::string& file : askers(closure, path_text(module.path.filename())))
          warning.with(Key::needed_by, file);
        warnings.push_back(std::move(warning));
      }
      break;
    }
}

}  // namespace

bool is_native(binary::Kind kind) { return kind == binary::Kind::pe; }

Report check_native(const Spec& spec) {
  linker::WindowsMachine machine = linker::describe_this_windows();
  machine.loaded = spec.machine.loaded;
  ForeignSpec foreign{spec};
  foreign.windows = &machine;
  foreign.on_closure = [&](const linker::Closure& closure, Report& report) {
    judge_memory(spec, closure, report);
    warn_of_loaded(spec, closure, report.warnings);
    judge_mixed_sources(spec, closure, report.warnings);
  };
  Report report = check_foreign(foreign);
  if (!is_native(report.kind)) return report;
  finish_at_home(spec, report);
  judge_gpu_code(spec, own_files(spec), report.warnings);
  return report;
}

// No Windows volume forbids execution. Refusals by a policy (EH-W10) are visible only through the loader.
Result<void> check_executable_mapping(const std::filesystem::path&) { return {}; }

std::optional<std::uint64_t> address_space_limit() { return std::nullopt; }
std::optional<std::uint64_t> data_limit() { return std::nullopt; }
bool lacks_memory_for(const std::filesystem::path&, std::uint64_t) { return false; }

// Only the writable part of a DLL counts against the commit limit, so the total is a warning.
void judge_memory(const Spec& spec, const linker::Closure& closure, Report& report) {
  const MemoryNeed need = memory_needed_by(closure);
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (need.largest == nullptr || ::GlobalMemoryStatusEx(&status) == 0 ||
      need.bytes <= status.ullAvailPageFile)
    return;
  report.warnings.push_back(
      std::move(diagnose(Code::page_file_too_small)
                    .with(Key::file, path_text(spec.plugin))
                    .with(Key::needed, std::to_string(need.bytes), "SizeOfImage of the closure")
                    .with(Key::limit, std::to_string(status.ullAvailPageFile), "GlobalMemoryStatusEx")
                    .with(Key::largest, need.largest->path)
                    .with(Key::largest_size, std::to_string(need.largest_size), "SizeOfImage")));
}

}  // namespace enginehost::preflight
