#include "base/ownership.hpp"

#include <grp.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/posix/local_accounts.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t longest_file = 8u << 20;

// Returns the fields of the first line whose third field is that number; passwd(5), group(5).
std::vector<std::string> line_of(const char* file, std::uint64_t number, std::size_t fields) {
  const std::string wanted = std::to_string(number);
  if (const auto text = read_file(file, longest_file))
    for (const std::string& line : split(*text, '\n'))
      if (auto parts = split(line, ':'); parts.size() == fields && parts[2] == wanted) return parts;
  return {};
}

// The other writers that matter. Group 0 and the private group are among every_group only.
enum class Writers { any_owner, everybody, other_groups, every_group };

// The parts of a path that are looked at.
enum class Extent { itself, whole_way, links };

struct Rule {
  bool accepts_one_owner;  // besides this user and root
  Writers asked;           // each includes those before it
  Extent extent;
};
// In the order of Purpose.
constexpr Rule rules[] = {
    {false, Writers::other_groups, Extent::whole_way},  // belief
    {false, Writers::other_groups, Extent::whole_way},  // personal
    {true, Writers::other_groups, Extent::whole_way},   // named
    {false, Writers::everybody, Extent::whole_way},     // program
    {false, Writers::every_group, Extent::itself},      // sdk_part
    {false, Writers::any_owner, Extent::itself},        // home
    {false, Writers::any_owner, Extent::links},         // written
};

#ifdef __APPLE__
constexpr gid_t administrators[] = {0, 80};  // "wheel" and "admin"
#else
constexpr gid_t administrators[] = {0};
#endif

constexpr int most_links = 40;  // as the kernel

std::string text_of_user(uid_t uid) {
  const auto user = local_user(uid);
  return "user " + std::to_string(uid) + (user ? " (" + user->name + ")" : std::string());
}

Diagnosis untrusted(const std::string& folder, std::string_view problem, const calls::Status& status) {
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(status.st_mode & 07777));
  return std::move(diagnose(Code::cache_folder_not_trusted)
                       .with(Key::folder, folder)
                       .with(Key::problem, problem)
                       .with(Key::owner, std::to_string(status.st_uid), "stat")
                       .with(Key::mode, mode, "stat"));
}

// A group whose only member is that user (a default of many systems) adds no other writer.
bool is_private_group(gid_t group, uid_t uid) {
  const auto user = local_user(uid);
  const auto found = local_group(group);
  // The group is known only to a directory service, which is not queried because that needs a socket.
  // Services that give each user a group use the user's number for it.
  if (!user && !found) return group == uid && (uid != ::geteuid() || group == ::getegid());
  if (!user || !found || user->group != group || found->name != user->name) return false;
  return std::ranges::all_of(found->members, [&](const std::string& member) { return member == user->name; });
}

// A caller with less rights than this program must not give it code. With set-user-ID the program's user is
// another one than its caller.
bool is_the_callers(uid_t uid) { return uid != 0 && uid == ::getuid() && has_more_rights_than_its_caller(); }

// Returns whether users have other numbers here than on the machine.
bool is_in_user_namespace() {
  // The first namespace maps every number to itself.
  const std::string map = read_kernel_file("/proc/self/uid_map");
  std::istringstream words(map);
  std::uint64_t inside = 0, outside = 0, count = 0;
  return words >> inside >> outside >> count && (inside != 0 || outside != 0 || count != 4294967295u);
}

// Returns the user or group that stands for all that a user namespace has no number for.
std::int64_t overflow_number(const char* file) {
  return parse_integer(trim(read_kernel_file(file))).value_or(-1);
}

bool is_owner(const fs::path& path, uid_t uid) {
  calls::Status status{};
  return calls::stat(path.c_str(), &status) == 0 && status.st_uid == uid;
}

struct Writer {
  bool is_group;
  id_t id;
};

// Returns who may write besides the owner and everybody, if the mode says that a group may. With an access
// list (acl(5)) that is only the most that any user or group of the list may.
std::vector<Writer> other_writers_of(const std::string& path, const calls::Status& status) {
#ifdef __linux__
  struct Entry {
    std::uint16_t tag, rights;
    std::uint32_t id;
  };
  constexpr std::uint16_t user = 0x02, group_of_file = 0x04, group = 0x08, write = 0x02;
  constexpr std::size_t header = 4;
  alignas(Entry) char list[header + 512 * sizeof(Entry)];
  const ssize_t size = ::getxattr(path.c_str(), "system.posix_acl_access", list, sizeof list);
  if (size > static_cast<ssize_t>(header)) {
    std::vector<Entry> entries((static_cast<std::size_t>(size) - header) / sizeof(Entry));
    std::memcpy(entries.data(), list + header, entries.size() * sizeof(Entry));
    std::vector<Writer> writers;
    for (const Entry& entry : entries) {
      if ((entry.rights & write) == 0) continue;
      if (entry.tag == group_of_file) writers.push_back({true, status.st_gid});
      if (entry.tag == user || entry.tag == group) writers.push_back({entry.tag == group, entry.id});
    }
    return writers;
  }
#else
  static_cast<void>(path);
#endif
  return {{true, status.st_gid}};
}

