#include "host/preflight/judgments.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/refusals.hpp"

namespace enginehost::preflight {
namespace {

// True for libx.so and libx.so.1.2, not for libx.so.txt.
bool looks_like_library(const std::string& name) {
  const std::size_t at = name.find(".so");
  if (at == std::string::npos) return false;
  const std::string_view rest = std::string_view(name).substr(at + 3);
  return rest.empty() || (rest[0] == '.' && rest.find_first_not_of("0123456789.") == std::string_view::npos);
}

// Deeper chains than this only come from damaged or malicious files.
constexpr int deepest = 256;

template <class Item>
void append(const std::vector<Item>& more, std::vector<Item>& to) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

NameRules elf_names() {
  return {[](const std::string& name) { return name; }, looks_like_library, true};
}

ViewIndex::ViewIndex(const Spec& spec, linker::Reader& reader, NameRules rules)
    : spec(spec), reader(reader), rules_(std::move(rules)) {
  const auto add = [&](const std::filesystem::path& file) {
    // The first folder in the search order wins.
    if (file != spec.plugin &&
        by_name_.emplace(rules_.key(path_text(file.filename())), path_text(file)).second)
      libraries_.push_back(path_text(file));
  };
  std::vector<std::filesystem::path> folders = spec.search;
  if (!spec.view.empty() || !rules_.elf) folders.push_back(spec.plugin.parent_path());
  for (const std::filesystem::path& folder : folders) {
    if (reader.is_file(path_text(folder))) {
      add(folder);
      continue;
    }
    for (const std::string& name : reader.names_in(path_text(folder)))
      if (rules_.is_library(name)) add(folder / path_of(name));
  }
  // An unpacked archive may have lost the links whose names are the SONAMEs.
  if (rules_.elf)
    for (const std::string& path : libraries_)
      if (const auto& info = reader.read(path); info && !info->soname.empty())
        by_name_.emplace(info->soname, path);
}

std::string ViewIndex::find(const std::string& name) const {
  const auto found = by_name_.find(rules_.key(name));
  return found != by_name_.end() ? found->second : std::string();
}

bool ViewIndex::in_view(const std::string& path) const {
  return !spec.view.empty() && is_below(path_of(path), spec.view);
}

bool ViewIndex::is_optional(const std::string& path) const {
  if (!in_view(path)) return false;
  const std::string inside = generic_text(path_of(path).lexically_relative(spec.view));
  return std::ranges::any_of(spec.optional,
                             [&](const std::string& pattern) { return matches_pattern(inside, pattern); });
}

bool ViewIndex::is_lazy(const std::string& path) const {
  const std::string key = rules_.key(path_text(path_of(path).filename()));
  return std::ranges::any_of(spec.lazy, [&](const std::string& name) { return rules_.key(name) == key; });
}

void ViewIndex::add_needs(const std::string& file, std::vector<std::string>& order) const {
  std::set<std::string> visited(order.begin(), order.end());
  const std::function<void(const std::string&, int)> visit = [&](const std::string& at, int depth) {
    const auto& info = reader.read(at);
    if (depth == deepest || !visited.insert(at).second) return;
    if (info)
      for (const std::string& name : info->needed)
        if (const std::string path = find(name); !path.empty()) visit(path, depth + 1);
    if (at != file) order.push_back(at);
  };
  visit(file, 0);
}

std::vector<std::filesystem::path> as_paths(const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& file : files) paths.push_back(path_of(file));
  return paths;
}

linker::Closure close_after(const linker::Machine& machine, linker::Reader& reader, const std::string& file,
                            const std::vector<std::string>& opened_before, bool check_versions) {
  linker::Request request;
  request.file = path_of(file);
  request.preloaded = as_paths(opened_before);
  request.check_versions = check_versions;
  // A record has no tunables.
  if (machine.root.empty() && !machine.recorded) request.tunables = linker::loader_tunables_at_start();
  return linker::close(machine, request, reader);
}

LoadOrder load_order_of(const ViewIndex& index) {
  LoadOrder opening;
  index.add_needs(path_text(index.spec.plugin), opening.before);
  for (const std::string& library : index.libraries())
    if (std::ranges::find(opening.before, library) == opening.before.end()) opening.later.push_back(library);
  // A library that the plugin opens later finds libraries beside it only if they are on its own path or open
  // already.
  for (const std::string& library : opening.later) {
    if (index.is_optional(library)) continue;
    const linker::Closure closure = close_after(index.spec.machine, index.reader, library, opening.before);
    if (std::ranges::any_of(closure.missing, [&](const auto& one) { return !index.find(one.name).empty(); }))
      index.add_needs(library, opening.before);
  }
  return opening;
}

void take_closure(const linker::Closure& closure, Report& report) {
  report.missing = closure.missing;
  report.rejected = closure.rejected;
  report.versions = closure.versions;
  report.highest = closure.highest;
  for (const linker::Object& object : closure.objects)
    if (object.found_by != "already loaded")
      report.closure.push_back({object.name, object.path, object.needed_by});
  append(closure.warnings, report.warnings);
}

void add_later(const ViewIndex& index, const std::string& library, bool certain, Outcome outcome,
               Report& report, std::vector<Diagnosis>& doubts) {
  if (outcome.diagnoses.empty()) return append(outcome.doubts, doubts);
  if (index.is_optional(library)) {
    report.left_out.push_back(path_of(library));
    report.warnings.push_back(
        std::move(outcome.diagnoses.front().with(Key::left_out, library, "optional in the manifest")));
    return;
  }
  append(outcome.diagnoses, certain ? report.diagnoses : doubts);
  append(outcome.closure.missing, certain ? report.missing : report.missing_later);
  if (certain) append(outcome.closure.rejected, report.rejected);
}

void judge_missing_lazy(const ViewIndex& index, std::vector<Diagnosis>& diagnoses) {
  Diagnosis diagnosis = diagnose(Code::run_time_library_missing);
  for (const std::string& name : index.spec.lazy)
    if (index.find(name).empty()) diagnosis.with(Key::library, name, "the manifest's \"lazy\"");
  if (diagnosis.evidence.empty()) return;
  diagnosis.with(Key::file, path_text(index.spec.plugin)).with(Key::in_manifest, "lazy");
  for (const std::filesystem::path& folder : index.spec.search)
    diagnosis.with(Key::searched, path_text(folder));
  diagnoses.push_back(std::move(diagnosis));
}

void settle(Report& report, std::vector<Diagnosis> doubts) {
  if (!report.diagnoses.empty())
    report.verdict = Verdict::fails;
  else if (!doubts.empty())
    report.verdict = Verdict::unsure;
  append(doubts, report.diagnoses);
}

namespace {

// Tries "glibc-hwcaps", then "glibc-hwcaps/x86-64-v3": returns the first that does not exist, or the file in
// the last one.
std::string first_absent(const std::string& folder, const std::string& below, const std::string& name,
                         const std::function<bool(const std::string&)>& exists) {
  for (std::size_t slash = below.find('/');; slash = below.find('/', slash + 1)) {
    const std::string path = folder + "/" + below.substr(0, slash);
    if (!exists(path)) return path;
    if (slash == std::string::npos) return path + "/" + name;
  }
}

}  // namespace

std::vector<std::string> places_of(const linker::Machine& machine, const std::string& folder,
                                   const std::string& name,
                                   const std::function<bool(const std::string&)>& exists) {
  std::vector<std::string> places = {folder + "/" + name};
  if (!exists(folder)) return places;
  const auto add = [&](const std::string& below) {
    std::string place = first_absent(folder, below, name, exists);
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(std::move(place));
  };
  for (const std::string& level : machine.hwcaps) add("glibc-hwcaps/" + level);
  for (const std::string& legacy : machine.legacy_hwcaps) add(legacy);
  return places;
}

std::vector<std::filesystem::path> found_via_program_rpath(const ViewIndex& index,
                                                           const std::vector<std::string>& order,
                                                           const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> found;
  linker::Machine machine = index.spec.machine;
  const std::string program = path_text(machine.program);
  if (program.empty() || machine.libc != linker::Libc::glibc) return found;
  const auto& info = index.reader.read(program);
  if (!info || !info->has_rpath || info->has_runpath) return found;
  // Libraries of this process may have been found through the program's RPATH too; another process does not
  // have them.
  machine.loaded.clear();
  for (const std::string& file : files) {
    const linker::Closure closure = close_after(machine, index.reader, file, order, false);
    std::set<std::string> seen;
    // Depth first, so that a library comes after those that it needs.
    const std::function<void(const linker::Object&)> visit = [&](const linker::Object& object) {
      if (object.info == nullptr || !seen.insert(object.path).second) return;
      for (const std::string& name : object.info->needed)
        if (const linker::Object* needed = closure.find(name)) visit(*needed);
      const std::filesystem::path path = path_of(object.path);
      if (object.found_by == "RPATH of " + program && std::ranges::find(found, path) == found.end())
        found.push_back(path);
    };
    for (const linker::Object& object : closure.objects) visit(object);
  }
  return found;
}

MemoryNeed memory_needed_by(const linker::Closure& closure) {
  MemoryNeed need;
  for (const linker::Object& object : closure.objects) {
    if (object.info == nullptr || object.found_by == "already loaded") continue;
    // The size in a file is untrusted.
    need.bytes += std::min(~std::uint64_t{0} - need.bytes, object.info->memory_size);
    if (object.info->memory_size <= need.largest_size) continue;
    need.largest_size = object.info->memory_size;
    need.largest = &object;
  }
  return need;
}

}  // namespace enginehost::preflight
