// What lies below a folder: space, and what its file system keeps. Any thread.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace enginehost {

struct Space {
  std::uint64_t free = 0, total = 0;  // bytes; `free` is what this user may still write
  bool no_more_files = false;         // the file system has no inode left
};
// Nothing where it cannot be asked.
std::optional<Space> space_below(const std::filesystem::path& folder);

// Other machines may work in it at the same time, and locks may or may not be kept.
bool is_shared_file_system(const std::filesystem::path& folder);

// True where a folder's times (mtime, ctime) are known to become others whenever a name is put into it, taken
// out or given to another file, so that unchanged times vouch for the names. False where that is
// not known, as of file systems of other machines and those that a program makes up.
bool times_reflect_names(const std::filesystem::path& folder);

// False where all files show one mode (FAT; Windows, where access lists stand in the place of modes).
bool keeps_modes(const std::filesystem::path& folder);

// Mounted so that nothing in it may run.
bool forbids_execution(const std::filesystem::path& folder);

// How the folder is mounted, as far as it decides what may run from there: "rw", "ro noexec"; empty where it
// cannot be asked, such as for a folder that is not there.
std::string mount_flags(const std::filesystem::path& folder);

// The largest file this process may write; UINT64_MAX without a limit.
std::uint64_t file_size_limit();

// Makes the empty file `to` share the content of `from`, where the file system can; false where it cannot.
bool clone_content(int to, int from);

// Asks for these written bytes to be brought to the disk soon; waits for nothing.
void begin_writing_out(int file, std::uint64_t from, std::uint64_t size);

// From now on what is passed over in the file and never written is a hole, where the file system can.
void allow_holes(int file);

// Where the first hole behind `from` begins: the file's end where it has none. Nothing where the file system
// tells no holes.
std::optional<std::uint64_t> first_hole(int file, std::uint64_t from);

// Waits until all below the folder is on the disk. False with errno when it cannot be brought there.
bool write_out_below(const std::filesystem::path& folder);

// Two names change hands at once; false where the file system or the system knows no such thing.
bool exchange_names(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace enginehost
