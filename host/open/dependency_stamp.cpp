#include "host/open/dependency_stamp.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/first_bytes.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/history/store.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_decisions = 100;
constexpr std::size_t longest = 1u << 20;  // for files whose content is compared
// A change within one tick of a file system's clock keeps the time. Decisions wait until that is impossible.
constexpr std::int64_t rest_ns = 500'000'000;
// Some file systems count in whole seconds, or in steps of two.
constexpr std::int64_t coarse_rest_ns = 3'000'000'000;

// Two clocks are read one after the other. A clock that was set differs by more.
constexpr std::int64_t between_two_clocks_ns = 1'000'000;

// Reads "NUMBER ", negative for times before 1970.
template <class Number>
bool take(const char*& text, Number& value) {
  const bool negative = *text == '-';
  if (negative) ++text;
  if (*text < '0' || *text > '9') return false;
  std::uint64_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + static_cast<std::uint64_t>(*text - '0');
  value = static_cast<Number>(negative ? -number : number);
  return *text++ == ' ';
}

bool is_absent(const char* path) {
  calls::Status status{};
  return calls::stat(path, &status) != 0;
}

bool says_the_same(std::string_view name, const char* value) {
  const char* const path = std::strchr(value, ' ');
  if (path == nullptr) return false;
  return (name == "names" ? checksum(names_in(path + 1)) : checksum(Content(path + 1).text())) ==
         std::string_view(value, static_cast<std::size_t>(path - value));
}

// Checks a folder whose time changed. `value`: the value of the "still" line.
[[gnu::noinline]] bool is_still_empty(const char* value) {
  for (int numbers = 0; numbers < 3; ++numbers)
    if (std::uint64_t ignored = 0; !take(value, ignored)) return false;
  return is_empty_folder(value);
}

std::string limits_now() {
  std::vector<std::string> texts;
  for (const auto& [name, value] : history::process_limits()) texts.push_back(value);
  return join(texts, ", ");
}

// Rare line kinds. Kept out of line so that their 4 KiB buffer is not part of hold()'s frame.
[[gnu::noinline, gnu::cold]] bool holds_seldom(std::string_view name, const char* value) {
  if (name == "content" || name == "names") return says_the_same(name, value);
  if (name == "noexec") return forbids_execution(value);
  return name == "limits" && limits_now() == value;
}

}  // namespace

bool is_dependency_stamp(std::string_view name) {
  for (const std::string_view one : {"stamp", "rights", "absent", "empty", "until", "made", "limits"})
    if (name == one) return true;
  return false;
}

FileStamp stamp_in(std::string_view& value) {
  FileStamp stamp;
  const char* at = value.data();
  static_cast<void>(take(at, stamp.device) && take(at, stamp.inode) && take(at, stamp.size) &&
                    take(at, stamp.modified_ns));
  value.remove_prefix(static_cast<std::size_t>(at - value.data()));
  return stamp;
}

// `of`: which properties of the file the line has.
bool DependencyStamps::file_stayed(Of of, const char* value) {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;
  const bool stamp = of == Of::stamp || of == Of::rights, change = of == Of::rights || of == Of::change;
  if (!take(value, device) || !take(value, inode) ||
      (stamp && (!take(value, size) || !take(value, modified))) || (change && !take(value, changed)))
    return false;
  // Not stamp_of(): its path object costs more than the call.
  calls::Status now{};
  return calls::stat(value, &now) == 0 && static_cast<std::uint64_t>(now.st_dev) == device &&
         now.st_ino == inode &&
         (!stamp ||
          (static_cast<std::uint64_t>(now.st_size) == size && calls::modified_ns(now) == modified)) &&
         (!change || calls::changed_ns(now) == changed);
}

