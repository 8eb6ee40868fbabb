#include "host/acquire/growing_file.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/record.hpp"

namespace enginehost::acquire {
namespace {

// At most this much is fetched again after the process was killed.
constexpr std::uint64_t bytes_between_notes = 4u << 20;

constexpr std::string_view first_words = "enginehost-received 1 ";
constexpr std::size_t digest_size = 64;

}  // namespace

std::uint64_t place_of_received_note(std::uint64_t size) {
  return (size + received_note_bytes - 1) / received_note_bytes * received_note_bytes;
}

std::string received_note(const std::vector<transfer::Range>& received, std::uint64_t size) {
  std::string note(first_words);
  note += std::to_string(size) + "\n";
  for (const transfer::Range& range : received) {
    const std::string line = std::to_string(range.begin) + " " + std::to_string(range.end) + "\n";
    if (note.size() + line.size() + digest_size > received_note_bytes) break;
    note += line;
  }
  note.resize(received_note_bytes - digest_size, '\n');
  return note + sha256_hex(note);
}

std::optional<std::vector<transfer::Range>> read_received_note(std::string_view text, std::uint64_t size) {
  if (text.size() != received_note_bytes || !text.starts_with(first_words)) return {};
  std::string_view rest = text.substr(0, text.size() - digest_size);
  if (sha256_hex(rest) != text.substr(text.size() - digest_size)) return {};
  rest.remove_prefix(first_words.size());
  std::uint64_t noted = 0;
  if (!take_number(rest, noted, '\n') || noted != size) return {};
  std::vector<transfer::Range> received;
  while (!rest.empty() && rest.front() != '\n') {
    transfer::Range range;
    if (!take_number(rest, range.begin) || !take_number(rest, range.end, '\n')) return {};
    if (range.begin >= range.end || range.end > size) return {};
    if (!received.empty() && range.begin <= received.back().end) return {};
    received.push_back(range);
  }
  return received;
}

Diagnosis GrowingFile::failure(int error_number) const {
  return std::move(diagnose_errno(code_of_write_error(error_number), error_number)
                       .with(Key::file, path_text(path_))
                       .with(Key::folder, path_text(folder_)));
}

Diagnosis GrowingFile::unreadable(int error_number) const {
  return std::move(diagnose_errno(Code::cache_unusable, error_number).with(Key::file, path_text(path_)));
}

std::optional<Diagnosis> GrowingFile::why_unreadable() const {
  const std::lock_guard lock(mutex_);
  return unreadable_;
}

Result<std::unique_ptr<GrowingFile>> GrowingFile::open(const std::filesystem::path& file,
                                                       const std::filesystem::path& cache_folder,
                                                       std::optional<std::uint64_t> size,
                                                       const transfer::ChunkList* chunks) {
  std::unique_ptr<GrowingFile> result(new GrowingFile);
  result->path_ = file;
  result->folder_ = cache_folder;
  result->expected_ = size;
  result->chunks_ = chunks;
  result->file_ = FileDescriptor(calls::open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!result->file_.valid()) return fail(result->failure(errno));
  result->file_limit_ = file_size_limit();
  allow_holes(result->file_.get());
  TRY(result->take_what_is_there());
  return result;
}

GrowingFile::~GrowingFile() {
  const std::lock_guard lock(noting_);
  if (not_yet_noted_ > 0) write_note();
}

// A note lists only bytes that were written before it, so a killed process never claims missing bytes. After
// a power cut it may; the file's digest then fails.
Result<void> GrowingFile::take_what_is_there() {
  calls::Status status{};
  if (calls::fstat(file_.get(), &status) != 0) return fail(failure(errno));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (chunks_ != nullptr) {
    for (std::size_t i = 0; i < chunks_->sha256.size() && chunks_->end_of(i) <= size; ++i) {
      const transfer::Range range{chunks_->begin_of(i), chunks_->end_of(i)};
      TRY_ASSIGN(const std::string digest, digest_of(range));
      if (digest == chunks_->sha256[i]) add(range);
    }
  } else if (expected_ && size > *expected_) {
    std::string text(received_note_bytes, '\0');
    const ssize_t got = calls::pread(file_.get(), text.data(), text.size(),
                                     static_cast<calls::Offset>(place_of_received_note(*expected_)));
    const bool whole = got == static_cast<ssize_t>(text.size());
    const auto received = whole ? read_received_note(text, *expected_) : std::nullopt;
    if (!received) return restart();
    noted_ = true;
    have_ = *received;
  } else if (size > 0) {
    have_ = {{0, size}};
  }
  return advance(0, {});
}

// If all bytes came in order, the length of the file is enough. Others are preceded by a note. Without one
// (its place is beyond the limit of this process) they count as whole the next time, and the digest fails.
void GrowingFile::note_before(std::uint64_t offset) {
  const std::lock_guard lock(noting_);
  if (noted_ || !expected_ || chunks_ != nullptr || offset <= size_) return;
  noted_ = place_of_received_note(*expected_) + received_note_bytes <= file_limit_;
  write_note();
}

// A note that cannot be written only means that more is fetched again.
void GrowingFile::write_note() {
  not_yet_noted_ = 0;
  if (!noted_ || complete_) return;
  std::vector<transfer::Range> received;
  {
    const std::lock_guard lock(mutex_);
    received = have_;
  }
  const std::string note = received_note(received, *expected_);
  static_cast<void>(calls::pwrite(file_.get(), note.data(), note.size(),
                                  static_cast<calls::Offset>(place_of_received_note(*expected_))));
}

Result<std::string> GrowingFile::digest_of(transfer::Range range) const {
  Sha256 hash;
  std::vector<char> buffer(std::min<std::uint64_t>(range.end - range.begin, 1u << 20));
  while (range.begin < range.end) {
    const ssize_t got = calls::pread(file_.get(), buffer.data(),
                                     std::min<std::uint64_t>(buffer.size(), range.end - range.begin),
                                     static_cast<calls::Offset>(range.begin));
    if (got < 0) return fail(unreadable(errno));
    if (got == 0) break;  // truncated meanwhile: no digest matches
    hash.update(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    range.begin += static_cast<std::uint64_t>(got);
  }
  return hash.hex();
}

void GrowingFile::add(transfer::Range range) {
  const std::lock_guard lock(mutex_);
  auto at =
      std::find_if(have_.begin(), have_.end(), [&](const auto& known) { return known.end >= range.begin; });
  if (at == have_.end() || at->begin > range.end) {
    have_.insert(at, range);
    return;
  }
  at->begin = std::min(at->begin, range.begin);
  at->end = std::max(at->end, range.end);
  for (auto next = at + 1; next != have_.end() && next->begin <= at->end; next = have_.erase(next))
    at->end = std::max(at->end, next->end);
}

bool GrowingFile::holds_any() const {
  const std::lock_guard lock(mutex_);
  return !have_.empty();
}

bool GrowingFile::has(std::uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(have_.begin(), have_.end(),
                     [&](const auto& known) { return known.begin <= offset && offset < known.end; });
}

std::uint64_t GrowingFile::received_prefix() const {
  const std::lock_guard lock(mutex_);
  return have_.empty() || have_.front().begin > 0 ? 0 : have_.front().end;
}

std::vector<transfer::Range> GrowingFile::missing() const { return gaps_in({0, expected_.value_or(0)}); }

std::vector<transfer::Range> GrowingFile::gaps_in(transfer::Range range) const {
  const std::lock_guard lock(mutex_);
  std::vector<transfer::Range> gaps;
  for (const transfer::Range& known : have_) {
    if (known.begin >= range.end) break;
    if (known.begin > range.begin) gaps.push_back({range.begin, known.begin});
    range.begin = std::max(range.begin, known.end);
  }
  if (range.begin < range.end) gaps.push_back(range);
  return gaps;
}

Result<void> GrowingFile::start(std::uint64_t offset) {
  stream_at_ = offset;
  if (offset == size_) return {};
  return restart();
}

Result<void> GrowingFile::restart() {
  stream_at_ = 0;
  if (chunks_ != nullptr) return {};  // chunks that matched are skipped when they come again
  const std::scoped_lock lock(noting_, hashing_, mutex_);
  not_yet_noted_ = 0;
  noted_ = false;
  if (calls::ftruncate(file_.get(), 0) != 0) return fail(failure(errno));
  hash_ = Sha256();
  have_.clear();
  size_ = 0;
  ++generation_;
  grown_.notify_all();
  return {};
}

Result<void> GrowingFile::write(std::string_view bytes) {
  TRY(write_at(stream_at_, bytes));
  stream_at_ += bytes.size();
  return {};
}

Result<void> GrowingFile::write_at(std::uint64_t offset, std::string_view bytes) {
  if (offset + bytes.size() > file_limit_)  // SIGXFSZ would end the process
    return fail(failure(EFBIG));
  if (chunks_ != nullptr) return put_in_chunks(offset, bytes);
  note_before(offset);
  const auto piece = [&](const transfer::Range& range) {
    return bytes.substr(range.begin - offset, range.end - range.begin);
  };
  std::vector<transfer::Range> fresh;
  {
    const std::lock_guard lock(writing_);
    fresh = gaps_in({offset, offset + bytes.size()});
    for (const transfer::Range& range : fresh) {
      TRY(put(range.begin, piece(range)));
      add(range);
    }
  }
  {
    const std::lock_guard lock(noting_);
    not_yet_noted_ += bytes.size();
    if (not_yet_noted_ >= bytes_between_notes) write_note();
  }
  for (const transfer::Range& range : fresh) TRY(advance(range.begin, piece(range)));
  return {};
}

Result<void> GrowingFile::put(std::uint64_t offset, std::string_view bytes) {
  if (const int why = write_whole_at(file_.get(), bytes, offset); why != 0) return fail(failure(why));
  const std::lock_guard lock(mutex_);
  if (stop_) return fail(*stop_);
  return {};
}

Result<bool> GrowingFile::put_unless_received(std::uint64_t chunk, std::uint64_t offset,
                                              std::string_view bytes) {
  const std::lock_guard lock(writing_);
  if (has(chunk)) return false;
  TRY(put(offset, bytes));
  return true;
}

// Each chunk comes from one connection in order; it is complete with its last byte.
Result<void> GrowingFile::put_in_chunks(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto index = static_cast<std::size_t>(offset / chunks_->chunk);
    if (index >= chunks_->sha256.size())
      return fail(diagnose(Code::fetched_length_wrong)
                      .with(Key::expected, std::to_string(chunks_->size))
                      .with(Key::actual, std::to_string(offset + bytes.size())));
    const transfer::Range chunk{chunks_->begin_of(index), chunks_->end_of(index)};
    const std::string_view piece = bytes.substr(0, chunk.end - offset);
    TRY_ASSIGN(const bool fresh, put_unless_received(chunk.begin, offset, piece));
    if (fresh) {
      if (offset + piece.size() == chunk.end) {
        TRY_ASSIGN(const std::string actual, digest_of(chunk));
        if (actual != chunks_->sha256[index])
          return fail(diagnose(Code::fetched_content_wrong)
                          .with(Key::expected_sha256, chunks_->sha256[index], "the list of chunks")
                          .with(Key::actual_sha256, actual)
                          .with(Key::position, std::to_string(chunk.begin)));
        {
          const std::lock_guard lock(writing_);
          add(chunk);
        }
        TRY(advance(chunk.begin, {}));
      }
    }
    offset += piece.size();
    bytes.remove_prefix(piece.size());
  }
  return {};
}

// Releases the contiguous bytes from the start to the reader. `bytes` are those at `offset`; they need not be
// read back if they come next.
Result<void> GrowingFile::advance(std::uint64_t offset, std::string_view bytes) {
  if (received_prefix() <= size_) return {};
  const std::lock_guard hashing(hashing_);
  std::vector<char> buffer;
  for (;;) {
    const std::uint64_t at = size_, end = received_prefix();
    if (at >= end) return {};
    std::string_view next = bytes;
    if (at != offset || bytes.empty()) {
      buffer.resize(1u << 20);
      const ssize_t got =
          calls::pread(file_.get(), buffer.data(), std::min<std::uint64_t>(buffer.size(), end - at),
                       static_cast<calls::Offset>(at));
      if (got <= 0) return fail(unreadable(got < 0 ? errno : EIO));
      next = std::string_view(buffer.data(), static_cast<std::size_t>(got));
    }
    hash_.update(next);
    const std::lock_guard lock(mutex_);
    if (stop_) return fail(*stop_);
    size_ = at + next.size();
    grown_.notify_all();
  }
}

void GrowingFile::complete() {
  const std::scoped_lock lock(noting_, mutex_);
  // Archive readers use the size that is held. Other readers of the file see its real size from here on.
  if (noted_) static_cast<void>(calls::ftruncate(file_.get(), static_cast<calls::Offset>(size_.load())));
  complete_ = true;
  grown_.notify_all();
}

void GrowingFile::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  grown_.notify_all();
}

