#include "host/open/dependency_set.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "host/open/dependency_stamp.hpp"

namespace enginehost::open {
namespace {

using What = platform::MachineInput::What;

// Returns how many numbers precede the path in such a line.
int numbers_of(std::string_view name) {
  if (name == "stamp") return 4;
  if (name == "rights") return 5;
  return name == "identity" ? 2 : 0;
}

bool is_there(const std::string& path) {
  calls::Status status{};
  return calls::stat(path, &status) == 0;
}

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

// Returns "DEVICE INODE ", as in stamp_line().
std::string identity_of(const calls::Status& status) {
  return std::to_string(status.st_dev) + " " + std::to_string(status.st_ino) + " ";
}

// Returns true for a folder that did not change shortly before the moment or since.
bool is_folder_at_rest(const std::string& folder, std::int64_t moment_ns, calls::Status& status) {
  return calls::stat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
         is_settled(calls::modified_ns(status), moment_ns) &&
         is_settled(calls::changed_ns(status), moment_ns);
}

// Returns the value that "folder" and "still" lines compare.
std::string change_of(const calls::Status& status) {
  return identity_of(status) + std::to_string(calls::changed_ns(status)) + " ";
}

}  // namespace

void DependencySet::add(std::string name, std::string value, const std::string& path) {
  usable_ = usable_ && path.find('\n') == std::string::npos;
  if (const Line* known = find(name, path)) {
    usable_ = usable_ && known->value == value;
    return;
  }
  lines_.push_back({std::move(name), std::move(value), path});
}

const DependencySet::Line* DependencySet::find(std::string_view name, const std::string& path) const {
  const auto found = std::find_if(lines_.begin(), lines_.end(),
                                  [&](const Line& line) { return line.name == name && line.path == path; });
  return found != lines_.end() && !path.empty() ? &*found : nullptr;
}

void DependencySet::add_stamp(const std::string& file, bool with_rights) {
  usable_ = usable_ && file.find('\n') == std::string::npos && is_at_rest(file, began_ns_);
  if (usable_) add_lines(stamp_line(file, with_rights));
}

void DependencySet::add_rights(const std::string& file) { add_stamp(file, true); }

void DependencySet::add_writable(const std::string& folder) { add("writable", "", folder); }
void DependencySet::add_runnable(const std::string& file) { add("runnable", "", file); }
void DependencySet::add_there(const std::string& file) { add("there", "", file); }

void DependencySet::add_empty(const std::string& folder) {
  // A new entry changes the folder's time.
  calls::Status status{};
  const bool still = is_folder_at_rest(folder, began_ns_, status) && is_empty_folder(folder.c_str());
  add(still ? "still" : "empty", still ? change_of(status) : "", folder);
}

void DependencySet::add(const platform::MachineInput& input) {
  switch (input.what) {
    case What::stamp:
      return add_stamp(input.path, false);
    case What::identity: {
      calls::Status status{};
      if (calls::stat(input.path, &status) != 0) return add("absent", "", input.path);
      return add("identity", identity_of(status), input.path);
    }
    case What::presence:
      return add(is_there(input.path) ? "there" : "absent", "", input.path);
    case What::boot:
      // The kernel's file with the boot time takes as long to read as five others.
      if (const std::int64_t moment = boot_moment_ns(); moment != 0)
        return add("boot", std::to_string(moment) + " ", "");
      [[fallthrough]];
    case What::content:
      if (!is_there(input.path)) return add("absent", "", input.path);
      return add("content", checksum(Content(input.path.c_str()).text()) + " ", input.path);
    case What::names:
      if (!is_there(input.path)) return add("absent", "", input.path);
      return add("names", checksum(names_in(input.path.c_str())) + " ", input.path);
    case What::noexec:
      // If execution is forbidden later, loading fails and the full path explains it.
      if (forbids_execution(path_of(input.path))) add("noexec", "", input.path);
      return;
  }
}

void DependencySet::add_lines(std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string name(line.substr(0, space));
    std::string_view rest = line.substr(std::min(line.size(), space + 1));
    if (name == "until" || name == "made" || name == "limits") {
      lines_.push_back({name, std::string(rest), ""});
      continue;
    }
    if (name == "empty") {
      add_empty(std::string(rest));
      continue;
    }
    std::size_t path = 0;
    for (int i = numbers_of(name); i > 0; --i) path = rest.find(' ', path) + 1;
    add(name, std::string(rest.substr(0, path)), std::string(rest.substr(path)));
  }
}

