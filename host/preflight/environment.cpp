#include "host/preflight/judgments.hpp"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/search.hpp"
#include "host/platform/driver_state.hpp"

namespace enginehost::preflight {
namespace {

using linker::Closure;

constexpr std::string_view variable = "LD_LIBRARY_PATH";
constexpr std::string_view repaired = "opened first, by absolute path";

const linker::Object* by_name(const Closure& closure, const std::string& name) {
  for (const linker::Object& object : closure.objects)
    if (object.name == name) return &object;
  return nullptr;
}

// A file that two builds share is one file on the disk, and the loader treats it as loaded under either name.
bool is_of_build(const Inquiry& inquiry, const linker::Object& object) {
  if (inquiry.index.in_view(object.path) || same_file(object.path, path_text(inquiry.index.spec.plugin)))
    return true;
  const std::string ours = object.soname.empty() ? std::string() : inquiry.index.find(object.soname);
  return !ours.empty() && same_file(object.path, ours);
}

// Returns the files of the build that request the library by name: they will get the one that the process has
// loaded. If there are none, the build's own copy may still be opened by path, beside the other.
std::vector<std::string> askers(const Inquiry& inquiry, const Closure& closure, const std::string& soname) {
  std::vector<std::string> files;
  const auto add_if_it_asks = [&](const std::string& path, const std::vector<std::string>& needed) {
    if (std::find(needed.begin(), needed.end(), soname) != needed.end() &&
        std::find(files.begin(), files.end(), path) == files.end())
      files.push_back(path);
  };
  for (const linker::Object& object : closure.objects)
    if (object.info != nullptr && is_of_build(inquiry, object))
      add_if_it_asks(object.path, object.info->needed);
  for (const std::string& path : inquiry.later)
    if (const auto& info = inquiry.index.reader.read(path)) add_if_it_asks(path, info->needed);
  return files;
}

// A stand-in of another build serves every later need of its name, and does nothing. `wanted`: what the
// loader would find without it.
void warn_of_loaded_stand_in(const Inquiry& inquiry, const Closure& closure, const linker::Object& stand_in,
                             std::vector<Diagnosis>& warnings) {
  linker::Machine without = inquiry.index.spec.machine;
  std::erase_if(without.loaded, [&](const auto& library) { return library.soname == stand_in.soname; });
  const Closure other =
      close_after(without, inquiry.index.reader, path_text(inquiry.index.spec.plugin), inquiry.order, false);
  const linker::Object* const found = by_name(other, stand_in.soname);
  Diagnosis warning = diagnose(Code::other_file_already_loaded);
  warning.with(Key::library, stand_in.soname)
      .with(Key::path, stand_in.path, "libraries of this process")
      .with(Key::wanted, found != nullptr ? found->path : "the library itself, which is not on this machine");
  for (const linker::Object& object : closure.objects)
    if (object.info != nullptr && object.found_by != "already loaded" &&
        std::ranges::find(object.info->needed, stand_in.soname) != object.info->needed.end())
      warning.with(Key::needed_by, object.path);
  warnings.push_back(std::move(warning));
}

void warn_of_loaded(const Inquiry& inquiry, const Closure& closure, std::vector<Diagnosis>& warnings) {
  for (const linker::Object& object : closure.objects) {
    if (object.found_by != "already loaded" || object.soname.empty()) continue;
    const std::string wanted = inquiry.index.find(object.soname);
    if (wanted.empty() && object.info != nullptr && object.info->stand_in)
      warn_of_loaded_stand_in(inquiry, closure, object, warnings);
    if (wanted.empty() || same_file(wanted, object.path)) continue;
    Diagnosis warning = diagnose(Code::other_file_already_loaded);
    warning.with(Key::library, object.soname)
        .with(Key::path, object.path, "libraries of this process")
        .with(Key::wanted, wanted);
    for (const std::string& file : askers(inquiry, closure, object.soname))
      warning.with(Key::needed_by, file);
    warnings.push_back(std::move(warning));
  }
}

// Warns of what the loader would take if EngineHost did not open the build's own files first: another program
// that loads the same files directly will get that.
void warn_of_search(const Inquiry& inquiry, std::vector<Diagnosis>& warnings) {
  if (inquiry.order.empty()) return;
  const Spec& spec = inquiry.index.spec;
  const Closure plain = close_after(spec.machine, inquiry.index.reader, path_text(spec.plugin), {}, false);
  const auto refused = [&](const std::string& path) {
    return std::any_of(plain.rejected.begin(), plain.rejected.end(),
                       [&](const auto& rejected) { return rejected.path == path; });
  };
  for (const linker::Missing& missing : plain.missing)
    if (const std::string there = inquiry.index.find(missing.name); !there.empty() && !refused(there))
      warnings.push_back(std::move(diagnose(Code::library_not_where_loader_looks)
                                       .with(Key::library, missing.name)
                                       .with(Key::needed_by, missing.needed_by)
                                       .with(Key::present_at, there)
                                       .with(Key::repaired, repaired)));
  for (const linker::Object& object : plain.objects) {
    const std::string wanted =
        object.found_by == "already loaded" ? std::string() : inquiry.index.find(object.name);
    // One file under two names, as where /lib is a link to usr/lib, hides nothing.
    if (!wanted.empty() && !inquiry.index.in_view(object.path) && !same_file(wanted, object.path))
      warnings.push_back(std::move(diagnose(Code::library_from_other_folder)
                                       .with(Key::library, object.name)
                                       .with(Key::path, object.path, object.found_by)
                                       .with(Key::wanted, wanted)
                                       .with(Key::repaired, repaired)));
  }
}

// Searches twice, with the variable and without: where the results differ, a file of the environment hides
// one of the system. If nothing else would be found, the variable is what makes the build load, and there is
// no warning.
void warn_of_hidden(const Inquiry& inquiry, const Closure& closure, std::vector<Diagnosis>& warnings) {
  if (inquiry.index.spec.machine.library_path.empty()) return;
  linker::Machine bare = inquiry.index.spec.machine;
  bare.library_path.clear();
  const Closure without =
      close_after(bare, inquiry.index.reader, path_text(inquiry.index.spec.plugin), inquiry.order, false);
  for (const linker::Object& object : closure.objects) {
    if (object.found_by != variable) continue;
    const linker::Object* hidden = by_name(without, object.name);
    if (hidden == nullptr || hidden->path == object.path || hidden->info == nullptr || object.info == nullptr)
      continue;
    if (hidden->info->device == object.info->device && hidden->info->inode == object.info->inode) continue;
    warnings.push_back(std::move(diagnose(Code::library_from_other_folder)
                                     .with(Key::library, object.name)
                                     .with(Key::needed_by, object.needed_by)
                                     .with(Key::path, object.path, variable)
                                     .with(Key::wanted, hidden->path, hidden->found_by)));
  }
}

void name_the_variable(const Inquiry& inquiry, const Closure& closure, std::vector<Diagnosis>& diagnoses) {
  for (Diagnosis& diagnosis : diagnoses) {
    if (diagnosis.code != Code::c_library_too_old && diagnosis.code != Code::cpp_runtime_too_old &&
        diagnosis.code != Code::symbol_version_missing)
      continue;
    const linker::Object* object = closure.find(diagnosis.value(Key::path));
    if (object != nullptr && object->found_by == variable)
      diagnosis.with(Key::from_environment, variable,
                     inquiry.index.spec.machine.library_path_text.value_or(""));
  }
}

// The variable's current value; ld.so read it when the process started.
std::string path_now(const Spec& spec) {
  if (spec.platform == nullptr || spec.machine.recorded || !spec.platform->loader_environment.is_known())
    return {};
  for (const auto& [name, value] : spec.platform->loader_environment.value())
    if (name == variable) return value;
  return {};
}

void report_ignored_path(const Inquiry& inquiry, std::vector<Diagnosis>& diagnoses) {
  const linker::Machine& machine = inquiry.index.spec.machine;
  const std::string at_start = machine.library_path_text.value_or(""), now = path_now(inquiry.index.spec);
  Code code = Code::none;
  std::string ignored;
  if (machine.secure && !at_start.empty()) {
    code = Code::library_path_ignored;
    ignored = at_start;
  } else if (!machine.secure && !now.empty() && now != at_start) {
    code = Code::library_path_changed_too_late;
    ignored = now;
  }
  if (code == Code::none) return;
  const std::vector<std::string> searched = linker::library_path_folders(machine);
  for (Diagnosis& diagnosis : diagnoses) {
    if (diagnosis.code != Code::library_missing && diagnosis.code != Code::library_missing_indirectly)
      continue;
    for (const std::string& folder : linker::library_path_folders(machine, ignored)) {
      if (std::find(searched.begin(), searched.end(), folder) != searched.end()) continue;
      for (const std::string& library : diagnosis.values(Key::library))
        if (const std::string path = folder + "/" + library; inquiry.index.reader.file_exists(path)) {
          diagnosis.code = code;
          diagnosis.with(Key::present_at, path, variable);
        }
    }
  }
}

void warn_of_preload(const Inquiry& inquiry, std::vector<Diagnosis>& warnings) {
  const Spec& spec = inquiry.index.spec;
  if (spec.platform == nullptr || spec.machine.recorded || !spec.platform->loader_environment.is_known())
    return;
  for (const auto& [name, value] : spec.platform->loader_environment.value()) {
    if (name != "LD_PRELOAD") continue;
    // ld.so splits at spaces and colons (elf/rtld.c, handle_preload_list). A name without "/" is searched,
    // and a token may stand for several folders: neither can be reported as missing here.
    std::string text = value;
    std::replace(text.begin(), text.end(), ' ', ':');
    for (const std::string& file : split(text, ':'))
      if (file.find('/') != std::string::npos && file.find('$') == std::string::npos &&
          !inquiry.index.reader.file_exists(file))
        warnings.push_back(
            std::move(diagnose(Code::preload_not_loadable).with(Key::library, file, "LD_PRELOAD")));
  }
}

// AddressSanitizer's runtime ends a process at its start, unless it is preloaded or does not check that.
void judge_sanitizer(const Spec& spec, const Closure& closure, std::vector<Diagnosis>& diagnoses) {
  const auto has = [&](std::string_view name, std::string_view part) {
    const std::string* const value =
        spec.platform == nullptr ? nullptr : platform::variable_of(*spec.platform, name);
    return value != nullptr && value->find(part) != std::string::npos;
  };
  for (const linker::Object& object : closure.objects) {
    const std::string& name = object.soname.empty() ? object.name : object.soname;
    if (object.info == nullptr || object.found_by == "already loaded" ||
        !(name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan")))
      continue;
    if (!has("LD_PRELOAD", "asan") && !has("ASAN_OPTIONS", "verify_asan_link_order=0"))
      diagnoses.push_back(std::move(diagnose(Code::sanitizer_loaded_too_late)
                                        .with(Key::file, path_text(spec.plugin))
                                        .with(Key::library, name, object.found_by)
                                        .with(Key::path, object.path, object.found_by)
                                        .with(Key::needed_by, object.needed_by)));
    return;
  }
}

enum class Side { exported, imported };

std::set<std::string> names_of(const std::string& file, Side side) {
  std::set<std::string> names;
  const auto table = binary::read_symbols(path_of(file));
  if (!table) return names;
  for (const binary::Symbol& symbol : side == Side::exported ? table->exports : table->imports)
    if (side == Side::exported || !symbol.weak) names.insert(symbol.name);
  return names;
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(path_of(a), path_of(b), error);
}

void judge_environment(const Inquiry& inquiry, const linker::Closure& closure, Report& report) {
  warn_of_loaded(inquiry, closure, report.warnings);
  warn_of_search(inquiry, report.warnings);
  warn_of_hidden(inquiry, closure, report.warnings);
  warn_of_preload(inquiry, report.warnings);
  name_the_variable(inquiry, closure, report.diagnoses);
  report_ignored_path(inquiry, report.diagnoses);
  judge_sanitizer(inquiry.index.spec, closure, report.diagnoses);
}

void judge_substitution(const Inquiry& inquiry, const linker::Closure& closure,
                        std::vector<Diagnosis>& diagnoses) {
  for (const linker::Object& held : closure.objects) {
    if (held.found_by != "already loaded" || held.soname.empty()) continue;
    const std::string wanted = inquiry.index.find(held.soname);
    if (wanted.empty() || same_file(wanted, held.path)) continue;
    const std::set<std::string> offered = names_of(wanted, Side::exported),
                                instead = names_of(held.path, Side::exported);
    if (offered.empty() || instead.empty()) continue;
    for (const linker::Object& user : closure.objects) {
      if (user.info == nullptr || !inquiry.index.in_view(user.path) || user.path == wanted) continue;
      const auto& needed = user.info->needed;
      if (std::find(needed.begin(), needed.end(), held.soname) == needed.end()) continue;
      std::set<std::string> lacking;
      for (const std::string& name : names_of(user.path, Side::imported))
        if (offered.contains(name) && !instead.contains(name)) lacking.insert(name);
      // Another library may offer the symbol as well.
      for (const linker::Object& other : closure.objects) {
        if (lacking.empty()) break;
        if (other.path == wanted) continue;
        for (const std::string& name : names_of(other.path, Side::exported)) lacking.erase(name);
      }
      if (lacking.empty()) continue;
      Diagnosis diagnosis = diagnose(Code::other_file_already_loaded);
      diagnosis.with(Key::file, path_text(inquiry.index.spec.plugin))
          .with(Key::library, held.soname)
          .with(Key::path, held.path, "libraries of this process")
          .with(Key::wanted, wanted)
          .with(Key::required_by, user.path);
      for (const std::string& name : lacking)
        diagnosis.with(Key::symbol, name, "dynamic symbol tables of both files");
      diagnoses.push_back(std::move(diagnosis));
    }
  }
}

}  // namespace enginehost::preflight
