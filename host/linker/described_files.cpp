#include "host/linker/described_files.hpp"

#include "base/text.hpp"

namespace enginehost::linker {
namespace {

constexpr int link_limit = 40;  // the kernel's own

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Adds the parts of the path in reverse, so that the next one is at the end.
void put_before(std::vector<std::string>& rest, std::string_view path) {
  const auto parts = split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) rest.emplace_back(*part);
}

}  // namespace

void DescribedFiles::add(const std::string& path, binary::BinaryInfo info) {
  info.device = 0;
  info.inode = files_.size() + 1;
  files_.insert_or_assign(path, std::move(info));
  note_folders(path);
}

void DescribedFiles::add_link(const std::string& path, const std::string& target) {
  links_.insert_or_assign(path, target);
  note_folders(path);
}

void DescribedFiles::note_folders(const std::string& path) {
  for (std::string folder = parent_of(path); folders_.insert(folder).second;) folder = parent_of(folder);
}

std::string DescribedFiles::resolved(std::string_view path) const {
  std::vector<std::string> rest;
  put_before(rest, path);
  std::string done;
  for (int links = 0; !rest.empty();) {
    const std::string element = std::move(rest.back());
    rest.pop_back();
    if (element.empty() || element == ".") continue;
    if (element == "..") {
      if (!done.empty()) done = parent_of(done);
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

const binary::BinaryInfo* DescribedFiles::find(std::string_view path) const {
  const auto found = files_.find(resolved(path));
  return found != files_.end() ? &found->second : nullptr;
}

bool DescribedFiles::is_folder(std::string_view path) const { return folders_.contains(resolved(path)); }

std::vector<std::string> DescribedFiles::names_in(std::string_view folder) const {
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

}  // namespace enginehost::linker
