#include "host/preflight/preflight.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/linker/refusals.hpp"
#include "host/linker/symbols.hpp"
#include "host/preflight/foreign.hpp"
#include "host/preflight/judgments.hpp"
#include "host/preflight/plugin_floors.hpp"

namespace enginehost::preflight {
namespace {

using linker::Closure;

// True when the file's bytes are wrong, whatever requests them.
bool is_content_problem(const Diagnosis& diagnosis) {
  return diagnosis.code >= Code::file_not_readable && diagnosis.code <= Code::file_damaged;
}

// One check, step by step; each step adds to the report.
class Check {
 public:
  explicit Check(const Spec& spec) : spec_(spec), reader_(spec.machine.root), index_(spec, reader_) {
    report_.file = spec.plugin;
  }

  Report run() {
    if (const auto& info = reader_.read(path_text(spec_.plugin))) report_.kind = info->kind;
    auto [before, later] = load_order_of(index_);
    order_ = std::move(before);
    add_parts_out_of_reach();

    const Closure closure = close(path_text(spec_.plugin), order_);
    report_.diagnoses = linker::diagnose_closure(spec_.machine, closure);
    judge_driver(spec_, closure, report_.diagnoses);
    explain_missing_libraries(index_, report_.diagnoses);
    drop_duplicates();
    take_closure(closure, report_);
    doubts_ = closure.doubts;
    const Inquiry inquiry{index_, order_, later};
    judge_environment(inquiry, closure, report_);
    judge_substitution(inquiry, closure, report_.diagnoses);
    judge_mixed_sources(spec_, closure, report_.warnings);
    judge_device_files(spec_, closure, reader_, report_.warnings);
    judge_amd_device_file(spec_, closure, reader_, report_.warnings);
    for (const std::string& library : later) check_later(library, closure);
    judge_missing_lazy(index_, report_.diagnoses);
    check_tables();
    check_header();
    check_later_names(later, closure);
    judge_gpu_code(spec_, own_files(), report_.warnings);
    if (spec_.machine.root.empty()) {
      if (!spec_.machine.recorded) check_mappings(closure);
      judge_memory(spec_, closure, report_);
    }
    if (spec_.symbols || spec_.versioned_symbols) check_symbols(closure);

    const std::string setting = unsupported_loader_setting();
    settle(report_, std::move(doubts_));
    if (!setting.empty()) {
      report_.verdict = Verdict::unsure;
      report_.notes.push_back(setting +
                              " changes the loader's search, which this check does not support: only "
                              "loading shows what is found");
    }
    report_.load_order = as_paths(order_);
    later.insert(later.begin(), path_text(spec_.plugin));
    report_.via_program_rpath = found_via_program_rpath(index_, order_, later);
    collect_dependency_stamps(closure);
    return std::move(report_);
  }

 private:
  Closure close(const std::string& file, const std::vector<std::string>& preloaded) {
    return close_after(spec_.machine, reader_, file, preloaded);
  }

  // True when the problem lies in the plugin file itself, whatever else the loader finds.
  bool is_of_plugin_alone(const Diagnosis& one) const {
    if (one.value(Key::file) != path_text(spec_.plugin)) return false;
    for (const Key other : {Key::needed_by, Key::required_by, Key::library, Key::largest})
      if (!one.value(other).empty()) return false;
    return true;
  }

  // Returns the setting that makes the loader's search unknown; "" = none, or a problem of the plugin file
  // itself is certain.
  std::string unsupported_loader_setting() const {
    if (!spec_.machine.root.empty() || spec_.machine.recorded ||
        std::ranges::any_of(report_.diagnoses, [&](const auto& one) { return is_of_plugin_alone(one); }))
      return {};
    return linker::unsupported_setting(spec_.machine, linker::loader_settings_at_start());
  }

  // Adds only parts whose own needs are met, so that the plugin does not fail for a part that may never be
  // opened.
  void add_parts_out_of_reach() {
    for (const std::string& part : parts_out_of_reach(index_, own_files())) {
      if (std::find(order_.begin(), order_.end(), part) != order_.end()) continue;
      std::vector<std::string> order = order_;
      index_.add_needs(part, order);
      if (!linker::diagnose_closure(spec_.machine, close(part, order)).empty()) continue;
      order_ = std::move(order);
      order_.push_back(part);
    }
  }

  // EngineHost opens the build's libraries before the plugin, so a library for another machine is met there
  // first (EH-L04). EH-L05 contains the same and also who needs it and which file was found.
  void drop_duplicates() {
    auto& all = report_.diagnoses;
    std::erase_if(all, [&](const Diagnosis& diagnosis) {
      return diagnosis.code == Code::library_for_other_processor &&
             std::any_of(all.begin(), all.end(), [&](const Diagnosis& other) {
               return other.code == Code::needed_library_for_other_processor &&
                      other.value(Key::file) == diagnosis.value(Key::file);
             });
    });
  }

