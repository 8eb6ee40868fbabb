#include "host/binary/file_view.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "host/binary/open_failure.hpp"

namespace enginehost::binary {

namespace {

// The number of blocks whose memory is kept for the next file.
constexpr std::size_t blocks_kept = 8;

// O_NONBLOCK, because opening a named pipe would block; regular files ignore it.
int open_to_read(int folder, const calls::Name& name) {
  int descriptor = -1;
  do {
    descriptor = calls::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

}  // namespace

struct FileView::Block {
  std::uint64_t start = 0;
  std::size_t length = 0;
  std::array<std::uint8_t, block_size> bytes;
};

struct FileView::Memory {
  // The file's beginning: the first block, or all of a small file. Read at the first access.
  std::array<std::uint8_t, small_file> head;
  std::vector<std::unique_ptr<Block>> blocks;
};

struct Buffers::Storage {
  std::unique_ptr<FileView::Memory> memory;
};

Buffers::Buffers() : kept_(std::make_unique<Storage>()) {}
Buffers::Buffers(Buffers&&) noexcept = default;
Buffers& Buffers::operator=(Buffers&&) noexcept = default;
Buffers::~Buffers() = default;

void FileView::Return::operator()(Memory* memory) const {
  std::unique_ptr<Memory> back(memory);
  if (to == nullptr || to->kept_->memory) return;
  if (back->blocks.size() > blocks_kept) back->blocks.resize(blocks_kept);
  to->kept_->memory = std::move(back);
}

FileView::FileView(Buffers* buffers) : memory_(nullptr, Return{buffers}) {
  std::unique_ptr<Memory> memory;
  if (buffers != nullptr) memory = std::move(buffers->kept_->memory);
  // Not zeroed, because no unread byte is used.
  if (!memory) memory = std::make_unique_for_overwrite<Memory>();
  memory_.reset(memory.release());
}

Result<FileView> FileView::open(const std::filesystem::path& file) {
  const int descriptor = open_to_read(AT_FDCWD, file);
  if (descriptor < 0) return fail(why_not_opened(file, errno));
  return take(descriptor, path_text(file), nullptr);
}

std::optional<Result<FileView>> FileView::open_in(int folder, const std::string& name, std::string path,
                                                  Buffers* buffers) {
  const int descriptor = open_to_read(folder, name);
  if (descriptor >= 0) return take(descriptor, std::move(path), buffers);
  if (errno == ENOENT) return std::nullopt;
  return fail(why_not_opened(path_of(path), errno));
}

Result<FileView> FileView::take(int descriptor, std::string path, Buffers* buffers) {
  FileView view(buffers);
  view.descriptor_ = FileDescriptor(descriptor);
  view.path_ = std::move(path);
  calls::Status status{};
  if (calls::fstat(descriptor, &status) != 0)
    return fail(std::move(diagnose_errno("EH-L26", errno).with("file", view.path_)));
  if (!S_ISREG(status.st_mode))
    return fail(std::move(
        diagnose("EH-F11")
            .with("file", view.path_)
            .with("problem", S_ISDIR(status.st_mode) ? "a directory" : "a device, a pipe or a socket")));
  view.size_ = static_cast<std::uint64_t>(status.st_size);
  view.device_ = static_cast<std::uint64_t>(status.st_dev);
  view.inode_ = status.st_ino;
  return view;
}

const std::uint8_t* FileView::window(std::uint64_t offset, std::size_t count) const {
  if (offset < head_length_) return count <= head_length_ - offset ? memory_->head.data() + offset : nullptr;
  if (last_ >= blocks_) return nullptr;
  const Block& block = *memory_->blocks[last_];
  if (offset < block.start || offset - block.start >= block.length) return nullptr;
  const auto skip = static_cast<std::size_t>(offset - block.start);
  return count <= block.length - skip ? block.bytes.data() + skip : nullptr;
}

std::optional<Diagnosis> FileView::failure() const {
  if (failed_ == 0) return std::nullopt;
  return std::move(diagnose_errno("EH-F01", failed_).with("file", path_));
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

const FileView::Block* FileView::block_at(std::uint64_t start) {
  std::vector<std::unique_ptr<Block>>& blocks = memory_->blocks;
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(block_size, size_ - start));
  const auto is_it = [&](const Block& block) { return block.start == start && block.length == length; };
  if (last_ < blocks_ && is_it(*blocks[last_])) return blocks[last_].get();
  for (std::size_t i = 0; i < blocks_; ++i)
    if (is_it(*blocks[i])) {
      last_ = i;
      return blocks[i].get();
    }
  return read_block(start, length);
}

const FileView::Block* FileView::read_block(std::uint64_t start, std::size_t length) {
  std::vector<std::unique_ptr<Block>>& blocks = memory_->blocks;
  if (blocks_ < block_limit) {
    if (blocks_ == blocks.size()) blocks.push_back(std::make_unique_for_overwrite<Block>());
    last_ = blocks_++;
  } else {
    last_ = victim_;
    victim_ = (victim_ + 1) % block_limit;
  }
  Block& block = *blocks[last_];
  block.start = start;
  block.length = length;
  if (!read_directly(start, block.bytes.data(), length)) {
    block.start = ~std::uint64_t{0};  // never requested: blocks start at multiples of their size
    return nullptr;
  }
  return &block;
}

const std::uint8_t* FileView::part(std::uint64_t offset, std::size_t count) {
  if (offset > size_ || size_ - offset < count || count > longest_part) return nullptr;
  if (const std::uint8_t* known = window(offset, count)) return known;
  const Block* block = read_block(offset, count);
  return block == nullptr ? nullptr : block->bytes.data();
}

bool FileView::read_head() {
  const auto length =
      static_cast<std::size_t>(size_ <= small_file ? size_ : static_cast<std::uint64_t>(block_size));
  if (!read_directly(0, memory_->head.data(), length)) return false;
  head_length_ = length;
  return true;
}

bool FileView::read(std::uint64_t offset, void* to, std::size_t count) {
  if (offset > size_ || size_ - offset < count) return false;
  if (count == 0) return true;
  if (head_length_ == 0 && !read_head()) return false;
  if (const std::uint8_t* from = window(offset, count)) {
    std::memcpy(to, from, count);
    return true;
  }
  if (count > block_size) return read_directly(offset, to, count);
  auto* target = static_cast<std::uint8_t*>(to);
  while (count > 0) {
    std::uint64_t start = offset - offset % block_size;
    const Block* block = block_at(start);
    if (block == nullptr) return false;
    auto skip = static_cast<std::size_t>(offset - start);
    std::size_t part = std::min(count, block->length - skip);
    std::memcpy(target, block->bytes.data() + skip, part);
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
  if (offset >= size_) return std::nullopt;
  if (head_length_ == 0 && !read_head()) return std::nullopt;
  if (const std::uint8_t* from = window(offset, 1)) {
    const std::uint8_t* block_end =
        offset < head_length_ ? memory_->head.data() + head_length_
                              : memory_->blocks[last_]->bytes.data() + memory_->blocks[last_]->length;
    const auto most = static_cast<std::size_t>(
        std::min<std::uint64_t>(limit, static_cast<std::uint64_t>(block_end - from)));
    if (const void* end = std::memchr(from, 0, most))
      return std::string(reinterpret_cast<const char*>(from),
                         static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - from));
  }
  std::string found;
  while (offset < size_ && found.size() < limit) {
    std::uint64_t start = offset - offset % block_size;
    const Block* block = block_at(start);
    if (block == nullptr) return std::nullopt;
    auto skip = static_cast<std::size_t>(offset - start);
    auto part = static_cast<std::size_t>(std::min<std::uint64_t>(block->length - skip, limit - found.size()));
    const std::uint8_t* from = block->bytes.data() + skip;
    const void* end = std::memchr(from, 0, part);
    if (end != nullptr) part = static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - from);
    found.append(reinterpret_cast<const char*>(from), part);
    if (end != nullptr) return found;
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
