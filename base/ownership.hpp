// The users who can change a file or a folder. Everything that is believed, run or emptied is asked about
// here first.
//
// The rule: this user and root may change a path, and nobody else. The answer looks at the file or folder, at
// each link on the way to it and at what the link leads to, and at each folder above. A user who can write a
// folder decides which files are in it; a folder with the sticky bit protects the entries of others.
//
// On Windows administrators take the place of root. The folders above are not looked at there, because only a
// right to delete lets somebody exchange an entry. Personal, named and written paths are not asked about,
// because most folders outside of a user's own let all users write.
//
// Not another user's: files of the overflow user in a user namespace, if the mount is read-only, or if the
// same user owns "/" and the SDK; whatever the modes of a file system without modes say that is mounted for
// this user. A group is no other user if its number is 0 (on macOS also "admin"), or if it is the private
// group of the owner.
//
// A path that cannot be looked at is nobody's: reading it fails later, with its own reason.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/paths.hpp"
#include "base/result.hpp"

namespace enginehost {

// The use of a path. The rule of each is a row of the table in posix/ownership.cpp.
enum class Purpose {
  belief,    // the system's configuration, layers, keys, what others prepared
  personal,  // this user's configuration, state and usual cache
  named,     // a cache, a program or certificates that somebody named, who thereby accepts one other owner
  program,   // a program that PATH finds. Its group is not asked, because every shell starts it, too
  sdk_part,  // the probe and the repository beside the SDK. Folders above them lead to the SDK, too
  home,      // whose home folder it is
  written    // a file that somebody named for a command to write: only who made the links on the way to it
};

// Facts that are known before the path is looked at.
struct Known {
  // A folder above the path that was asked about before: it and those above it are not looked at again.
  std::filesystem::path above;
  // The SDK's folder. Its owner, and its group if that may write it, decide over the SDK itself.
  std::filesystem::path sdk;
};

struct Changers {
  // EH-F22 ("folder", "problem", "owner"): who else may change the path, and must not.
  std::optional<Diagnosis> problem;
  // The other user that the path belongs to, as "user 1000 (alice)": accepted, or the reason of the problem.
  std::string other;
};

// Returns who may change the path besides this user and root. Returns nobody if it is missing. A relative
// path begins at the current folder. Thread safety: any thread.
Changers who_may_change(const std::filesystem::path& path, Purpose purpose, const Known& known = {});

// Returns the text of such a problem of `asked`, after the folder that has it if that is another one:
// "/shared: everybody may write into it".
inline std::string reason_of(const Diagnosis& problem, const std::filesystem::path& asked = {}) {
  const std::string text(problem.value(Key::problem)), folder(problem.value(Key::folder));
  return path_of(folder) == asked ? text : folder + ": " + text;
}

// Makes root's process the owner of the folder (or of the nearest folder above it that exists), for the rest
// of its life. Inside another user's folder that user decides where every name leads: with root's rights, a
// removal could be led into a private folder, and the user could not change what root created. HOME names
// that user's home from then on. Returns the user's number if the process changed. Nothing happens in root's
// own folders, for other users, and on Windows. Call it before other threads run. Error: EH-F22 if the system
// refuses.
Result<std::optional<std::string>> become_owner_of(const std::filesystem::path& folder);

// The reason why this user cannot change `file` in the user's own cache: the file, or the nearest folder
// above it, belongs to another user, as after a command with sudo. `within`: the folder of this user that the
// cache or the file lies in. Empty for root, outside this user's folders, and on Windows.
struct Foreign {
  std::filesystem::path path;
  std::string owner;
  std::filesystem::path within;
};
std::optional<Foreign> made_by_another(const std::filesystem::path& root, const std::filesystem::path& file);

}  // namespace enginehost
