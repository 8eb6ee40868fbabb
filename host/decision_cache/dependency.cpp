#include "host/decision_cache/dependency.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/record.hpp"
#include "base/text.hpp"
#include "host/history/store.hpp"

namespace enginehost::open {
namespace {

using Kind = Dependency::Kind;
using What = platform::MachineInput::What;

// A change within one tick of a file system's clock keeps the time. Decisions wait until that is impossible.
constexpr std::int64_t rest_ns = 500'000'000;
// Some file systems count in whole seconds, or in steps of two.
constexpr std::int64_t coarse_rest_ns = 3'000'000'000;
// Two clocks are read one after the other. A clock that was set differs by more.
constexpr std::int64_t between_two_clocks_ns = 1'000'000;

struct KindOfLine {
  std::string_view name;
  std::size_t numbers;
};
// In the order of Kind.
constexpr KindOfLine kinds[] = {{"stamp", 4},  {"rights", 5}, {"content", 2},  {"names", 2},    {"there", 0},
                                {"absent", 0}, {"empty", 0},  {"writable", 0}, {"runnable", 0}, {"noexec", 0},
                                {"limits", 2}, {"until", 1},  {"made", 1},     {"boot", 1}};

bool is_there(const std::string& path) {
  calls::Status status{};
  return calls::stat(path, &status) == 0;
}

Dependency::Stamp sum_of(std::string_view text) {
  const auto sum = checksum(text);
  return {sum[0], sum[1]};
}

std::string names_in(const std::string& folder) {
  std::vector<std::string> names;
  calls::for_each_name(folder.c_str(), [&](int, const char* name) { names.emplace_back(name); });
  std::sort(names.begin(), names.end());
  return join(names, "/");
}

std::string limits_now() {
  std::string text;
  for (const auto& [name, value] : history::process_limits()) text.append(value).append(", ");
  return text;
}

// Fills in the numbers of such a dependency as they are now. Returns false if the path does not exist.
bool look(Kind kind, const std::string& path, Dependency::Stamp& stamp) {
  switch (kind) {
    case Kind::content:
      stamp = sum_of(read_kernel_file(path_of(path)));
      return true;
    case Kind::names:
      stamp = sum_of(names_in(path));
      return true;
    case Kind::limits:
      stamp = sum_of(limits_now());
      return true;
    case Kind::boot:
      stamp = {static_cast<std::uint64_t>(boot_moment_ns())};
      return true;
    default:
      break;
  }
  calls::Status status{};
  if (calls::stat(path, &status) != 0) return false;
  stamp = {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
           static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(calls::modified_ns(status)),
           kind == Kind::rights ? static_cast<std::uint64_t>(calls::changed_ns(status)) : 0};
  return true;
}

bool is_settled(std::int64_t time_ns, std::int64_t moment_ns) {
  return time_ns + (time_ns % 1'000'000'000 == 0 ? coarse_rest_ns : rest_ns) < moment_ns;
}

// Returns true if nothing happened to the file shortly before the moment or since. Checks mtime and ctime;
// only ctime shows a rename.
bool is_at_rest(const std::string& path, std::int64_t moment_ns) {
  calls::Status status{};
  return calls::stat(path, &status) != 0 || (is_settled(calls::modified_ns(status), moment_ns) &&
                                             is_settled(calls::changed_ns(status), moment_ns));
}

// Returns the dependency on the path as it is now.
Dependency dependency_on(Kind kind, const std::string& path) {
  Dependency dependency{kind, {}, path};
  // Rights, mounts and sentinels are checked when the decision is used, whatever they are now.
  if (kind == Kind::writable || kind == Kind::runnable || kind == Kind::noexec || kind == Kind::empty)
    return dependency;
  const bool is_read = kind == Kind::content || kind == Kind::names;
  if ((is_read && !is_there(path)) || !look(kind, path, dependency.stamp)) dependency.kind = Kind::absent;
  return dependency;
}

}  // namespace

bool Dependency::holds(std::int64_t now) const {
  const auto seconds = static_cast<std::int64_t>(stamp[0]);
  switch (kind) {
    case Kind::there:
      return calls::access(path, F_OK) == 0;
    case Kind::absent:
      return !is_there(path);
    case Kind::empty:
      return is_empty_folder(path);
    case Kind::writable:
      return calls::access(path, W_OK | X_OK) == 0;
    case Kind::runnable:
      return calls::access(path, X_OK) == 0;
    case Kind::noexec:
      return forbids_execution(path_of(path));
    case Kind::until:
      return now < seconds;
    case Kind::made:
      // If the clock was set back, the decision would live for too long.
      return seconds <= now + 1;
    case Kind::boot:
      return std::abs(boot_moment_ns() - static_cast<std::int64_t>(stamp[0])) <= between_two_clocks_ns;
    default:
      Stamp current{};
      return look(kind, path, current) && current == stamp;
  }
}

std::string Dependency::line() const {
  const KindOfLine& of_kind = kinds[static_cast<std::size_t>(kind)];
  std::string line(of_kind.name);
  for (std::size_t i = 0; i < of_kind.numbers; ++i) line.append(" ").append(std::to_string(stamp[i]));
  return line.append(" ").append(path).append("\n");
}

bool Dependency::take(std::string_view& text) {
  auto line = take_line(text);
  if (!line) return false;
  const std::string_view name = line->substr(0, line->find(' '));
  const auto* const found = std::find_if(std::begin(kinds), std::end(kinds),
                                         [&](const KindOfLine& one) { return one.name == name; });
  if (found == std::end(kinds) || name.size() == line->size()) return false;
  line->remove_prefix(name.size() + 1);
  kind = static_cast<Kind>(found - std::begin(kinds));
  stamp = {};
  for (std::size_t i = 0; i < found->numbers; ++i)
    if (!take_number(*line, stamp[i])) return false;
  path = *line;
  return true;
}

void DependencySet::add(const Dependency& dependency) {
  usable_ = usable_ && dependency.path.find('\n') == std::string::npos;
  lines_.insert(dependency.line());
}

void DependencySet::add(Kind kind, const std::string& path) {
  if (kind == Kind::stamp && std::ranges::count(identified_, path) != 0) return;
  if (kind == Kind::stamp || kind == Kind::rights) usable_ = usable_ && is_at_rest(path, began_ns_);
  add(dependency_on(kind, path));
}

void DependencySet::add(const platform::MachineInput& input) {
  switch (input.what) {
    case What::stamp:
      return add(Kind::stamp, input.path);
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

std::optional<std::string> DependencySet::text() const {
  return usable_ ? std::optional(join({lines_.begin(), lines_.end()}, "")) : std::nullopt;
}

bool DependencySet::holds(std::string_view text, std::int64_t now) {
  Dependency one;
  while (!text.empty())
    if (!one.take(text) || !one.holds(now)) return false;
  return true;
}

bool is_empty_folder(const std::string& folder) {
  bool empty = true;
  const int why = calls::for_each_name(folder.c_str(), [&](int, const char* name) {
    empty = empty && (std::string_view(name) == "." || std::string_view(name) == "..");
  });
  // A folder that cannot be read now may hold something.
  return empty && (why == 0 || why == ENOENT || why == ENOTDIR);
}

// Not SHA-256: the first use of its library takes longer than the rest of an open. Each round takes two
// words, each into its own sum.
std::array<std::uint64_t, 2> checksum(std::string_view text) {
  std::uint64_t one = 0x9E3779B97F4A7C15u ^ text.size(), two = text.size();
  std::uint64_t words[2];
  const auto add = [&] {
    one = (one ^ words[0]) * 0xBF58476D1CE4E5B9u;
    one ^= one >> 29;
    two = (two ^ words[1]) * 0x94D049BB133111EBu;
    two ^= two >> 31;
  };
  for (; text.size() >= sizeof words; text.remove_prefix(sizeof words)) {
    std::memcpy(words, text.data(), sizeof words);
    add();
  }
  words[0] = words[1] = 0;
  std::memcpy(words, text.data(), text.size());
  add();
  return {one + two, one ^ two * 0xD6E8FEB86659FD93u};
}

std::string checksum_text(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string name;
  for (const std::uint64_t half : checksum(text))
    for (int shift = 60; shift >= 0; shift -= 4) name.push_back(digits[(half >> shift) & 15]);
  return name;
}

std::int64_t wall_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace enginehost::open