void GrowingFile::stop_receiving(Diagnosis diagnosis) {
  const std::lock_guard lock(mutex_);
  if (!stop_) stop_ = std::move(diagnosis);
}

std::int64_t GrowingFile::read(std::uint64_t at, char* buffer, std::size_t size, std::uint64_t generation) {
  std::uint64_t available = 0;
  {
    std::unique_lock lock(mutex_);
    grown_.wait(lock, [&] { return abandoned_ || complete_ || generation_ != generation || size_ > at; });
    if (abandoned_ || generation_ != generation) return -1;
    available = size_ > at ? size_ - at : 0;
  }
  if (available == 0) return 0;
  const ssize_t got = calls::pread(file_.get(), buffer, std::min<std::uint64_t>(size, available),
                                   static_cast<calls::Offset>(at));
  if (got > 0) return got;
  const int why = errno;
  const std::lock_guard lock(mutex_);
  if (got < 0) unreadable_ = unreadable(why);
  // A truncated file was started again; the next call returns -1.
  return got < 0 || generation_ != generation ? -1 : 0;
}

std::uint64_t GrowingFile::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

bool GrowingFile::abandoned() const {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

bool GrowingFile::wait_until_settled(std::uint64_t generation) {
  std::unique_lock lock(mutex_);
  grown_.wait(lock, [&] { return abandoned_ || complete_ || generation_ != generation; });
  return generation_ == generation;
}

std::string GrowingFile::head(std::size_t size) const {
  std::string bytes(size, '\0');
  const ssize_t got = calls::pread(file_.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

void GrowingFile::remove() { calls::unlink(path_); }

}  // namespace enginehost::acquire
