#include "base/files.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;

// Writes to an empty file.
Result<void> write_all(int file, std::string_view bytes) {
  // SIGXFSZ would end the process, which may be an application's.
  const int why = bytes.size() > file_size_limit() ? EFBIG : write_whole(file, bytes);
  if (why != 0) return fail(diagnose_errno(code_of_write_error(why), why));
  return {};
}

// ENOSPC may also mean that no inode is left; df then shows free space.
void report_inodes(Diagnosis& diagnosis, int error_number, const fs::path& folder) {
  if (error_number != ENOSPC) return;
  auto space = space_below(folder);
  // The folder itself may be what could not be created.
  for (fs::path above = folder; !space && above.has_relative_path(); space = space_below(above))
    above = above.parent_path();
  if (space && space->no_more_files) diagnosis.with(Key::free_inodes, "0", "statvfs");
}

// Returns whether lexically_normal() would leave the absolute path as it is: no empty, "." or ".." element
// and no trailing "/". Drive letters and other roots are left to the general code.
bool is_plain(std::basic_string_view<fs::path::value_type> path) {
  constexpr fs::path::value_type one_dot[] = {'.', 0}, two_dots[] = {'.', '.', 0};
  if (path.size() < 2 || path.front() != '/' || path.back() == '/') return false;
  for (std::size_t slash = 0; slash < path.size();) {
    const std::size_t end = std::min(path.find('/', slash + 1), path.size());
    const auto element = path.substr(slash + 1, end - slash - 1);
    if (element.empty() || element == one_dot || element == two_dots) return false;
    slash = end;
  }
  return true;
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

FileDescriptor::~FileDescriptor() { close(); }

int FileDescriptor::release() {
  const int number = number_;
  number_ = -1;
  return number;
}

void FileDescriptor::close() {
  if (number_ >= 0) calls::close(number_);
  number_ = -1;
}

Result<FileStamp> stamp_of(const fs::path& file, Code code) {
  calls::Status status{};
  if (calls::stat(file.c_str(), &status) != 0)
    return fail(diagnose_errno(code, errno).with(Key::file, path_text(file)));
  return FileStamp{static_cast<std::uint64_t>(status.st_dev), status.st_ino,
                   static_cast<std::uint64_t>(status.st_size), calls::modified_ns(status)};
}

namespace {

bool names_own_descriptor(const fs::path& file) {
  const auto& text = generic_text(file);
  return text == "/dev/stdin" || text.starts_with("/dev/fd/") || text.starts_with("/proc/self/fd/");
}

Result<FileDescriptor> opened_with(calls::Status& status, const fs::path& file, Code code) {
  const bool own = names_own_descriptor(file);
  FileDescriptor opened(calls::open(file.c_str(), O_RDONLY | O_CLOEXEC | (own ? 0 : O_NONBLOCK)));
  if (!opened.valid() || calls::fstat(opened.get(), &status) != 0)
    return fail(diagnose_errno(code, errno).with(Key::file, path_text(file)));
  if (S_ISFIFO(status.st_mode) && !own)
    return fail(
        diagnose(code).with(Key::file, path_text(file)).with(Key::problem, "a named pipe, not a file"));
  return opened;
}

Result<std::string> read_once(const fs::path& file, std::uint64_t limit, Code code) {
  calls::Status status{};
  TRY_ASSIGN(const FileDescriptor opened, opened_with(status, file, code));
  // Asks for one byte more than expected, so that a result of the expected size is complete. Kernel files
  // report no size or a wrong one, and are read until they end.
  constexpr std::uint64_t usual = 4096, most_at_once = 1u << 24;
  const std::uint64_t size = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    const std::uint64_t rest = std::min(size, limit) > before ? std::min(size, limit) - before + 1 : usual;
    const auto step = static_cast<std::size_t>(std::min(rest, most_at_once));
    bytes.resize(before + step);
    const ssize_t got = calls::read(opened.get(), bytes.data() + before, step);
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) return fail(diagnose_errno(code, errno).with(Key::file, path_text(file)));
    const bool whole = size > 0 && bytes.size() == size && static_cast<std::size_t>(got) < step;
    if (bytes.size() <= limit && (got == 0 || whole)) return bytes;
    if (bytes.size() > limit)
      return fail(
          diagnose(code)
              .with(Key::file, path_text(file))
              .with(Key::size, size > limit ? std::to_string(size) : "more than " + std::to_string(limit))
              .with(Key::limit, std::to_string(limit)));
  }
}

// Returns a dangling link on the way to a folder that cannot be created, because the system reports EEXIST
// for it.
std::string link_to_nothing(const fs::path& folder) {
  std::error_code error;
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path())
    if (fs::is_symlink(fs::symlink_status(at, error)) && !fs::exists(at, error))
      return path_text(at) + " is a link to " + path_text(fs::read_symlink(at, error)) +
             ", which is not there";
  return {};
}

}  // namespace

Result<FileDescriptor> open_to_read(const fs::path& file, Code code) {
  calls::Status status{};
  return opened_with(status, file, code);
}

