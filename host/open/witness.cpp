#include "host/open/witness.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <vector>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_tickets = 100;
// A change within one tick of a file system's clock leaves the time as it is; tickets wait until that cannot
// be.
constexpr std::int64_t rest_ns = 500'000'000;
// Some file systems count in whole seconds, or in twos.
constexpr std::int64_t coarse_rest_ns = 3'000'000'000;

template <class Number>
bool take_number(std::string_view& text, Number& value) {
  const std::size_t space = text.find(' ');
  const auto number = parse_integer(text.substr(0, space));
  if (!number || space == std::string_view::npos) return false;
  value = static_cast<Number>(*number);
  text.remove_prefix(space + 1);
  return true;
}

bool is_unchanged(std::string_view value, bool with_rights) {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;
  if (!take_number(value, device) || !take_number(value, inode) || !take_number(value, size) ||
      !take_number(value, modified) || (with_rights && !take_number(value, changed)))
    return false;
  // Not stamp_of(): a path object for each of them costs more than the calls.
  calls::Status now{};
  return calls::stat(std::string(value), &now) == 0 && static_cast<std::uint64_t>(now.st_dev) == device &&
         now.st_ino == inode && static_cast<std::uint64_t>(now.st_size) == size &&
         calls::modified_ns(now) == modified && (!with_rights || calls::changed_ns(now) == changed);
}

bool is_absent(const std::string& path) {
  calls::Status status{};
  return calls::stat(path, &status) != 0;
}

bool is_writable_folder(const std::string& folder) {
  calls::Status status{};
  return calls::stat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
         calls::access(folder, W_OK | X_OK) == 0;
}

}  // namespace

bool is_witness(std::string_view name) {
  for (const std::string_view one :
       {"stamp", "rights", "absent", "empty", "writable", "runnable", "until", "made"})
    if (name == one) return true;
  return false;
}

bool holds(std::string_view name, std::string_view value, std::int64_t now) {
  if (name == "stamp") return is_unchanged(value, false);
  if (name == "absent") return is_absent(std::string(value));
  if (name == "rights") return is_unchanged(value, true);
  if (name == "empty") return is_empty_folder(std::string(value));
  if (name == "writable") return is_writable_folder(std::string(value));
  if (name == "runnable") return calls::access(std::string(value), X_OK) == 0;
  const auto seconds = parse_integer(value);
  if (!seconds) return false;
  if (name == "until") return *seconds > now;
  // A clock that was set back would make it live for too long.
  return name == "made" && *seconds <= now + 1;
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

bool is_at_rest(const std::string& path, std::int64_t moment_ns) {
  calls::Status status{};
  if (calls::stat(path, &status) != 0) return true;
  const auto settled = [&](std::int64_t at) {
    return at + (at % 1'000'000'000 == 0 ? coarse_rest_ns : rest_ns) < moment_ns;
  };
  return settled(calls::modified_ns(status)) && settled(calls::changed_ns(status));
}

bool is_empty_folder(const std::string& folder) {
  bool empty = true;
  calls::for_each_name(folder, [&](int, const char* name) {
    empty = empty && (std::string_view(name) == "." || std::string_view(name) == "..");
  });
  return empty;
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
  if (all.size() < most_tickets) return;
  for (const fs::path& file : all) fs::remove(file, error);
}

}  // namespace enginehost::open
