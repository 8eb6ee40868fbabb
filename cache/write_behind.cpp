#include "cache/write_behind.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"

namespace enginehost::cache {
namespace {

// A piece stays in a core's cache while it is copied, hashed and written; all pieces together take 4 MiB.
constexpr std::size_t piece_size = 256u << 10;
constexpr std::size_t most_pieces = 16;

// Starts writing early, so that the final syncs have little left.
constexpr std::uint64_t kick_every = 8u << 20;

}  // namespace

WriteBehind::~WriteBehind() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::optional<WriteBehind::Failure> WriteBehind::begin(FileDescriptor file, std::string path,
                                                       calls::Mode mode) {
  if (auto failure = next_piece()) return failure;
  filling_.opens = true;
  filling_.file = std::move(file);
  filling_.path = std::move(path);
  filling_.mode = mode;
  return {};
}

std::optional<WriteBehind::Failure> WriteBehind::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (filling_.size == piece_size)
      if (auto failure = hand_over()) return failure;
    const std::size_t size = std::min(bytes.size(), piece_size - filling_.size);
    std::memcpy(filling_.bytes.get() + filling_.size, bytes.data(), size);
    filling_.size += size;
    bytes.remove_prefix(size);
  }
  return {};
}

std::optional<WriteBehind::Failure> WriteBehind::end() {
  filling_.closes = true;
  return hand_over();
}

std::optional<WriteBehind::Failure> WriteBehind::settle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !busy_; });
  return failure_;
}

std::vector<WriteBehind::Written> WriteBehind::take_written() {
  const std::lock_guard lock(mutex_);
  return std::move(written_);
}

// Makes `filling_` an empty piece; waits for one if all are queued.
std::optional<WriteBehind::Failure> WriteBehind::next_piece() {
  std::unique_lock lock(mutex_);
  if (filling_.bytes == nullptr) {
    changed_.wait(lock, [&] { return !spare_.empty() || pieces_ < most_pieces; });
    if (!spare_.empty()) {
      filling_ = std::move(spare_.back());
      spare_.pop_back();
    } else {
      filling_.bytes = std::make_unique<char[]>(piece_size);
      ++pieces_;
    }
  }
  filling_.size = 0;
  filling_.opens = filling_.closes = false;
  return failure_;
}

// Passes `filling_` to the thread, or does its work if there is no thread.
std::optional<WriteBehind::Failure> WriteBehind::hand_over() {
  if (!thread_.joinable() && (filling_.size < piece_size || !start_thread())) {
    const int error_number = failure_ ? 0 : process(filling_);
    if (error_number != 0) failure_ = Failure{error_number, path_};
    return next_piece();
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(filling_));
  }
  changed_.notify_all();
  return next_piece();
}

bool WriteBehind::start_thread() {
  if (!threads_to_be_had_) return false;
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    threads_to_be_had_ = false;  // continues without a thread, only slower
  }
  return threads_to_be_had_;
}

void WriteBehind::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    Piece piece = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    const bool failed = failure_.has_value();
    lock.unlock();
    const int error_number = failed ? 0 : process(piece);
    piece.file = FileDescriptor();
    lock.lock();
    if (error_number != 0) failure_ = Failure{error_number, path_};
    spare_.push_back(std::move(piece));
    busy_ = false;
    changed_.notify_all();
  }
}

int WriteBehind::process(Piece& piece) {
  if (piece.opens) {
    file_ = std::move(piece.file);
    path_ = std::move(piece.path);
    mode_ = piece.mode;
    digest_ = Sha256();
    size_ = kicked_ = 0;
  }
  const std::string_view bytes(piece.bytes.get(), piece.size);
  digest_.update(bytes);
  if (const int why = write_whole(file_.get(), bytes); why != 0) return why;
  size_ += piece.size;
  kick(piece.closes ? 1 : kick_every);
  return piece.closes ? finish_file() : 0;
}

int WriteBehind::finish_file() {
  if (calls::fchmod(file_.get(), mode_) != 0) return errno;
  if (calls::close(file_.release()) != 0) return errno;
  Written written{path_, digest_.hex()};
  const std::lock_guard lock(mutex_);
  written_.push_back(std::move(written));
  return 0;
}

void WriteBehind::kick(std::uint64_t least) {
  if (size_ - kicked_ < least) return;
  begin_writing_out(file_.get(), kicked_, size_ - kicked_);
  kicked_ = size_;
}

}  // namespace enginehost::cache