  // Needs of all libraries together (EH-L19) are reported once.
  void drop_reported_of_plugin(std::vector<Diagnosis>& found) const {
    const auto reported = [](const std::vector<Diagnosis>& all) {
      return std::any_of(all.begin(), all.end(),
                         [](const Diagnosis& one) { return one.code == Code::no_static_tls_left; });
    };
    if (reported(report_.diagnoses) || reported(doubts_))
      std::erase_if(found, [](const Diagnosis& one) { return one.code == Code::no_static_tls_left; });
  }

  void check_later(const std::string& library, const Closure& plugin_closure) {
    if (plugin_closure.find(library) != nullptr) return;
    Outcome outcome{close(library, order_), {}, {}};
    outcome.diagnoses = linker::diagnose_closure(spec_.machine, outcome.closure);
    judge_driver(spec_, outcome.closure, outcome.diagnoses);
    outcome.doubts = outcome.closure.doubts;
    drop_reported_of_plugin(outcome.diagnoses);
    drop_reported_of_plugin(outcome.doubts);
    const bool certain = index_.is_lazy(library) ||
                         (!outcome.diagnoses.empty() && is_content_problem(outcome.diagnoses.front()) &&
                          outcome.diagnoses.front().value(Key::file) == library);
    add_later(index_, library, certain, std::move(outcome), report_, doubts_);
  }

  // The build's own files, which its publisher is responsible for.
  std::vector<std::string> own_files() const {
    std::vector<std::string> files = index_.libraries();
    files.insert(files.begin(), path_text(spec_.plugin));
    return files;
  }

  // A policy may refuse one file and allow the next, so each file of the build is tested; a mount refuses all
  // of them and is reported once. For other folders one file each is tested.
  void check_mappings(const Closure& closure) {
    std::set<std::filesystem::path> tried;
    for (const linker::Object& object : closure.objects) {
      const bool own = object.path == path_text(spec_.plugin) || index_.in_view(object.path);
      if (object.found_by == "already loaded" ||
          (!own && !tried.insert(path_of(object.path).parent_path()).second))
        continue;
      auto mapping = check_executable_mapping(path_of(object.path));
      if (mapping) continue;
      if (!own && !object.needed_by.empty())
        mapping.error().with(Key::library, object.name).with(Key::needed_by, object.needed_by);
      report_.diagnoses.push_back(std::move(mapping).error());
      return;
    }
    // A file that is no library is not in the closure, and cannot be opened from a noexec mount either.
    if (closure.objects.empty() || closure.find(path_text(spec_.plugin)) == nullptr)
      if (auto mapping = check_executable_mapping(spec_.plugin); !mapping)
        report_.diagnoses.push_back(std::move(mapping).error());
  }

  // Checks library names that a file contains as text: it opens them by name when it needs them.
  void check_later_names(const std::vector<std::string>& later, const Closure& closure) {
    std::vector<std::string> files = order_;
    files.push_back(path_text(spec_.plugin));
    files.insert(files.end(), later.begin(), later.end());
    for (std::string& opener : openers_of_parts(closure))
      if (std::find(files.begin(), files.end(), opener) == files.end()) files.push_back(std::move(opener));
    for (Diagnosis& mixed : mixed_parts(index_, closure, files))
      (mixed.code == Code::cudnn_parts_differ ? doubts_ : report_.warnings).push_back(std::move(mixed));
    for (Diagnosis& missing : missing_parts(index_, files)) {
      if (index_.is_optional(std::string(missing.value(Key::needed_by))))
        report_.warnings.push_back(std::move(missing.with(Key::left_out, missing.value(Key::needed_by))));
      else
        doubts_.push_back(std::move(missing));
    }
  }

  // A damaged table crashes the loader only sometimes, so it is checked here.
  void check_tables() {
    for (const std::string& file : own_files()) {
      const auto reported = [&](const Diagnosis& diagnosis) { return diagnosis.value(Key::file) == file; };
      const bool needed =
          file == path_text(spec_.plugin) || std::find(order_.begin(), order_.end(), file) != order_.end();
      if ((index_.is_optional(file) && !needed) ||
          std::any_of(report_.diagnoses.begin(), report_.diagnoses.end(), reported))
        continue;
      auto bindings = binary::check_bindings(reader_.on_disk(file));
      if (!bindings && is_content_problem(bindings.error()) && !binary::no_such_file(bindings.error()))
        report_.diagnoses.push_back(std::move(bindings).error());
    }
  }