bool DependencySet::is_stamped_elsewhere(const Line& line) const {
  if (line.name == "stamp" && std::ranges::count(stamped_elsewhere_, line.path) != 0) return true;
  const Line* const rights = find("rights", line.path);
  const Line* const stamp = rights != nullptr ? rights : find("stamp", line.path);
  if (line.name == "stamp" || line.name == "runnable") return rights != nullptr;
  return (line.name == "identity" || line.name == "there") && stamp != nullptr;
}

// Returns the folder whose time shows whether the line still holds, if there is one.
std::optional<DependencySet::CoveringDirectory> DependencySet::covering_directory_of(const Line& line) const {
  if ((line.name != "absent" && line.name != "there") || !is_plain(line.path)) return std::nullopt;
  calls::Status status{};
  std::string path = line.path;
  if (line.name == "absent") {
    // The target of a link may appear without changing the link's folder.
    if (calls::lstat(path, &status) == 0) return std::nullopt;
    while (errno == ENOENT && path.size() > 1 && calls::lstat(folder_of(path), &status) != 0)
      path = folder_of(path);
    if (errno != ENOENT) return std::nullopt;
  } else if (calls::lstat(path, &status) != 0 || S_ISLNK(status.st_mode)) {
    return std::nullopt;
  }
  std::string folder = folder_of(path);
  if (!is_folder_at_rest(folder, began_ns_, status) || !times_reflect_names(path_of(folder)))
    return std::nullopt;
  return CoveringDirectory{std::move(folder), change_of(status),
                           identity_of(status) + std::to_string(status.st_size) + " " +
                               std::to_string(calls::modified_ns(status)) + " "};
}

std::optional<std::string> DependencySet::text() const {
  struct Below {
    CoveringDirectory covering;
    std::vector<const Line*> lines;
  };
  std::map<std::string, Below> covered;
  std::vector<const Line*> others;
  bool consistent = usable_;
  for (const Line& line : lines_) {
    if (is_stamped_elsewhere(line)) {
      const Line* const rights = find("rights", line.path);
      consistent = consistent && (rights == nullptr || rights->value.starts_with(line.value));
    } else if (auto covering = covering_directory_of(line)) {
      Below& below = covered[covering->folder];
      consistent = consistent && (below.lines.empty() || below.covering.value == covering->value);
      below.covering = std::move(*covering);
      below.lines.push_back(&line);
    } else {
      others.push_back(&line);
    }
  }
  std::string text;
  const auto put = [&](std::string_view prefix, const Line& line) {
    text.append(prefix).append(line.name).append(" ").append(line.value).append(line.path).append("\n");
  };
  for (const Line* line : others) {
    put("", *line);
    const auto below = covered.find(line->path);
    if (numbers_of(line->name) < 4 || below == covered.end()) continue;
    consistent = consistent && line->value.starts_with(below->second.covering.same_moment);
    for (const Line* one : below->second.lines) put("if-", *one);
    covered.erase(below);
  }
  for (const auto& [folder, below] : covered) {
    // One check of the folder instead of one check of the file saves nothing.
    const bool worth_it = below.lines.size() > 1;
    if (worth_it) text.append("folder ").append(below.covering.value).append(folder).append("\n");
    for (const Line* line : below.lines) put(worth_it ? "if-" : "", *line);
  }
  if (!consistent) return std::nullopt;
  return text;
}

}  // namespace enginehost::open
