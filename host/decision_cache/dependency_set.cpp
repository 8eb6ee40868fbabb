#include "host/decision_cache/dependency_set.hpp"

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"

namespace enginehost::open {
namespace {

using Kind = Dependency::Kind;
using What = platform::MachineInput::What;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Returns true if the text before the last "/" is the path of the folder.
bool is_plain(const std::string& path) {
  if (path.size() < 2 || path.front() != '/' || path.back() == '/') return false;
  for (const char* odd : {"//", "/./", "/../"})
    if (path.find(odd) != std::string::npos) return false;
  return !path.ends_with("/.") && !path.ends_with("/..");
}

// Returns true if the first numbers of two stamps are equal: those that both kinds of stamp have.
bool begin_alike(const Dependency& one, const Dependency& other, std::size_t numbers) {
  return std::equal(one.stamp.begin(), one.stamp.begin() + static_cast<std::ptrdiff_t>(numbers),
                    other.stamp.begin());
}

bool is_folder_at_rest(const std::string& folder, std::int64_t moment_ns) {
  calls::Status status{};
  return calls::stat(folder, &status) == 0 && S_ISDIR(status.st_mode) && is_at_rest(folder, moment_ns);
}

// Returns the folder whose time shows whether the dependency still holds; empty if there is none.
std::string covering_folder_of(const Dependency& dependency, std::int64_t began_ns) {
  if ((dependency.kind != Kind::absent && dependency.kind != Kind::there) || !is_plain(dependency.path))
    return {};
  calls::Status status{};
  std::string path = dependency.path;
  if (dependency.kind == Kind::absent) {
    // The target of a link may appear without changing the link's folder.
    if (calls::lstat(path, &status) == 0) return {};
    while (errno == ENOENT && path.size() > 1 && calls::lstat(folder_of(path), &status) != 0)
      path = folder_of(path);
    if (errno != ENOENT) return {};
  } else if (calls::lstat(path, &status) != 0 || S_ISLNK(status.st_mode)) {
    return {};
  }
  std::string folder = folder_of(path);
  return is_folder_at_rest(folder, began_ns) && times_reflect_names(path_of(folder)) ? folder : std::string();
}

}  // namespace

void DependencySet::add(Dependency dependency) {
  usable_ = usable_ && dependency.path.find('\n') == std::string::npos;
  if (const Dependency* known = find(dependency.kind, dependency.path))
    usable_ = usable_ && known->stamp == dependency.stamp;
  else
    all_.push_back(std::move(dependency));
}

void DependencySet::add(Kind kind, const std::string& path) {
  if (kind == Kind::stamp || kind == Kind::rights) usable_ = usable_ && is_at_rest(path, began_ns_);
  // A new entry changes the folder's time.
  if (kind == Kind::empty && is_folder_at_rest(path, began_ns_) && is_empty_folder(path)) kind = Kind::still;
  add(dependency_on(kind, path));
}

void DependencySet::add(const platform::MachineInput& input) {
  switch (input.what) {
    case What::stamp:
      return add(Kind::stamp, input.path);
    case What::identity:
      return add(Kind::identity, input.path);
    case What::presence:
      return add(Kind::there, input.path);
    case What::boot:
      // The kernel's file with the boot time takes as long to read as five others.
      return boot_moment_ns() != 0 ? add(Kind::boot, "") : add(Kind::content, input.path);
    case What::content:
      return add(Kind::content, input.path);
    case What::names:
      return add(Kind::names, input.path);
    case What::noexec:
      // If execution is forbidden later, loading fails and the full path explains it.
      if (forbids_execution(path_of(input.path))) add(Kind::noexec, input.path);
  }
}

const Dependency* DependencySet::find(Kind kind, const std::string& path) const {
  const auto found =
      std::ranges::find_if(all_, [&](const Dependency& one) { return one.kind == kind && one.path == path; });
  return found != all_.end() ? &*found : nullptr;
}

const Dependency* DependencySet::strictest_stamp(const std::string& path) const {
  const Dependency* const rights = find(Kind::rights, path);
  return rights != nullptr ? rights : find(Kind::stamp, path);
}

bool DependencySet::is_checked_elsewhere(const Dependency& dependency) const {
  const Kind kind = dependency.kind;
  if (kind == Kind::stamp && std::ranges::count(stamped_elsewhere_, dependency.path) != 0) return true;
  if (kind == Kind::stamp || kind == Kind::runnable) return find(Kind::rights, dependency.path) != nullptr;
  return (kind == Kind::identity || kind == Kind::there) && strictest_stamp(dependency.path) != nullptr;
}

std::optional<std::string> DependencySet::text() const {
  std::map<std::string, std::vector<Dependency>> covered;  // by folder
  std::vector<const Dependency*> others;
  bool consistent = usable_;
  for (const Dependency& one : all_) {
    if (is_checked_elsewhere(one)) {
      const Dependency* const rights = find(Kind::rights, one.path);
      const std::size_t numbers = one.kind == Kind::stamp ? 4 : one.kind == Kind::identity ? 2 : 0;
      consistent = consistent && (rights == nullptr || begin_alike(one, *rights, numbers));
    } else if (const std::string folder = covering_folder_of(one, began_ns_); !folder.empty()) {
      covered[folder].push_back(one);
      covered[folder].back().covered = true;
    } else {
      others.push_back(&one);
    }
  }
  std::string text;
  for (const Dependency* one : others) {
    one->put(text);
    const auto below = covered.find(one->path);
    if ((one->kind != Kind::stamp && one->kind != Kind::rights) || below == covered.end()) continue;
    consistent = consistent && begin_alike(*one, dependency_on(Kind::stamp, one->path), 4) &&
                 is_folder_at_rest(one->path, began_ns_);
    for (const Dependency& covered_one : below->second) covered_one.put(text);
    covered.erase(below);
  }
  for (auto& [folder, below] : covered) {
    // One check of the folder instead of one check of the file saves nothing.
    below.front().covered = below.size() > 1;
    if (below.front().covered) dependency_on(Kind::folder, folder).put(text);
    // It may have changed since the names below it were looked for.
    consistent = consistent && is_folder_at_rest(folder, began_ns_);
    for (const Dependency& one : below) one.put(text);
  }
  return consistent ? std::optional(std::move(text)) : std::nullopt;
}

bool DependencySet::holds(std::string_view text, std::int64_t now) {
  Dependency one;
  for (bool folder_stayed = false; !text.empty();) {
    if (!one.take(text)) return false;
    if (one.covered && folder_stayed) continue;
    const bool held = one.holds(now);
    if (!one.covered) folder_stayed = held;
    if (!held && one.kind != Kind::folder) return false;
  }
  return true;
}

}  // namespace enginehost::open
