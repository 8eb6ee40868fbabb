#include <algorithm>
#include <set>

#include "base/paths.hpp"
#include "host/linker/loader_rules.hpp"
#include "host/preflight/judgments.hpp"

namespace enginehost::preflight {

std::vector<std::filesystem::path> as_paths(const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& file : files) paths.push_back(path_of(file));
  return paths;
}

linker::Closure close_after(const Spec& spec, linker::Reader& reader, const std::string& file,
                            const std::vector<std::string>& opened_before) {
  linker::Request request;
  request.file = path_of(file);
  request.preloaded = as_paths(opened_before);
  if (spec.machine.root.empty()) request.tunables = linker::loader_tunables_at_start();
  return linker::close(spec.machine, request, reader);
}

LoadOrder load_order_of(const Spec& spec, const ViewIndex& index, linker::Reader& reader) {
  LoadOrder opening;
  index.add_needs(path_text(spec.plugin), opening.before);
  for (const std::string& library : index.libraries())
    if (std::find(opening.before.begin(), opening.before.end(), library) == opening.before.end())
      opening.later.push_back(library);
  // A library that the plugin opens later finds libraries beside it only if they are on its own path or open
  // already.
  for (const std::string& library : opening.later) {
    if (index.optional(library)) continue;
    bool neighbor_missing = false;
    for (const linker::Missing& missing : close_after(spec, reader, library, opening.before).missing)
      neighbor_missing |= !index.find(missing.name).empty();
    if (neighbor_missing) index.add_needs(library, opening.before);
  }
  return opening;
}

bool is_lazy(const Spec& spec, const std::string& path) {
  const std::string name = path_text(path_of(path).filename());
  return std::find(spec.lazy.begin(), spec.lazy.end(), name) != spec.lazy.end();
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

namespace {

// Visits depth first, so that a library comes after those that it needs.
class LeavesFirst {
 public:
  LeavesFirst(const linker::Closure& closure, std::string rule) : closure_(closure), rule_(std::move(rule)) {}

  void collect(std::vector<std::filesystem::path>& into) {
    for (const linker::Object& object : closure_.objects) visit(object, into);
  }

 private:
  void visit(const linker::Object& object, std::vector<std::filesystem::path>& into) {
    if (object.info == nullptr || !seen_.insert(object.path).second) return;
    for (const std::string& name : object.info->needed)
      if (const linker::Object* needed = closure_.find(name)) visit(*needed, into);
    const std::filesystem::path path = path_of(object.path);
    if (object.found_by == rule_ && std::find(into.begin(), into.end(), path) == into.end())
      into.push_back(path);
  }

  const linker::Closure& closure_;
  const std::string rule_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<std::filesystem::path> found_via_program_rpath(const Spec& spec, linker::Reader& reader,
                                                           const std::vector<std::string>& order,
                                                           const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> found;
  const std::string program = path_text(spec.machine.program);
  if (program.empty() || spec.machine.libc != linker::Libc::glibc) return found;
  const auto& info = reader.read(program);
  if (!info || !info->has_rpath || info->has_runpath) return found;
  // Libraries of this process may have been found through the program's RPATH too; another process does not
  // have them.
  linker::Machine machine = spec.machine;
  machine.loaded.clear();
  linker::Request request;
  for (const std::string& file : order) request.preloaded.push_back(path_of(file));
  request.check_versions = false;
  for (const std::string& file : files) {
    request.file = path_of(file);
    const linker::Closure closure = linker::close(machine, request, reader);
    LeavesFirst(closure, "RPATH of " + program).collect(found);
  }
  return found;
}

}  // namespace enginehost::preflight
