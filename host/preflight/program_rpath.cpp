#include "host/preflight/program_rpath.hpp"

#include <algorithm>
#include <set>

#include "base/paths.hpp"

namespace enginehost::preflight {
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