// Returns true in the usual case: no link, no other owner, no other writer. One call for each part of the
// path and little code, because every open by a cached decision runs this first (docs/decisions/038).
bool is_plainly_safe(std::string path, const std::string& above) {
  const uid_t user = ::geteuid();
  if (!path.starts_with('/') || has_more_rights_than_its_caller()) return false;
  std::size_t end = path.starts_with(above + "/") ? above.size() : 0;
  while (end < path.size()) {
    end = std::min(path.find('/', end + 1), path.size());
    const char separator = std::exchange(path[end], '\0');
    calls::Status status{};
    if (calls::lstat(path.c_str(), &status) != 0) return false;
    path[end] = separator;
    const bool sticky = end < path.size() && (status.st_mode & S_ISVTX) != 0;
    if (S_ISLNK(status.st_mode) || (status.st_uid != user && status.st_uid != 0) ||
        ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky))
      return false;
  }
  return true;
}

// One question about one path.
class Question {
 public:
  Question(const Rule& rule, const Known& known) : rule_(rule), above_(known.above.native()) {
    if (!known.sdk.empty()) knows_sdk_ = calls::stat(known.sdk.c_str(), &sdk_) == 0;
  }

  Changers answer(const std::string& path) {
    calls::Status status{};
    if (rule_.extent != Extent::itself)
      walk(path);
    else if (calls::stat(path.c_str(), &status) == 0)
      static_cast<void>(is_safe(path, status, true));
    if (other_) answer_.other = text_of_user(*other_);
    return std::move(answer_);
  }

 private:
  // Looks at the absolute path part by part, and at the parts of each link's target.
  void walk(const std::string& path) {
    std::string at, rest = path;
    calls::Status status{};
    const auto begin_at_root = [&] {
      at = "/";
      in_open_folder_ = false;
      return calls::stat("/", &status) == 0 && is_safe(at, status, false);
    };
    if (!above_.empty() && path.size() > above_.size() && path.starts_with(above_) &&
        path[above_.size()] == '/') {
      at = above_;
      rest.erase(0, above_.size());
    } else if (!begin_at_root()) {
      return;
    }
    for (int links = 0; !rest.empty();) {
      const std::size_t begin = rest.find_first_not_of('/'), end = rest.find('/', begin);
      if (begin == std::string::npos) return;
      const std::string name = rest.substr(begin, end - begin);
      rest.erase(0, end);
      if (name == ".") continue;
      if (name == "..") {
        at.resize(std::max<std::size_t>(at.find_last_of('/'), 1));
        in_open_folder_ = calls::stat(at.c_str(), &status) == 0 && (status.st_mode & S_IWOTH) != 0;
        continue;
      }
      std::string next = at.ends_with('/') ? at + name : at + "/" + name;
      if (calls::lstat(next.c_str(), &status) != 0) return;
      if (S_ISLNK(status.st_mode)) {
        std::error_code error;
        const fs::path target = fs::read_symlink(next, error);
        if (!belongs_here(next, status) || error || ++links > most_links) return;
        if (target.is_absolute() && !begin_at_root()) return;
        rest = target.native() + rest;
        continue;
      }
      at = std::move(next);
      if (!is_safe(at, status, rest.find_first_not_of('/') == std::string::npos)) return;
      in_open_folder_ = (status.st_mode & S_IWOTH) != 0;
    }
  }

