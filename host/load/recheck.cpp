#include "host/load/probe_outcome.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/binary/binary.hpp"
#include "host/explain/loader_text.hpp"
#include "host/linker/refusals.hpp"
#include "host/preflight/judgments.hpp"

namespace enginehost::load {
namespace {

constexpr Key kept[] = {Key::os_said,
                        Key::stage,
                        Key::last_words,
                        Key::message,
                        Key::status,
                        Key::origin,
                        Key::native,
                        Key::engine,
                        Key::tries,
                        Key::error_number,
                        Key::loader_asked_for,
                        Key::loader_asked_by,
                        Key::loader_searched,
                        Key::loader_search_left_out};

// Combines the explanation with the evidence from the failure.
Diagnosis merged(Diagnosis better, const Diagnosis& said) {
  std::vector<Evidence> seen;
  for (const Evidence& fact : said.evidence)
    if (std::find(std::begin(kept), std::end(kept), fact.what) != std::end(kept) &&
        better.value(fact.what).empty())
      seen.push_back(fact);
  better.evidence.insert(better.evidence.end(), seen.begin(), seen.end());
  better.context = said.context;
  return better;
}

// Adds the numbers of a warning of the same class from before loading (an executable stack, much thread-local
// storage), which has now stopped the loader.
void add_numbers(Diagnosis& said, const preflight::Report& report) {
  for (const Diagnosis& warning : report.warnings) {
    if (warning.code != said.code) continue;
    for (const Evidence& fact : warning.evidence)
      if (said.value(fact.what).empty()) said.evidence.push_back(fact);
    return;
  }
}

bool speaks_of(const Diagnosis& said, const std::string& path_or_name) {
  if (path_or_name.empty()) return false;
  const std::string name = path_or_name.substr(path_or_name.find_last_of('/') + 1);
  return std::any_of(said.evidence.begin(), said.evidence.end(),
                     [&](const Evidence& fact) { return fact.value.find(name) != std::string::npos; });
}

bool about_the_same(const Diagnosis& said, const Diagnosis& found) {
  return speaks_of(said, std::string(found.value(Key::library))) ||
         speaks_of(said, std::string(found.value(Key::file))) ||
         speaks_of(said, std::string(found.value(Key::symbol)));
}

// True for classes that come from a loader's text and not from reading the files.
bool from_text(const Diagnosis& said) {
  return area_of(said.code) == Area::linking || area_of(said.code) == Area::files ||
         said.code == Code::driver_lacks_function || said.code == Code::run_time_library_missing ||
         said.code == Code::cudnn_parts_differ;
}

// True for temporary states and states of the process, which the files do not show.
bool beyond_files(Code code) {
  return code == Code::no_namespace_left || code == Code::no_static_tls_left ||
         code == Code::library_input_error || code == Code::preload_not_loadable ||
         code == Code::driver_lacks_function;
}

bool is_of_mapping(const Diagnosis& one) {
  return one.code == Code::mounted_noexec || one.code == Code::memory_short_for_library ||
         one.code == Code::security_policy_forbids;
}

// For a library that glibc found by its name, the text contains only that name.
std::filesystem::path file_of(const Diagnosis& said, const preflight::Spec& spec,
                              const preflight::Report& report) {
  const std::filesystem::path named(path_of(said.value(Key::file)));
  if (named.is_absolute()) return named;
  for (const preflight::Report::Item& item : report.closure)
    if (item.name == said.value(Key::file)) return path_of(item.path);
  return spec.plugin;
}

// Explains "failed to map segment from shared object" although one page of the file can be mapped: a limit,
// memory that is short at the moment, or a policy.
Diagnosis why_not_mapped(const Diagnosis& said, const std::filesystem::path& file) {
  const auto info = binary::read_binary(file);
  const auto address_space = preflight::address_space_limit();
  if (address_space || said.code == Code::memory_short_for_library ||
      (info && preflight::lacks_memory_for(file, info->memory_size))) {
    Diagnosis diagnosis = diagnose(Code::memory_short_for_library);
    diagnosis.with(Key::file, path_text(file));
    if (info) diagnosis.with(Key::needed, std::to_string(info->memory_size), "segments of the file");
    if (address_space)
      diagnosis.with(Key::limit, std::to_string(*address_space), "RLIMIT_AS");
    else if (const auto data = preflight::data_limit())
      diagnosis.with(Key::data_limit, std::to_string(*data), "RLIMIT_DATA");
    return merged(std::move(diagnosis), said);
  }
  // All of it could be mapped and memory is not limited: the refusal depends on more than one page.
  Diagnosis diagnosis = diagnose(Code::security_policy_forbids);
  diagnosis.with(Key::file, path_text(file)).with(Key::folder, path_text(file.parent_path()));
  return merged(std::move(diagnosis), said);
}

// Explains a library that lies in a folder of LD_LIBRARY_PATH and was not found there: the loader ignores the
// variable (L30), or reads it as two folders (L33).
std::optional<Diagnosis> why_not_in_library_path(const Diagnosis& missing, const preflight::Spec& spec) {
  const std::string library(missing.value(Key::library));
  const auto& text = spec.machine.library_path_text;
  if (library.empty() || !text || text->empty()) return std::nullopt;
  std::error_code ignored;
  const auto holds = [&](const std::filesystem::path& folder) {
    return std::filesystem::exists(folder / path_of(library), ignored);
  };
  if (spec.machine.secure) {
    for (const std::string& folder : linker::library_path_folders(spec.machine, *text)) {
      if (!holds(path_of(folder))) continue;
      Diagnosis diagnosis = missing;
      diagnosis.code = Code::library_path_ignored;
      return std::move(diagnosis.with(Key::present_at, path_text(path_of(folder) / path_of(library)),
                                      spec.machine.library_path_source));
    }
    return std::nullopt;
  }
  if (text->find_first_of(":;") == std::string::npos || !holds(path_of(*text))) return std::nullopt;
  Diagnosis diagnosis = missing;
  diagnosis.code = Code::path_unusable_for_loader;
  return std::move(diagnosis.with(Key::present_at, path_text(path_of(*text) / path_of(library)))
                       .with(Key::problem, "the loader reads \"" + *text + "\" as several folders",
                             spec.machine.library_path_source));
}

// Error 193 has five causes. Error 126 means the file itself or something that it needs.
Diagnosis recheck_windows(Diagnosis said) {
  const std::filesystem::path file(path_of(said.value(Key::file)));
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) return said;
  const auto info = binary::read_binary(file);
  if (!info) return merged(info.error(), said);
  if (!info->problems.empty() && said.code == Code::dll_not_for_this_machine)
    return merged(info->problems.front(), said);
  if (info->kind != binary::Kind::pe)
    return merged(std::move(diagnose(Code::file_for_other_system)
                                .with(Key::file, path_text(file))
                                .with(Key::format, info->sniffed)),
                  said);
  if (said.code == Code::dll_not_for_this_machine)
    said.with(Key::problem, "it is built for " + info->machine, "the file's header");
  if (said.code == Code::dll_missing && said.value(Key::library).empty())
    for (const std::string& library : info->needed) said.with(Key::needs, library, "imports of the file");
  return said;
}

// SIGBUS while loading means a truncated file; later it means a file that was whole when it was loaded.
Diagnosis recheck_bus_error(Diagnosis said, const preflight::Report& report) {
  for (const Diagnosis& found : report.diagnoses) {
    if (found.code < Code::file_not_readable || found.code > Code::file_damaged) continue;
    const std::string_view stage = said.value(Key::stage);
    if (stage == "preload" || stage == "load") return merged(found, said);
    Diagnosis changed = diagnose(Code::file_changed_in_use);
    changed.with(Key::file, found.value(Key::file)).with(Key::problem, "it was whole when it was loaded");
    for (const Key key : {Key::size, Key::needed_size})
      if (const std::string_view value = found.value(key); !value.empty()) changed.with(key, value);
    return merged(std::move(changed), said);
  }
  return said;
}

// True when the build's own library has the symbol that the loader missed: another one served in its place.
bool offers(std::string_view library, std::string_view symbol) {
  if (library.empty() || symbol.empty()) return false;
  const auto table = binary::read_symbols(path_of(library));
  return table && std::any_of(table->exports.begin(), table->exports.end(),
                              [&](const binary::Symbol& offered) { return offered.name == symbol; });
}

// True when another file serves in place of the build's own. Does not explain anything if opening the build's
// own first has repaired that.
bool is_substitution(const Diagnosis& found) {
  return found.code == Code::other_file_already_loaded ||
         (found.code == Code::library_from_other_folder && found.value(Key::repaired).empty());
}

// Finds the files' explanation of a text: a finding of the same class, or about the library or symbol in the
// text. Warnings count too (a library of another version in the process, one that lies where the loader does
// not look).
const Diagnosis* finding_for(const Diagnosis& said, const preflight::Report& report) {
  for (const auto* list : {&report.diagnoses, &report.warnings})
    for (const Diagnosis& found : *list)
      if (is_substitution(found) && offers(found.value(Key::wanted), said.value(Key::symbol))) return &found;
  for (const auto* list : {&report.diagnoses, &report.warnings})
    for (const Diagnosis& found : *list)
      if (found.code == said.code && about_the_same(said, found)) return &found;
  if (beyond_files(said.code)) return nullptr;
  // A symbol is missing although the files fit together: the process serves an older library.
  const bool symbol = said.code == Code::symbol_missing || said.code == Code::symbol_version_missing ||
                      said.code == Code::c_library_too_old || said.code == Code::cpp_runtime_too_old;
  for (const Diagnosis& found : report.diagnoses)
    if (about_the_same(said, found)) return &found;
  for (const Diagnosis& found : report.diagnoses)
    if (found.code == said.code) return &found;
  for (const Diagnosis& warning : report.warnings) {
    const bool explains = is_substitution(warning);
    if ((symbol && explains) ||
        (warning.code == Code::library_not_where_loader_looks && about_the_same(said, warning)))
      return &warning;
  }
  if (report.verdict == preflight::Verdict::fails) return &report.diagnoses.front();
  return nullptr;
}

// Rechecks a loader's message about a library that the plugin itself opened: that file is compared with the
// text as the plugin would be.
std::optional<Diagnosis> recheck_passed_on(const Diagnosis& said, const preflight::Spec& spec) {
  const std::string message(said.value(Key::message));
  const auto hint = explain::read_engine_text(message);
  if (!hint || !(area_of(hint->code) == Area::linking || area_of(hint->code) == Area::files))
    return std::nullopt;
  Diagnosis diagnosis = merged(explain::to_diagnosis(*hint, message), said);
  preflight::Spec opened = spec;
  opened.plugin_header = false;
  opened.symbols = opened.versioned_symbols = true;
  for (const std::string_view named : {diagnosis.value(Key::required_by), diagnosis.value(Key::file)})
    if (path_of(named).is_absolute()) {
      opened.plugin = path_of(named);
      break;
    }
  if (diagnosis.value(Key::file).empty()) diagnosis.with(Key::file, path_text(opened.plugin));
  const preflight::Report report = preflight::check(opened);
  if (const Diagnosis* found = finding_for(diagnosis, report)) return merged(*found, diagnosis);
  // No file needs it by name: it is opened while the engine runs.
  if (diagnosis.code == Code::library_missing) {
    diagnosis.code = Code::run_time_library_missing;
    return diagnosis;
  }
  if (!beyond_files(diagnosis.code))
    diagnosis.with(Key::rechecked, "the files do not explain it", "the static check");
  return diagnosis;
}

}  // namespace

