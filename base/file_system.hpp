// Properties of the file system below a folder, such as free space. Thread safety: any thread.
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
// Returns nothing if the system does not report it.
std::optional<Space> space_below(const std::filesystem::path& folder);

// Returns true for a file system that other machines may use at the same time. Locks may or may not work there.
bool is_shared_file_system(const std::filesystem::path& folder);

// Returns false if all files show one mode (FAT; Windows, which has access lists instead of modes).
bool keeps_modes(const std::filesystem::path& folder);

// Returns true if the mount forbids running programs (noexec).
bool forbids_execution(const std::filesystem::path& folder);

// Returns a folder for temporary files in which this user can write and run programs: TMPDIR, else one of the usual
// ones. Empty if there is none, and on Windows, where each user's own folder can be written.
std::filesystem::path usable_temporary_folder();

// Returns the mount flags that decide what may run there: "rw", "ro noexec". Empty if they cannot be read, for example
// because the folder is missing.
std::string mount_flags(const std::filesystem::path& folder);

// Returns the largest file size this process may write; UINT64_MAX without a limit.
std::uint64_t file_size_limit();

// Makes the empty file `to` share the content of `from`. Returns false if the file system cannot.
bool clone_content(int to, int from);

// Starts writing these bytes to the disk; does not wait.
void begin_writing_out(int file, std::uint64_t from, std::uint64_t size);

// Makes skipped ranges of the file holes from now on, where the file system supports them.
void allow_holes(int file);

}  // namespace enginehost
