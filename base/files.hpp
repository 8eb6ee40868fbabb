// Files, folders and durable writes. Paths are absolute unless a function says otherwise; nothing here
// changes the process (current folder, umask). All functions may be called from any thread.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/result.hpp"

namespace enginehost {

// Owns a file descriptor; closed on destruction, never inherited by children (everything opens with
// O_CLOEXEC).
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();
  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }
  int release();
  void close();

 private:
  int number_ = -1;
};

// The fields of stat that detect another or a changed file without reading it.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified_ns = 0;  // mtime; no ctime, because link() changes it
  bool operator==(const FileStamp&) const = default;
};

// Returns the stamp of a file. Errors: `code`, by default EH-F01 (missing or unreadable), with "file" and the
// errno facts.
Result<FileStamp> stamp_of(const std::filesystem::path& file, Code code = Code::file_not_readable);

// Opens a file named by a user for reading, without ever blocking. A named pipe is an error ("problem"),
// because opening it would block; so is a device without data. Names of this process's own descriptors
// (/dev/stdin, /dev/fd/3, /proc/self/fd/3) may be pipes, and are waited for. Other errors: as read_file.
Result<FileDescriptor> open_to_read(const std::filesystem::path& file, Code code = Code::file_not_readable);

// Returns the whole file, opened by open_to_read(). A file longer than `limit` bytes is an error ("size" and
// "limit" in the evidence).
Result<std::string> read_file(const std::filesystem::path& file, std::uint64_t limit = 64u << 20,
                              Code code = Code::file_not_readable);

// Writes all bytes, at the file's position or at an offset. Returns 0 or an errno.
int write_whole(int file, std::string_view bytes);
int write_whole_at(int file, std::string_view bytes, std::uint64_t at);

// Passes the rest of an open file to `take`, up to 1 MiB at a time; the first error ends it. `file` may be
// the result of a failed open. Errors: `code` with "file" and the errno facts.
Result<void> read_pieces(int file, const std::filesystem::path& named, Code code,
                         const std::function<Result<void>(std::string_view)>& take);

// Returns the first bytes of a kernel file (/proc, /sys) without trailing newline; empty if absent or
// unreadable.
std::string read_kernel_file(const std::filesystem::path& file);

// Creates a folder and its parents with mode 0755 modified by umask. An existing folder is success. Errors:
// EH-F15 (no space), EH-F16 (read-only or not permitted) with "folder".
Result<void> make_folders(const std::filesystem::path& folder);

// Replaces `file` with `bytes`. A reader sees the old or the new content, even after a crash or a power cut:
// temporary file in the same folder, fsync, rename, fsync of the folder. durable=false omits the fsyncs, for
// records that need not survive a power cut. Errors: EH-F15 (full, quota), EH-F16 (read-only, permission),
// EH-F17 (file size limit), with "file", "folder" and the errno facts.
Result<void> write_file(const std::filesystem::path& file, std::string_view bytes, bool durable = true);

struct CopyFailure {
  bool reading = false;  // false: writing failed
  int error_number = 0;
};

// Copies the bytes of `source` into the empty file `target`, both open. The two share blocks where the file
// system supports it. A file larger than this process may write is not begun (EFBIG). Returns nothing on
// success.
std::optional<CopyFailure> copy_bytes(int source, int target);

// Creates the file `to` with the bytes of `from`, mode 0644 modified by umask. The two share blocks where the
// file system supports it. The copy is not durable; after a failure `to` is absent. Errors: EH-F01 if `from`
// cannot be read, else those of write_file. They name the file `named`, for callers that rename it later.
Result<void> write_copy(const std::filesystem::path& from, const std::filesystem::path& to,
                        const std::filesystem::path& named);
inline Result<void> write_copy(const std::filesystem::path& from, const std::filesystem::path& to) {
  return write_copy(from, to, to);
}

// Copies `from` to `to` with mode 0644, replacing `to` atomically and durably. While incomplete, the copy is
// named `until_whole`, in the same folder; a leftover of that name is replaced. Errors: as write_file.
Result<void> copy_into_place(const std::filesystem::path& from, const std::filesystem::path& to,
                             const std::filesystem::path& until_whole);

// Creates a folder with mode 0700 below `parent`, named prefix + random text.
Result<std::filesystem::path> make_private_folder(const std::filesystem::path& parent,
                                                  std::string_view prefix);

// Removes as much as possible and puts the first reason for a failure into `error`. A missing folder is no
// error. Links are removed, not followed. std::filesystem::remove_all of libstdc++ is not used because it
// loops forever on Windows when something inside is open.
void remove_tree(const std::filesystem::path& folder, std::error_code& error);

// Returns the entries of a folder, or everything below it with folders before their content, as far as they
// can be read. Links are not followed. `error`: why the rest is missing.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::error_code& error);
std::vector<std::filesystem::path> entries_below(const std::filesystem::path& folder, std::error_code& error);

// Makes renames and creations in a folder durable. File systems that cannot sync folders (EINVAL) are
// ignored.
Result<void> sync_folder(const std::filesystem::path& folder);

// Returns the code for an errno of a write: EH-F15 ENOSPC/EDQUOT, EH-F17 EFBIG, EH-F24 EMFILE/ENFILE, EH-F16
// otherwise.
Code code_of_write_error(int error_number);

// Returns the diagnosis of a failed write of `file`: that code, "file", "folder" and the errno facts. If the
// file system has no inode left, it also has "free_inodes".
Diagnosis write_failure(int error_number, const std::filesystem::path& file);
Diagnosis write_failure(int error_number, const std::filesystem::path& file,
                        const std::filesystem::path& folder);

// Returns lower-case hexadecimal digits for names, two per byte. They are random or at least unique; no
// secrets.
std::string random_hex(std::size_t bytes);

// Returns true if child == parent or child lies below it. Both are compared lexically after normalization.
bool is_below(const std::filesystem::path& child, const std::filesystem::path& parent);

// Returns the library that holds this code, as the loader found it. If it is the program: empty, on Windows
// its file.
std::string library_name();

// Returns the folder of the running executable, or of the library (or executable) that holds this code.
std::filesystem::path executable_folder();
std::filesystem::path library_folder();

}  // namespace enginehost
