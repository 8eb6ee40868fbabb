#include "host/acquire/zip_stream.hpp"

#ifdef ENGINEHOST_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>
#endif

namespace enginehost::acquire {
namespace {

tl::unexpected<Diagnosis> give_up(std::string_view problem) {
  return fail(diagnose(Code::archive_not_unpacked).with(Key::archive, "zip").with(Key::problem, problem));
}

}  // namespace

#ifndef ENGINEHOST_ISAL

bool has_zip_stream() { return false; }
Result<void> read_zip_stream(const ZipSource&, const ZipSink&) { return give_up("built without ISA-L"); }

#else

bool has_zip_stream() { return true; }

namespace {

// PKWARE APPNOTE.TXT, 4.3.7: the local file header.
constexpr std::uint32_t local_header = 0x04034b50, directory_header = 0x02014b50, directory_end = 0x06054b50,
                        directory_end_64 = 0x06064b50;
constexpr std::size_t header_size = 30, piece = 1u << 20;
// Encrypted, length after the data, patched, strongly encrypted, masked.
constexpr std::uint16_t unusual_flags = 0x0001 | 0x0008 | 0x0020 | 0x0040 | 0x2000;
constexpr std::uint16_t stored = 0, deflated = 8;
constexpr std::uint16_t zip64_field = 0x0001, unicode_path_field = 0x7075;
constexpr std::uint32_t in_zip64 = 0xffffffff;

struct LocalEntry {
  std::string name;
  std::uint16_t flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0, size = 0;
};

class ZipStream {
 public:
  ZipStream(const ZipSource& source, const ZipSink& sink) : source_(source), sink_(sink) {}

  Result<void> run() {
    for (;;) {
      TRY(want(4));
      const std::uint32_t signature = number(0, 4);
      if (signature == directory_header || signature == directory_end || signature == directory_end_64)
        return {};
      if (signature != local_header) return give_up("an entry does not begin where the one before it ends");
      TRY_ASSIGN(const LocalEntry entry, header());
      TRY_ASSIGN(const bool wanted, sink_.begin(entry.name));
      if (!wanted) {
        TRY(skip(entry.packed));
        continue;
      }
      TRY(entry.method == stored ? copy(entry) : inflate(entry));
      TRY(sink_.end());
    }
  }

 private:
  std::size_t held() const { return end_ - at_; }
  std::uint32_t number(std::size_t offset, std::size_t bytes) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(buffer_[at_ + offset + i])) << (8 * i);
    return value;
  }

  Result<void> more() {
    if (at_ > 0) std::memmove(buffer_.data(), buffer_.data() + at_, held());
    end_ -= at_;
    at_ = 0;
    const std::int64_t got = source_(buffer_.data() + end_, buffer_.size() - end_);
    if (got < 0) return fail(diagnose(Code::canceled).with(Key::problem, "abandoned"));
    if (got == 0) return give_up("it ends within an entry");
    end_ += static_cast<std::size_t>(got);
    return {};
  }
  // `bytes` is at most a header with its two fields, which fits into the buffer.
  Result<void> want(std::size_t bytes) {
    while (held() < bytes) TRY(more());
    return {};
  }
  Result<void> skip(std::uint64_t bytes) {
    while (bytes > 0) {
      if (held() == 0) TRY(more());
      const std::size_t some = std::min<std::uint64_t>(bytes, held());
      at_ += some;
      bytes -= some;
    }
    return {};
  }

  Result<LocalEntry> header() {
    TRY(want(header_size));
    LocalEntry entry;
    entry.flags = static_cast<std::uint16_t>(number(6, 2));
    entry.method = static_cast<std::uint16_t>(number(8, 2));
    entry.crc = number(14, 4);
    entry.packed = number(18, 4);
    entry.size = number(22, 4);
    const std::size_t name_size = number(26, 2), extra_size = number(28, 2);
    if ((entry.flags & unusual_flags) != 0)
      return give_up("an entry is encrypted, or its length comes after it");
    if (entry.method != stored && entry.method != deflated)
      return give_up("an entry is compressed by another method");
    at_ += header_size;
    TRY(want(name_size + extra_size));
    entry.name.assign(buffer_.data() + at_, name_size);
    if (entry.name.empty() || entry.name.find('\0') != std::string::npos)
      return give_up("an entry has no name");
    at_ += name_size;
    TRY(extra(entry, extra_size));
    at_ += extra_size;
    if (entry.packed == in_zip64 || entry.size == in_zip64) return give_up("an entry's length is unknown");
    if (entry.method == stored && entry.packed != entry.size)
      return give_up("a stored entry has two lengths");
    return entry;
  }

