// Files, folders and durable writes. Paths are absolute unless a function says otherwise; nothing here changes the
// process (current folder, umask). All functions may be called from any thread.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost {

// Owns a file descriptor; closed on destruction, never inherited by children (everything opens with O_CLOEXEC).
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

// What stat says of a file; identity and change detection without reading it.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified_ns = 0;  // mtime; ctime is left out, since link() changes it
  bool operator==(const FileStamp&) const = default;
};

// Fails with `code` and the evidence "file" plus the errno facts. Default code EH-F01: the file is missing or unreadable.
Result<FileStamp> stamp_of(const std::filesystem::path& file, std::string_view code = "EH-F01");

// Opens a file that somebody named, to read it. Never waits: a named pipe, which would until somebody writes to it, is
// an error ("problem"), and a device that has nothing to say now gives none either. Only what the name finds among this
// process's own descriptors (/dev/stdin, /dev/fd/3, /proc/self/fd/3) may be a pipe, and is waited for. Else as read_file.
Result<FileDescriptor> open_to_read(const std::filesystem::path& file, std::string_view code = "EH-F01");

// The whole file, at most `limit` bytes (a longer file is an error: "size" and "limit" are in the evidence). Opened by
// open_to_read().
Result<std::string> read_file(const std::filesystem::path& file, std::uint64_t limit = 64u << 20,
                              std::string_view code = "EH-F01");

// The first bytes of a file of the kernel (/proc, /sys): trailing newline cut; empty when absent or unreadable.
std::string read_kernel_file(const std::filesystem::path& file);

// Folders are created with mode 0755 modified by umask; an existing folder is success. EH-F15 (no space), EH-F16
// (read-only or not permitted) with "folder".
Result<void> make_folders(const std::filesystem::path& folder);

// Replaces `file` with `bytes` so that a reader sees the old or the new content, also after a crash or a power cut:
// temporary file in the same folder, fsync, rename, fsync of the folder. durable=false leaves the fsyncs out, for
// records that only have to survive the process. Errors: EH-F15 (full, quota), EH-F16 (read-only, permission),
// EH-F17 (file size limit), with "file", "folder" and the errno facts.
Result<void> write_file(const std::filesystem::path& file, std::string_view bytes, bool durable = true);

// A copy of the bytes of `from`, mode 0644, whole and on the disk or absent; it takes the place of what is there at
// once. Until it is whole it has the name `until_whole`, in the same folder; what an earlier one left there is
// replaced. Errors: as write_file.
Result<void> copy_into_place(const std::filesystem::path& from, const std::filesystem::path& to,
                             const std::filesystem::path& until_whole);

// Creates a new private folder below `parent`, named prefix + random text, mode 0700.
Result<std::filesystem::path> make_private_folder(const std::filesystem::path& parent, std::string_view prefix);

// Makes what was renamed or created in a folder durable. Ignored where folders cannot be synced (EINVAL).
Result<void> sync_folder(const std::filesystem::path& folder);

// The code that fits an errno of a write: EH-F15 ENOSPC/EDQUOT, EH-F17 EFBIG, EH-F24 EMFILE/ENFILE, EH-F16 otherwise.
std::string_view code_of_write_error(int error_number);

// Of writing `file`, which lies in or below `folder` (else its own): that code with "file", "folder" and the errno facts,
// and "free_inodes" where it is files that there is no more room for.
Diagnosis write_failure(int error_number, const std::filesystem::path& file);
Diagnosis write_failure(int error_number, const std::filesystem::path& file, const std::filesystem::path& folder);

// Lower-case hexadecimal digits for names, two per byte: random, or at least no other call's. No secrets.
std::string random_hex(std::size_t bytes);

// True when child == parent or lies below it; both are compared lexically after normalization.
bool is_below(const std::filesystem::path& child, const std::filesystem::path& parent);

// The library that holds this code, as the loader found it; empty when the program itself does. Not on Windows.
std::string library_name();

// The folder of the running executable, and of the library (or executable) that holds this code.
std::filesystem::path executable_folder();
std::filesystem::path library_folder();

}  // namespace enginehost