  void check_header() {
    if (spec_.plugin_header)
      judge_plugin_header(spec_.plugin, reader_.on_disk(path_text(spec_.plugin)), report_.diagnoses, doubts_);
  }

  void check_symbols(const Closure& closure) {
    auto findings = linker::undefined_symbols(closure, reader_, spec_.view);
    auto &undefined = findings.undefined, &doubtful = findings.doubtful;
    if (spec_.versioned_symbols) name_libraries(index_, closure, undefined);
    // The program that opens the file may offer the others.
    if (!spec_.symbols) {
      doubtful.clear();
      for (const auto& symbol : undefined)
        if (symbol.likely) doubtful.push_back(symbol);
      std::erase_if(undefined, [](const auto& symbol) { return symbol.library.empty() || symbol.likely; });
    }
    for (auto [symbols, list] : {std::pair(&undefined, &report_.diagnoses), std::pair(&doubtful, &doubts_)})
      for (Diagnosis& diagnosis : linker::diagnose_symbols(*symbols)) {
        explain_missing_symbol(index_, closure, diagnosis);
        list->push_back(std::move(diagnosis));
      }
  }

  void collect_dependency_stamps(const Closure& closure) {
    const std::set<std::string> used = names_used(closure);
    std::set<std::filesystem::path> paths;
    for (const linker::Object& object : closure.objects) {
      if (object.found_by == "already loaded" && !used.contains(object.soname)) continue;
      if (!object.path.empty() && !index_.in_view(object.path) && object.path != path_text(spec_.plugin))
        paths.insert(path_of(object.path));
    }
    for (const linker::Rejected& rejected : report_.rejected) paths.insert(path_of(rejected.path));
    // A missing library may appear in any folder that was searched, or anywhere else through the loader's
    // cache.
    for (const linker::Missing& missing : report_.missing) {
      paths.insert(path_of(missing.tried.empty() ? spec_.machine.cache_file : missing.tried));
      for (const linker::Searched& place : missing.searched)
        if (place.directory != spec_.machine.cache_file)
          for (const std::string& path :
               places_of(spec_.machine, place.directory, missing.name,
                         [&](const std::string& folder) { return reader_.folder_exists(folder); }))
            paths.insert(path_of(path));
      if (missing.name == "libcuda.so.1") paths.insert("/proc/driver/nvidia/version");
    }
    report_.depends_on.assign(paths.begin(), paths.end());
  }