Diagnosis recheck(Diagnosis said, const preflight::Spec& spec) {
  if (area_of(said.code) == Area::windows) return recheck_windows(std::move(said));
  const bool by_engine = said.code == Code::engine_reports_error || said.code == Code::engine_ended_process;
  const bool bus_error = said.code == Code::build_crashed && said.value(Key::signal) == "SIGBUS";
  if (!from_text(said) && !by_engine && !bus_error) return said;
  preflight::Spec closer = spec;
  closer.symbols = closer.versioned_symbols = true;
  const preflight::Report report = preflight::check(closer);
  if (bus_error) return recheck_bus_error(std::move(said), report);
  if (from_text(said)) {
    // A missing driver function is an undefined symbol too; the text's class is more precise.
    if (said.code == Code::driver_lacks_function) return said;
    // The loader's text is the same for a noexec mount, a limit and a policy, without a number: mapping the
    // file shows which.
    const bool mapping = is_of_mapping(said);
    const std::filesystem::path file = file_of(said, spec, report);
    if (mapping) {
      for (const Diagnosis& found : report.diagnoses)
        if (is_of_mapping(found) && path_of(found.value(Key::file)) == file) return merged(found, said);
      if (auto refused = preflight::check_executable_mapping(file); !refused)
        return merged(std::move(refused).error(), said);
    }
    if (const Diagnosis* found = finding_for(said, report)) {
      if (auto better = why_not_in_library_path(*found, spec)) return merged(std::move(*better), said);
      return merged(*found, said);
    }
    if (mapping) return why_not_mapped(said, file);
    add_numbers(said, report);
    // The files do not show what used the reserve. Its size shows what to request instead.
    if (said.code == Code::no_static_tls_left && said.value(Key::reserve).empty() &&
        said.value(Key::alignment).empty())
      said.with(Key::reserve,
                std::to_string(linker::static_tls_reserve(spec.machine, linker::loader_tunables_at_start())),
                "GLIBC_TUNABLES");
    if (!beyond_files(said.code))
      said.with(Key::rechecked, "the files do not explain it", "the static check");
    return said;
  }
  // The plugin reports that something is missing: it means the library whose dependencies are incomplete.
  for (const Diagnosis& found : report.diagnoses)
    if (speaks_of(said, std::string(found.value(Key::library))) ||
        speaks_of(said, std::string(found.value(Key::file))))
      return merged(found, said);
  if (said.code == Code::engine_reports_error)
    if (auto better = recheck_passed_on(said, spec)) return std::move(*better);
  return said;
}

}  // namespace enginehost::load