  bool is_safe(const std::string& at, const calls::Status& status, bool is_last) {
    if (rule_.extent == Extent::links) return true;
    if (!belongs_here(at, status)) return false;
    // The sticky bit lets only an entry's owner exchange it. In the last folder all that others add is read.
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0 || rule_.asked == Writers::any_owner ||
        (!is_last && (status.st_mode & S_ISVTX) != 0) ||
        (status.st_uid == ::geteuid() && !keeps_modes(path_of(at))))
      return true;
    if ((status.st_mode & S_IWOTH) != 0) return refuse(at, "everybody may write into it", status);
    if (rule_.asked == Writers::everybody) return true;
    for (const Writer& writer : other_writers_of(at, status)) {
      if (writer.is_group ? is_harmless(writer.id, status) : is_trusted(writer.id)) continue;
      const auto group = writer.is_group ? local_group(writer.id) : std::nullopt;
      const std::string who = !writer.is_group ? text_of_user(writer.id)
                                               : "the members of group " + std::to_string(writer.id) +
                                                     (group ? " (" + group->name + ")" : std::string());
      return refuse(at, who + " may write into it", status);
    }
    return true;
  }

  bool belongs_here(const std::string& at, const calls::Status& status) {
    const uid_t uid = status.st_uid;
    const bool is_callers = is_the_callers(uid);
    if (is_trusted(uid) || stands_for_root(at, uid)) return true;
    if (rule_.accepts_one_owner && !is_callers && !other_) {
      other_ = uid;
      return true;
    }
    other_ = uid;
    return refuse(
        at,
        "it belongs to " + text_of_user(uid) +
            (is_callers ? ", who has less rights than this program" : ", who is neither this user nor root"),
        status);
  }

  bool is_trusted(uid_t uid) const {
    return uid == 0 || (uid == ::geteuid() && !is_the_callers(uid)) || (knows_sdk_ && uid == sdk_.st_uid) ||
           (rule_.accepts_one_owner && other_ == uid);
  }

  // In a user namespace root's files may have the overflow user, as those of other users do. Somebody else
  // may have made what is in a folder that everybody may write.
  bool stands_for_root(const std::string& at, uid_t uid) {
    if (!overflow_user_)
      overflow_user_ = is_in_user_namespace() ? overflow_number("/proc/sys/kernel/overflowuid") : -1;
    if (*overflow_user_ != uid) return false;
    return mount_flags(path_of(at)).starts_with("ro") ||
           (!in_open_folder_ && is_owner("/", uid) && is_owner(library_folder(), uid));
  }

  // `status`: of the file that the group may write.
  bool is_harmless(gid_t group, const calls::Status& status) const {
    if (knows_sdk_ && (sdk_.st_mode & S_IWGRP) != 0 && sdk_.st_gid == group) return true;
    if (rule_.asked == Writers::every_group) return false;
    return std::ranges::find(administrators, group) != std::end(administrators) ||
           is_private_group(group, status.st_uid) || is_private_group(group, ::geteuid()) ||
           (overflow_user_ == status.st_uid && overflow_number("/proc/sys/kernel/overflowgid") == group);
  }

  bool refuse(const std::string& at, std::string_view problem, const calls::Status& status) {
    answer_.problem = untrusted(at, problem, status);
    return false;
  }

  const Rule& rule_;
  const std::string& above_;
  calls::Status sdk_{};
  bool knows_sdk_ = false, in_open_folder_ = false;
  std::optional<std::int64_t> overflow_user_;  // -1: there is none
  std::optional<uid_t> other_;
  Changers answer_;
};

}  // namespace

std::optional<LocalUser> local_user(std::uint64_t uid) {
  const std::vector<std::string> fields = line_of("/etc/passwd", uid, 7);
  if (fields.empty()) return {};
  const auto group = parse_integer(fields[3]);
  return LocalUser{fields[0], fields[5],
                   group && *group >= 0 ? static_cast<std::uint64_t>(*group) : UINT64_MAX};
}

std::optional<LocalGroup> local_group(std::uint64_t gid) {
  const std::vector<std::string> fields = line_of("/etc/group", gid, 4);
  if (fields.empty()) return {};
  LocalGroup group{fields[0], split(fields[3], ',')};
  std::erase(group.members, "");
  return group;
}

Changers who_may_change(const fs::path& path, Purpose purpose, const Known& known) {
  if (path.empty()) return {};
  const Rule& rule = rules[static_cast<std::size_t>(purpose)];
  if (rule.extent != Extent::itself && is_plainly_safe(path.native(), known.above.native())) return {};
  std::error_code error;
  return Question(rule, known)
      .answer(path.is_relative() ? fs::absolute(path, error).native() : path.native());
}

Result<std::optional<std::string>> become_owner_of(const fs::path& folder) {
  calls::Status status{};
  fs::path at = folder;
  while (calls::stat(at.c_str(), &status) != 0 && at != at.parent_path()) at = at.parent_path();
  if (::geteuid() != 0 || status.st_uid == 0) return std::optional<std::string>();
  const uid_t user = status.st_uid;
  const auto account = local_user(user);
  const gid_t group = account ? static_cast<gid_t>(account->group) : status.st_gid;
  if (::setgroups(1, &group) != 0 || ::setgid(group) != 0 || ::setuid(user) != 0 || ::geteuid() != user)
    return fail(untrusted(
        at.native(),
        "it belongs to user " + std::to_string(user) + ", and this process of root may not become that user",
        status));
  // A home that others cannot enter, or that counts for nobody else, is of no use to that user.
  std::error_code error;
  if (account && fs::is_directory(account->home, error) &&
      !is_owner(environment_variable("HOME").value_or(""), user))
    ::setenv("HOME", account->home.c_str(), 1);
  return std::optional(std::to_string(user));
}

std::optional<Foreign> made_by_another(const fs::path& root, const fs::path& file) {
  const uid_t user = ::geteuid();
  if (user == 0) return {};
  std::optional<Foreign> found;
  calls::Status status{};
  for (fs::path at = file; at.has_relative_path(); at = at.parent_path()) {
    const bool known = calls::lstat(at.c_str(), &status) == 0;
    if (known && status.st_uid != user && (!found || at == root || !is_below(at, root)))
      found = Foreign{at, std::to_string(status.st_uid), {}};
    if (known && status.st_uid == user && (at == root || !is_below(at, root))) {
      if (found) found->within = at;
      return found;
    }
  }
  return {};
}

}  // namespace enginehost