int write_whole(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = calls::write(file, bytes.data(), bytes.size());
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int write_whole_at(int file, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t written = calls::pwrite(file, bytes.data(), bytes.size(), static_cast<calls::Offset>(at));
    if (written < 0) return errno;
    at += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

Result<void> read_pieces(int file, const fs::path& named, Code code,
                         const std::function<Result<void>(std::string_view)>& take) {
  std::vector<char> buffer(1u << 20);
  for (;;) {
    const ssize_t got = file < 0 ? -1 : calls::read(file, buffer.data(), buffer.size());
    if (got < 0) return fail(diagnose_errno(code, errno).with(Key::file, path_text(named)));
    if (got == 0) return {};
    TRY(take({buffer.data(), static_cast<std::size_t>(got)}));
  }
}

// On NFS, an open file that another machine replaced by a rename must be opened again by its name.
Result<std::string> read_file(const fs::path& file, std::uint64_t limit, Code code) {
  for (int tries = 1;; ++tries) {
    auto bytes = read_once(file, limit, code);
    if (bytes || tries == 3 || bytes.error().value(Key::errno_) != "ESTALE") return bytes;
  }
}

std::string read_kernel_file(const fs::path& file) {
  auto bytes = read_file(file, 1u << 20);
  if (!bytes) return {};
  while (!bytes->empty() && (bytes->back() == '\n' || bytes->back() == '\0')) bytes->pop_back();
  return std::move(*bytes);
}

namespace {

// Returns 0 or an errno. Not create_directories, whose folders are writable by everybody if the umask is 0.
int make_folder(const fs::path& folder) {
  if (calls::mkdir(folder.c_str(), 0755) == 0) return 0;
  const int why = errno;
  std::error_code not_examined;  // the throwing form would throw where a parent cannot be searched
  if (fs::is_directory(folder, not_examined)) return 0;
  const fs::path parent = folder.parent_path();
  if (why == EEXIST) {
    // Something has the name: a file, a dangling link, or something inaccessible.
    const int looked = not_examined.default_error_condition().value();
    return looked == 0 || looked == ENOENT ? ENOTDIR : looked;
  }
  if (why != ENOENT || parent.empty() || parent == folder) return why;
  if (const int failure = make_folder(parent); failure != 0) return failure;
  if (calls::mkdir(folder.c_str(), 0755) == 0) return 0;
  const int why_at_last = errno;  // is_directory changes errno
  // Another process may have created it first.
  return fs::is_directory(folder, not_examined) ? 0 : why_at_last;
}

}  // namespace

Result<void> make_folders(const fs::path& folder) {
  const int why = make_folder(folder);
  if (why == 0) return {};
  Diagnosis diagnosis = diagnose_errno(code_of_write_error(why), why);
  if (const std::string obstacle = link_to_nothing(folder); !obstacle.empty())
    diagnosis.with(Key::obstacle, obstacle);
  diagnosis.with(Key::folder, path_text(folder));
  report_inodes(diagnosis, why, folder);
  return fail(std::move(diagnosis));
}

Result<void> write_file(const fs::path& file, std::string_view bytes, bool durable) {
  // The name is shortened, because the file's own name may already have the maximum length.
  fs::path name(".");
  name += file.filename().native().substr(0, 64);
  name += "." + random_hex(6);
  const fs::path temporary = file.parent_path() / name;
  FileDescriptor opened(
      calls::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!opened.valid()) return fail(write_failure(errno, file));
  const auto give_up = [&](Diagnosis diagnosis) {
    calls::unlink(temporary.c_str());
    return fail(std::move(diagnosis));
  };
  if (auto written = write_all(opened.get(), bytes); !written) {
    Diagnosis& why = written.error();
    why.with(Key::file, path_text(file)).with(Key::folder, path_text(file.parent_path()));
    if (why.code == Code::file_size_limit) why.with(Key::needed, std::to_string(bytes.size()));
    return give_up(std::move(why));
  }
  if (durable && calls::fsync(opened.get()) != 0) return give_up(write_failure(errno, file));
  if (calls::close(opened.release()) != 0) return give_up(write_failure(errno, file));
  if (calls::rename(temporary.c_str(), file.c_str()) != 0) return give_up(write_failure(errno, file));
  if (durable) return sync_folder(file.parent_path());
  return {};
}

// Not std::filesystem::copy_file, which reports EIO for a full disk and does not show which side failed.
std::optional<CopyFailure> copy_bytes(int source, int target) {
  calls::Status status{};
  if (calls::fstat(source, &status) != 0) return CopyFailure{true, errno};
  // SIGXFSZ would end the process, which may be an application's.
  if (static_cast<std::uint64_t>(status.st_size) > file_size_limit()) return CopyFailure{false, EFBIG};
  if (clone_content(target, source)) return std::nullopt;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = calls::read(source, buffer.data(), buffer.size());
    if (got < 0) return CopyFailure{true, errno};
    if (got == 0) return std::nullopt;
    if (const int why = write_whole(target, {buffer.data(), static_cast<std::size_t>(got)}); why != 0)
      return CopyFailure{false, why};
  }
}

Result<void> write_copy(const fs::path& from, const fs::path& to, const fs::path& named) {
  TRY_ASSIGN(const FileDescriptor source, open_to_read(from));
  FileDescriptor target(calls::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!target.valid()) return fail(write_failure(errno, named));
  auto failure = copy_bytes(source.get(), target.get());
  if (!failure && calls::close(target.release()) != 0) failure = CopyFailure{false, errno};
  if (!failure) return {};
  target.close();
  calls::unlink(to.c_str());
  if (failure->reading)
    return fail(
        diagnose_errno(Code::file_not_readable, failure->error_number).with(Key::file, path_text(from)));
  Diagnosis why = write_failure(failure->error_number, named);
  calls::Status status{};
  if (why.code == Code::file_size_limit && calls::fstat(source.get(), &status) == 0)
    why.with(Key::needed, std::to_string(status.st_size));
  return fail(std::move(why));
}

Result<void> copy_into_place(const fs::path& from, const fs::path& to, const fs::path& until_whole) {
  const auto give_up = [&](int why) {
    calls::unlink(until_whole.c_str());
    return fail(write_failure(why, to));
  };
  calls::unlink(until_whole.c_str());
  TRY(write_copy(from, until_whole, to));
  const FileDescriptor file(calls::open(until_whole.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || calls::fchmod(file.get(), 0644) != 0 || calls::fsync(file.get()) != 0 ||
      calls::rename(until_whole.c_str(), to.c_str()) != 0)
    return give_up(errno);
  return sync_folder(to.parent_path());
}

Result<fs::path> make_private_folder(const fs::path& parent, std::string_view prefix) {
  for (int attempt = 0; attempt < 16; ++attempt) {
    fs::path folder = parent / (std::string(prefix) + random_hex(6));
    if (calls::mkdir(folder.c_str(), 0700) == 0) return folder;
    if (errno != EEXIST) return fail(write_failure(errno, folder));
  }
  return fail(write_failure(EEXIST, parent));
}

namespace {

template <class Iterator>
std::vector<fs::path> paths_from(Iterator at, std::error_code& error) {
  std::vector<fs::path> paths;
  for (; !error && at != Iterator(); at.increment(error)) paths.push_back(at->path());
  return paths;
}

}  // namespace

std::vector<fs::path> entries_of(const fs::path& folder, std::error_code& error) {
  return paths_from(fs::directory_iterator(folder, error), error);
}

std::vector<fs::path> entries_below(const fs::path& folder, std::error_code& error) {
  return paths_from(fs::recursive_directory_iterator(folder, error), error);
}

Result<void> sync_folder(const fs::path& folder) {
  // The folder of a plain name.
  const fs::path named = folder.empty() ? fs::path(".") : folder;
  const FileDescriptor opened(calls::open(named.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid() || (calls::fsync(opened.get()) != 0 && errno != EINVAL))
    return fail(diagnose_errno(code_of_write_error(errno), errno).with(Key::folder, path_text(folder)));
  return {};
}

Code code_of_write_error(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return Code::disk_full;
    case EFBIG:
      return Code::file_size_limit;
    case EMFILE:
    case ENFILE:
      return Code::too_many_open_files;
    default:
      return Code::folder_not_writable;
  }
}

Diagnosis write_failure(int error_number, const fs::path& file) {
  return write_failure(error_number, file, file.parent_path());
}

Diagnosis write_failure(int error_number, const fs::path& file, const fs::path& folder) {
  Diagnosis diagnosis = diagnose_errno(code_of_write_error(error_number), error_number);
  diagnosis.with(Key::file, path_text(file)).with(Key::folder, path_text(folder));
  report_inodes(diagnosis, error_number, folder);
  return diagnosis;
}

namespace {

// Names without the system's random bytes: no two calls on a machine share process, counter and time, and the
// address differs from start to start.
void fill_with_what_differs(std::vector<unsigned char>& into) {
  static std::atomic<std::uint64_t> calls_before{0};
  const auto time = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&calls_before));
  // The seed takes 32 bits of each number.
  std::seed_seq seed{
      time, time >> 32, address, address >> 32, static_cast<std::uint64_t>(calls::getpid()), ++calls_before};
  std::mt19937 numbers(seed);
  for (unsigned char& byte : into) byte = static_cast<unsigned char>(numbers());
}

}  // namespace

std::string random_hex(std::size_t bytes) {
  std::vector<unsigned char> random(bytes);
  if (!fill_with_random_bytes(random.data(), bytes)) fill_with_what_differs(random);
  return hex_of({reinterpret_cast<const char*>(random.data()), bytes});
}

bool is_below(const fs::path& child, const fs::path& parent) {
  // Fast path: every open asks this for every library, and the general code takes some microseconds each.
  if (const fs::path::string_type& file = child.native(), &folder = parent.native();
      is_plain(file) && is_plain(folder))
    return file.starts_with(folder) && (file.size() == folder.size() || file[folder.size()] == '/');
  const fs::path relative = child.lexically_normal().lexically_relative(parent.lexically_normal());
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace enginehost