  const Spec& spec_;
  linker::Reader reader_;
  ViewIndex index_;
  std::vector<std::string> order_;
  std::vector<Diagnosis> doubts_;
  Report report_;
};

// True for kinds whose loader's rules are known besides this system's.
bool has_foreign_rules(binary::Kind kind) { return kind == binary::Kind::pe || kind == binary::Kind::macho; }

// Checks a library of another system. The report also shows what it would need there. For a described machine
// of its own system it is judged like any other library.
Report inspect_foreign(const std::filesystem::path& file, bool symbols, const binary::BinaryInfo& info,
                       const platform::Platform* platform) {
  const std::string_view system = info.kind == binary::Kind::pe ? "windows" : "macos";
  const bool at_home = platform != nullptr && platform->os.is_known() && platform->os.value() == system;
  ForeignSpec spec;
  spec.plugin = file;
  spec.platform = at_home ? platform : nullptr;
  spec.symbols = symbols;
  Report report = check_foreign(spec);
  // A file that is neither a DLL nor a Mach-O file has been reported already.
  if (at_home || !has_foreign_rules(info.kind)) return report;
  report.verdict = Verdict::fails;
  auto& all = report.diagnoses;
  // Damage of the file itself comes first.
  const auto after_content = std::find_if(all.begin(), all.end(), [&](const Diagnosis& one) {
    return !is_content_problem(one) || one.value(Key::file) != path_text(file);
  });
  all.insert(after_content, std::move(diagnose(Code::file_for_other_system)
                                          .with(Key::file, path_text(file))
                                          .with(Key::format, info.sniffed + " for " + info.machine)));
  return report;
}

// The verdict ignores symbols unless they are requested; undefined ones are noted anyway. The check costs
// some 10 ms for a large engine.
void note_undefined_symbols(Spec spec, Report& report) {
  spec.symbols = true;
  spec.versioned_symbols = false;  // no library was found that should offer them
  const Report with_symbols = check(spec);
  std::set<std::string> symbols;
  if (with_symbols.verdict == Verdict::fails)
    for (const Diagnosis& diagnosis : with_symbols.diagnoses)
      for (std::string& symbol : diagnosis.values(Key::symbol)) symbols.insert(std::move(symbol));
  if (symbols.empty()) return;
  report.notes.push_back(std::to_string(symbols.size()) +
                         (symbols.size() == 1
                              ? " undefined symbol that no library of its closure provides, "
                              : " undefined symbols that no library of its closure provides, the first is ") +
                         *symbols.begin() + ": --symbols counts that as a failure, and says who needs what");
}

}  // namespace

const char* name_of(Verdict verdict) {
  constexpr const char* names[] = {"loads", "fails", "unsure"};  // in the order of the enumerators
  return names[static_cast<std::size_t>(verdict)];
}

void judge_plugin_header(const std::filesystem::path& plugin, const std::filesystem::path& on_disk,
                         std::vector<Diagnosis>& diagnoses, std::vector<Diagnosis>& doubts) {
  const auto header = binary::read_plugin_header(on_disk);
  if (!header) {
    // Other problems of the file are reported by the code that searched its libraries.
    const Diagnosis& why = header.error();
    const auto reported = [&](const Diagnosis& one) {
      return one.code == why.code && one.value(Key::file) == why.value(Key::file);
    };
    if (why.code == Code::file_not_readable && !binary::no_such_file(why) &&
        std::none_of(diagnoses.begin(), diagnoses.end(), reported))
      diagnoses.push_back(why);
    return;
  }
  // A library of another system: a diagnosis already states that it cannot be loaded here, whatever it
  // exports.
  for (const Diagnosis& diagnosis : diagnoses)
    if (diagnosis.code == Code::file_for_other_system) return;
  using State = binary::PluginHeader::State;
  if (header->state == State::symbol_absent) {
    Diagnosis diagnosis = diagnose(Code::not_an_engine_plugin);
    diagnosis.with(Key::file, path_text(plugin))
        .with(Key::symbol, "engine_plugin_v1", "dynamic symbols of the file");
    for (const std::string& name : header->exports) diagnosis.with(Key::exports, name);
    diagnoses.push_back(std::move(diagnosis));
  } else if (header->state == State::no_object) {
    diagnoses.push_back(std::move(diagnose(Code::not_an_engine_plugin)
                                      .with(Key::file, path_text(plugin))
                                      .with(Key::problem,
                                            "its engine_plugin_v1 is a function, or thread-local; a "
                                            "plugin's is a constant object")));
  } else if (auto room = check_object_size(header->object_size, plugin); !room) {
    diagnoses.push_back(std::move(room).error());
  } else if (header->state == State::no_bytes) {
    doubts.push_back(std::move(
        diagnose(Code::not_an_engine_plugin)
            .with(Key::file, path_text(plugin))
            .with(Key::problem,
                  "its engine_plugin_v1 is filled in by code at start and cannot be read from the file")));
  } else if (auto fits = check_floors(
                 {header->magic, header->size, header->abi_major, header->abi_minor, header->host_minor},
                 plugin);
             !fits) {
    diagnoses.push_back(std::move(fits).error());
  }
}

Report check_elf(const Spec& spec) { return Check(spec).run(); }

Report check(const Spec& spec) { return check_native(spec); }

Result<Report> inspect(const std::filesystem::path& file, bool symbols, const linker::Machine& machine,
                       const platform::Platform* platform, const platform::Platform* facts) {
  TRY_ASSIGN(binary::BinaryInfo info, binary::read_binary(file));
  Report report;
  Spec spec;
  spec.plugin = file;
  spec.machine = machine;
  spec.platform = platform != nullptr ? platform : facts;
  spec.plugin_header = false;
  spec.symbols = symbols;
  spec.versioned_symbols = true;
  if (info.kind == binary::Kind::elf && platform != nullptr) {
    report = check_for_record(std::move(spec), info);
  } else if (!is_native(info.kind) || (platform != nullptr && has_foreign_rules(info.kind))) {
    report = inspect_foreign(file, symbols, info, platform);
  } else {
    report = check(spec);
    if (!symbols && info.kind == binary::Kind::elf && report.verdict != Verdict::fails)
      note_undefined_symbols(std::move(spec), report);
  }
  report.facts = gather_facts(file, std::move(info));
  if (auto code = binary::gpu_code(file)) {
    report.gpu_code = std::move(code->entries);
    report.facts.gpu_code_note = std::move(code->note);
  } else {
    const std::string_view said = code.error().value(Key::os_said);
    report.facts.gpu_code_note = "the file cannot be read" + (said.empty() ? "" : ": " + std::string(said));
  }
  return report;
}

}  // namespace enginehost::preflight
