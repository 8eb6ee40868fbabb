#include "tools/publish/described_build.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/preflight/foreign.hpp"
#include "host/preflight/judgments.hpp"

namespace enginehost::publish {
namespace {

constexpr int link_limit = 40;  // the kernel's own

std::string parent_folder(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Adds the parts of the path in reverse, so that the next one is at the end.
void put_before(std::vector<std::string>& rest, std::string_view path) {
  const auto parts = split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) rest.emplace_back(*part);
}

}  // namespace

void LibraryList::add(const std::string& path, binary::BinaryInfo info) {
  info.device = 0;
  info.inode = files_.size() + 1;
  files_.insert_or_assign(path, std::move(info));
  note_folders(path);
}

void LibraryList::add_link(const std::string& path, const std::string& target) {
  links_.insert_or_assign(path, target);
  note_folders(path);
}

void LibraryList::note_folders(const std::string& path) {
  for (std::string folder = parent_folder(path); folders_.insert(folder).second;)
    folder = parent_folder(folder);
}

std::string LibraryList::resolved(std::string_view path) const {
  std::vector<std::string> rest;
  put_before(rest, path);
  std::string done;
  for (int links = 0; !rest.empty();) {
    const std::string element = std::move(rest.back());
    rest.pop_back();
    if (element.empty() || element == ".") continue;
    if (element == "..") {
      if (!done.empty()) done = parent_folder(done);
      continue;
    }
    const auto link = links_.find(done + "/" + element);
    if (link == links_.end()) {
      done += "/" + element;
      continue;
    }
    if (++links > link_limit) return {};
    if (link->second.starts_with('/')) done.clear();
    put_before(rest, link->second);
  }
  return done;
}

const binary::BinaryInfo* LibraryList::find(std::string_view path) const {
  const auto found = files_.find(resolved(path));
  return found != files_.end() ? &found->second : nullptr;
}

bool LibraryList::is_folder(std::string_view path) const { return folders_.contains(resolved(path)); }

std::vector<std::string> LibraryList::names_in(std::string_view folder) const {
  const std::string start = resolved(folder) + "/";
  std::set<std::string> names;
  const auto take = [&](const auto& paths) {
    for (auto at = paths.lower_bound(start); at != paths.end() && at->first.starts_with(start); ++at)
      if (std::string name = at->first.substr(start.size()); name.find('/') == std::string::npos)
        names.insert(std::move(name));
  };
  take(files_);
  take(links_);
  return {names.begin(), names.end()};
}

namespace {

void append(std::vector<linker::Missing>& to, std::vector<linker::Missing> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

DescribedMissing check_described_elf(const preflight::Spec& spec, const LibraryList& files) {
  linker::Reader reader({}, {}, &files);
  const preflight::ViewIndex index(spec, reader);
  const preflight::LoadOrder opening = load_order_of(index);
  const auto closure_of = [&](const std::string& file) {
    return preflight::close_after(spec.machine, reader, file, opening.before);
  };
  const linker::Closure closure = closure_of(path_text(spec.plugin));
  DescribedMissing missing{closure.missing, {}};
  for (const std::string& library : opening.later)
    if (closure.find(library) == nullptr && !index.is_optional(library))
      append(index.is_lazy(library) ? missing.at_load : missing.later, closure_of(library).missing);
  return missing;
}

}  // namespace

std::string in_described_view(const std::string& path) { return std::string(described_view) + "/" + path; }

std::string view_path_of(const std::string& path) {
  return generic_text(path_of(path).lexically_normal().lexically_relative(path_of(described_view)));
}

DescribedMissing check_described(const DescribedBuild& build) {
  const std::string plugin = in_described_view(build.plugin);
  const binary::BinaryInfo* info = build.files.find(plugin);
  if (info == nullptr || std::filesystem::path::preferred_separator != '/') return {};
  preflight::Spec spec;
  spec.view = path_of(described_view);
  spec.plugin = path_of(plugin);
  for (const std::string& folder : build.search) spec.search.push_back(path_of(in_described_view(folder)));
  spec.optional = build.optional;
  spec.lazy = build.lazy;
  spec.machine.root = "described";  // a root of its own, so that nothing is read from the running system
  spec.machine.libc = build.musl ? linker::Libc::musl : linker::Libc::glibc;
  spec.machine.architecture = info->machine;
  if (info->kind == binary::Kind::elf) return check_described_elf(spec, build.files);
  preflight::Report report = preflight::check_foreign({spec, nullptr, nullptr, &build.files});
  return {std::move(report.missing), std::move(report.missing_later)};
}

}  // namespace enginehost::publish
