#include "host/binary/file_view.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"

namespace enginehost::binary {
namespace {

std::string octal(calls::Mode mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

// A component of the path is missing; a dangling link is reported separately.
Diagnosis missing(const std::filesystem::path& file) {
  std::filesystem::path prefix;
  for (const std::filesystem::path& component : file) {
    prefix /= component;
    calls::Status status{};
    if (calls::lstat(prefix.c_str(), &status) != 0)
      return std::move(diagnose(Code::file_not_readable)
                           .with(Key::file, path_text(file))
                           .with(Key::first_missing, path_text(prefix)));
    if (S_ISLNK(status.st_mode) && calls::stat(prefix.c_str(), &status) != 0)
      return std::move(diagnose(Code::path_leads_to_no_file)
                           .with(Key::file, path_text(file))
                           .with(Key::problem, errno == ELOOP ? "link loop" : "dangling link")
                           .with(Key::link, path_text(prefix))
                           .with(Key::target, calls::target_of(prefix)));
  }
  return std::move(diagnose(Code::file_not_readable).with(Key::file, path_text(file)));
}

Diagnosis loop(const std::filesystem::path& file) {
  std::filesystem::path prefix;
  for (const std::filesystem::path& component : file) {
    prefix /= component;
    calls::Status status{};
    if (calls::stat(prefix.c_str(), &status) != 0 && errno == ELOOP) break;
  }
  return std::move(diagnose(Code::path_leads_to_no_file)
                       .with(Key::file, path_text(file))
                       .with(Key::problem, "link loop")
                       .with(Key::link, path_text(prefix))
                       .with(Key::target, calls::target_of(prefix)));
}

Diagnosis closed(const std::filesystem::path& file, int error_number) {
  Diagnosis diagnosis = diagnose_errno(Code::library_not_readable, error_number);
  diagnosis.with(Key::file, path_text(file)).with(Key::user, effective_user());
  std::filesystem::path prefix;
  for (const std::filesystem::path& component : file) {
    prefix /= component;
    calls::Status status{};
    bool known = calls::stat(prefix.c_str(), &status) == 0;
    int wanted = known && S_ISDIR(status.st_mode) ? X_OK : R_OK;
    if (calls::may_access(prefix, wanted)) continue;
    diagnosis.with(Key::blocked_by, path_text(prefix));
    if (known)
      diagnosis.with(Key::mode, octal(status.st_mode)).with(Key::owner, std::to_string(status.st_uid));
    break;
  }
  return diagnosis;
}

}  // namespace

Diagnosis why_not_opened(const std::filesystem::path& file, int error_number) {
  if (calls::held_by_another(error_number))
    return std::move(diagnose_errno(Code::dll_locked, error_number).with(Key::file, path_text(file)));
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return missing(file);
    case ELOOP:
      return loop(file);
    case EACCES:
      return closed(file, error_number);
    case EPERM:
      // Reading needs no privilege, so EPERM comes from a security module or filter (SELinux, fapolicyd,
      // seccomp). The loader skips the rest of its list of folders then, unlike after EACCES.
      return std::move(diagnose_errno(Code::security_policy_forbids, error_number)
                           .with(Key::file, path_text(file))
                           .with(Key::folder, path_text(file.parent_path())));
    case ENXIO:
    case ENODEV:
      // A socket, or a device without a driver.
      return std::move(diagnose_errno(Code::path_leads_to_no_file, error_number)
                           .with(Key::file, path_text(file))
                           .with(Key::problem, "a device, a pipe or a socket"));
    case ENAMETOOLONG:
      return std::move(
          diagnose_errno(Code::path_unusable_for_loader, error_number).with(Key::file, path_text(file)));
    default:
      return std::move(
          diagnose_errno(Code::library_input_error, error_number).with(Key::file, path_text(file)));
  }
}

namespace {

// O_NONBLOCK, because opening a named pipe would block; regular files ignore it.
int open_to_read(int folder, const calls::Name& name) {
  int descriptor = -1;
  do {
    descriptor = calls::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

}  // namespace

Result<FileView> FileView::open(const std::filesystem::path& file) {
  const int descriptor = open_to_read(AT_FDCWD, file);
  if (descriptor < 0) return fail(why_not_opened(file, errno));
  return take(descriptor, path_text(file));
}

std::optional<Result<FileView>> FileView::open_in(int folder, const std::string& name, std::string path) {
  const int descriptor = open_to_read(folder, name);
  if (descriptor >= 0) return take(descriptor, std::move(path));
  if (errno == ENOENT) return std::nullopt;
  return fail(why_not_opened(path_of(path), errno));
}

Result<FileView> FileView::take(int descriptor, std::string path) {
  FileView view;
  view.descriptor_ = FileDescriptor(descriptor);
  view.path_ = std::move(path);
  calls::Status status{};
  if (calls::fstat(descriptor, &status) != 0)
    return fail(std::move(diagnose_errno(Code::library_input_error, errno).with(Key::file, view.path_)));
  if (!S_ISREG(status.st_mode))
    return fail(std::move(
        diagnose(Code::path_leads_to_no_file)
            .with(Key::file, view.path_)
            .with(Key::problem, S_ISDIR(status.st_mode) ? "a directory" : "a device, a pipe or a socket")));
  view.size_ = static_cast<std::uint64_t>(status.st_size);
  view.device_ = static_cast<std::uint64_t>(status.st_dev);
  view.inode_ = status.st_ino;
  return view;
}

const std::uint8_t* FileView::window(std::uint64_t offset, std::size_t count) const {
  for (const std::size_t index : {last_, std::size_t{0}})
    if (index < blocks_.size() && blocks_[index].holds(offset, count)) return blocks_[index].at(offset);
  return nullptr;
}

std::optional<Diagnosis> FileView::failure() const {
  if (failed_ == 0) return std::nullopt;
  return std::move(diagnose_errno(Code::file_not_readable, failed_).with(Key::file, path_));
}

bool FileView::read_directly(std::uint64_t offset, void* to, std::size_t count) {
  auto* target = static_cast<std::uint8_t*>(to);
  while (count > 0) {
    ssize_t got = calls::pread(descriptor_.get(), target, count, static_cast<calls::Offset>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) failed_ = errno;
    if (got <= 0) return false;
    target += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

const FileView::Block* FileView::block_with(std::uint64_t offset) {
  if (blocks_.empty() &&
      read_block(0, static_cast<std::size_t>(size_ <= small_file ? size_ : block_size)) == nullptr)
    return nullptr;
  const auto known =
      std::ranges::find_if(blocks_, [&](const Block& block) { return block.holds(offset, 1); });
  last_ = static_cast<std::size_t>(known - blocks_.begin());
  if (known != blocks_.end()) return &*known;
  const std::uint64_t start = offset - offset % block_size;
  return read_block(start, static_cast<std::size_t>(std::min<std::uint64_t>(block_size, size_ - start)));
}

const FileView::Block* FileView::read_block(std::uint64_t start, std::size_t length) {
  if (blocks_.size() < block_limit) {
    last_ = blocks_.size();
    blocks_.emplace_back();
  } else {
    last_ = victim_;
    victim_ = victim_ % (block_limit - 1) + 1;
  }
  Block& block = blocks_[last_];
  block.start = start;
  block.bytes = std::make_unique_for_overwrite<std::uint8_t[]>(length);
  block.size = read_directly(start, block.bytes.get(), length) ? length : 0;
  return block.size == length ? &block : nullptr;
}

const std::uint8_t* FileView::part(std::uint64_t offset, std::size_t count) {
  if (offset > size_ || size_ - offset < count || count > longest_part) return nullptr;
  if (const std::uint8_t* known = window(offset, count)) return known;
  const Block* block = read_block(offset, count);
  return block == nullptr ? nullptr : block->bytes.get();
}

bool FileView::read(std::uint64_t offset, void* to, std::size_t count) {
  if (offset > size_ || size_ - offset < count) return false;
  if (const std::uint8_t* from = window(offset, count)) {
    std::memcpy(to, from, count);
    return true;
  }
  if (count > block_size) return read_directly(offset, to, count);
  auto* target = static_cast<std::uint8_t*>(to);
  while (count > 0) {
    const Block* block = block_with(offset);
    if (block == nullptr) return false;
    const std::size_t part = std::min(count, block->size - static_cast<std::size_t>(offset - block->start));
    std::memcpy(target, block->at(offset), part);
    target += part;
    offset += part;
    count -= part;
  }
  return true;
}

bool FileView::read_fields(std::uint64_t offset, std::size_t count, bool big_endian, Fields& to) {
  to.big_endian_ = big_endian;
  to.count_ = std::min(count, to.bytes_.size());
  // A copy of fixed size is one or two instructions; one of variable size is a call.
  if (const std::uint8_t* from = window(offset, to.bytes_.size())) {
    std::memcpy(to.bytes_.data(), from, to.bytes_.size());
    return true;
  }
  if (read(offset, to.bytes_.data(), to.count_)) return true;
  to.count_ = 0;
  return false;
}

std::optional<std::string> FileView::text(std::uint64_t offset, std::uint64_t limit) {
  std::string found;
  while (offset < size_ && found.size() < limit) {
    const Block* block = block_with(offset);
    if (block == nullptr) return std::nullopt;
    const auto left = block->size - static_cast<std::size_t>(offset - block->start);
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, limit - found.size()));
    const std::string_view bytes(reinterpret_cast<const char*>(block->at(offset)), part);
    found.append(bytes.substr(0, bytes.find('\0')));
    if (bytes.find('\0') != std::string_view::npos) return found;
    offset += part;
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint8_t>> FileView::bulk(std::uint64_t offset, std::uint64_t count,
                                                        std::uint64_t limit) {
  if (offset > size_ || size_ - offset < count || count > limit) return std::nullopt;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  if (count > 0 && !read_directly(offset, bytes.data(), bytes.size())) return std::nullopt;
  return bytes;
}

}  // namespace enginehost::binary
