#include "host/preflight/described.hpp"

#include <filesystem>
#include <utility>

#include "base/paths.hpp"
#include "host/preflight/foreign.hpp"
#include "host/preflight/judgments.hpp"

namespace enginehost::preflight {
namespace {

void append(std::vector<linker::Missing>& to, std::vector<linker::Missing> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Report check_elf(const Spec& spec, const linker::DescribedFiles& files) {
  linker::Reader reader({}, {}, &files);
  const ViewIndex index(spec, reader);
  const LoadOrder opening = load_order_of(spec, index, reader);
  const linker::Closure closure = close_after(spec, reader, path_text(spec.plugin), opening.before);
  Report report;
  report.missing = closure.missing;
  for (const std::string& library : opening.later) {
    if (closure.find(library) != nullptr || index.optional(library)) continue;
    append(is_lazy(spec, library) ? report.missing : report.missing_later,
           close_after(spec, reader, library, opening.before).missing);
  }
  return report;
}

Report check_other(const Spec& spec, const linker::DescribedFiles& files) {
  ForeignSpec foreign;
  foreign.view = spec.view;
  foreign.file = spec.plugin;
  foreign.search = spec.search;
  foreign.optional = spec.optional;
  foreign.lazy = spec.lazy;
  foreign.described = &files;
  return check_foreign(foreign);
}

}  // namespace

std::string in_described_view(const std::string& path) { return std::string(described_view) + "/" + path; }

std::string view_path_of(const std::string& path) {
  return generic_text(path_of(path).lexically_normal().lexically_relative(path_of(described_view)));
}

Report check_described(const DescribedBuild& build) {
  Report report;
  const std::string plugin = in_described_view(build.plugin);
  const binary::BinaryInfo* info = build.files.find(plugin);
  if (info == nullptr || std::filesystem::path::preferred_separator != '/') return report;
  Spec spec;
  spec.view = path_of(described_view);
  spec.plugin = path_of(plugin);
  for (const std::string& folder : build.search) spec.search.push_back(path_of(in_described_view(folder)));
  spec.optional = build.optional;
  spec.lazy = build.lazy;
  spec.machine.root = "described";  // a root of its own, so that nothing is read from the running system
  spec.machine.libc = build.musl ? linker::Libc::musl : linker::Libc::glibc;
  spec.machine.architecture = info->machine;
  return info->kind == binary::Kind::elf ? check_elf(spec, build.files) : check_other(spec, build.files);
}

}  // namespace enginehost::preflight