  Result<void> extra(LocalEntry& entry, std::size_t size) const {
    for (std::size_t at = 0; at < size;) {
      if (size - at < 4) return {};  // padding, as zipalign writes it
      const std::uint32_t field = number(at, 2);
      const std::size_t length = number(at + 2, 2);
      at += 4;
      if (length > size - at) return give_up("a field of an entry's header is cut");
      if (field == unicode_path_field) return give_up("an entry has a second name");
      if (field == zip64_field) {
        // A local header has both lengths or none (4.5.3).
        if (entry.packed != in_zip64 || entry.size != in_zip64 || length < 16)
          return give_up("an entry has long and short lengths");
        entry.size = number(at, 4) | static_cast<std::uint64_t>(number(at + 4, 4)) << 32;
        entry.packed = number(at + 8, 4) | static_cast<std::uint64_t>(number(at + 12, 4)) << 32;
      }
      at += length;
    }
    return {};
  }

  Result<void> pass_on(const char* bytes, std::size_t size) {
    crc_ = ::crc32_gzip_refl(crc_, reinterpret_cast<const unsigned char*>(bytes), size);
    return sink_.write({bytes, size});
  }

  Result<void> copy(const LocalEntry& entry) {
    crc_ = 0;
    for (std::uint64_t left = entry.packed; left > 0;) {
      if (held() == 0) TRY(more());
      const std::size_t some = std::min<std::uint64_t>(left, held());
      TRY(pass_on(buffer_.data() + at_, some));
      at_ += some;
      left -= some;
    }
    if (crc_ != entry.crc) return give_up("an entry's checksum differs");
    return {};
  }

  Result<void> inflate(const LocalEntry& entry) {
    ::isal_inflate_init(state_.get());
    crc_ = 0;
    std::uint64_t left = entry.packed, made = 0;
    for (;;) {
      if (held() == 0 && left > 0) TRY(more());
      const auto some = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, held()));
      state_->next_in = reinterpret_cast<unsigned char*>(buffer_.data() + at_);
      state_->avail_in = some;
      state_->next_out = reinterpret_cast<unsigned char*>(output_.data());
      state_->avail_out = static_cast<std::uint32_t>(output_.size());
      if (::isal_inflate(state_.get()) != ISAL_DECOMP_OK) return give_up("an entry cannot be inflated");
      const std::uint32_t read = some - state_->avail_in;
      const std::size_t written = output_.size() - state_->avail_out;
      at_ += read;
      left -= read;
      made += written;
      if (made > entry.size) return give_up("an entry is longer than its header says");
      TRY(pass_on(output_.data(), written));
      if (state_->block_state == ISAL_BLOCK_FINISH) break;
      if (read == 0 && written == 0) return give_up("an entry's data is cut");
    }
    if (left != 0 || made != entry.size) return give_up("an entry's lengths differ");
    if (crc_ != entry.crc) return give_up("an entry's checksum differs");
    return {};
  }

  const ZipSource& source_;
  const ZipSink& sink_;
  std::vector<char> buffer_ = std::vector<char>(piece), output_ = std::vector<char>(256u << 10);
  std::size_t at_ = 0, end_ = 0;
  std::unique_ptr<inflate_state> state_ = std::make_unique<inflate_state>();
  std::uint32_t crc_ = 0;
};

}  // namespace

Result<void> read_zip_stream(const ZipSource& source, const ZipSink& sink) {
  return ZipStream(source, sink).run();
}

#endif

}  // namespace enginehost::acquire