bool DependencyStamps::hold(std::string_view name, std::string_view value) {
  const char* const text = value.data();
  switch (first_bytes(name)) {
    case first_bytes("stamp"):
      return folder_stayed_ = file_stayed(Of::stamp, text);
    case first_bytes("rights"):
      return folder_stayed_ = file_stayed(Of::rights, text);
    case first_bytes("identity"):
      return folder_stayed_ = file_stayed(Of::identity, text);
    case first_bytes("folder"):
      folder_stayed_ = file_stayed(Of::change, text);
      return true;
    case first_bytes("if-absent"):
      return folder_stayed_ || is_absent(text);
    case first_bytes("if-there"):
      return folder_stayed_ || calls::access(text, F_OK) == 0;
    case first_bytes("absent"):
      return is_absent(text);
    case first_bytes("there"):
      return calls::access(text, F_OK) == 0;
    case first_bytes("writable"):
      return calls::access(text, W_OK | X_OK) == 0;
    case first_bytes("runnable"):
      return calls::access(text, X_OK) == 0;
    case first_bytes("still"):
      return file_stayed(Of::change, text) || is_still_empty(text);
    case first_bytes("empty"):
      return is_empty_folder(text);
    case first_bytes("boot"): {
      const char* at = text;
      std::int64_t before = 0;
      return take(at, before) && std::abs(boot_moment_ns() - before) <= between_two_clocks_ns;
    }
    case first_bytes("until"):
      return parse_integer(value).value_or(0) > now_;
    case first_bytes("made"):
      // If the clock was set back, the decision would live for too long.
      return parse_integer(value).value_or(INT64_MAX) <= now_ + 1;
    default:
      return holds_seldom(name, text);
  }
}

std::string stamp_line(const std::string& path, bool with_rights) {
  calls::Status status{};
  if (calls::stat(path, &status) != 0) return "absent " + path + "\n";
  std::string line = (with_rights ? "rights " : "stamp ") + std::to_string(status.st_dev) + " " +
                     std::to_string(status.st_ino) + " " + std::to_string(status.st_size) + " " +
                     std::to_string(calls::modified_ns(status)) + " ";
  if (with_rights) line += std::to_string(calls::changed_ns(status)) + " ";
  return line + path + "\n";
}

std::string limits_line() { return "limits " + limits_now() + "\n"; }

bool is_settled(std::int64_t time_ns, std::int64_t moment_ns) {
  return time_ns + (time_ns % 1'000'000'000 == 0 ? coarse_rest_ns : rest_ns) < moment_ns;
}

bool is_at_rest(const std::string& path, std::int64_t moment_ns) {
  calls::Status status{};
  return calls::stat(path, &status) != 0 || (is_settled(calls::modified_ns(status), moment_ns) &&
                                             is_settled(calls::changed_ns(status), moment_ns));
}

bool is_empty_folder(const char* folder) {
  bool empty = true;
  const int why = calls::for_each_name(folder, [&](int, const char* name) {
    empty = empty && (std::string_view(name) == "." || std::string_view(name) == "..");
  });
  // A folder that cannot be read now may hold something.
  return empty && (why == 0 || why == ENOENT || why == ENOTDIR);
}

// Not SHA-256: the first use of its library takes longer than the rest of an open. Each round takes two
// words, each into its own sum.
std::string checksum(std::string_view text) {
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
  static constexpr char digits[] = "0123456789abcdef";
  char name[32];
  char* place = name;
  for (const std::uint64_t half : {one + two, one ^ two * 0xD6E8FEB86659FD93u})
    for (int shift = 60; shift >= 0; shift -= 4) *place++ = digits[(half >> shift) & 15];
  return std::string(name, sizeof name);
}

Content::Content(const char* file) {
  const FileDescriptor opened(calls::open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!opened.valid()) return;
  const auto read_into = [&](char* place, std::size_t room) {
    return static_cast<std::size_t>(std::max<ssize_t>(0, calls::read(opened.get(), place, room)));
  };
  size_ = read_into(short_.data(), short_.size());
  // A file, also one of the kernel, ends where a read returns less than requested.
  if (size_ < short_.size()) return;
  long_.assign(short_.data(), size_);
  for (std::size_t got = short_.size(); got == short_.size() && size_ <= longest; size_ += got) {
    long_.resize(size_ + short_.size());
    got = read_into(long_.data() + size_, short_.size());
  }
}

std::string names_in(const char* folder) {
  std::vector<std::string> names;
  calls::for_each_name(folder, [&](int, const char* name) { names.emplace_back(name); });
  std::sort(names.begin(), names.end());
  return join(names, "/");
}

std::int64_t wall_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void make_room(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> all;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    all.push_back(at->path());
  if (all.size() < most_decisions) return;
  for (const fs::path& file : all) fs::remove(file, error);
}

}  // namespace enginehost::open
