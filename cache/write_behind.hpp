// Writes and hashes files in a second thread while the caller decodes.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/sha256.hpp"

namespace enginehost::cache {

// Decoding, hashing and writing take similar time, so one thread for all three would leave a second processor
// idle. Pieces wait in a queue of fixed length, in reused buffers; the caller waits when it is full. The
// thread starts with the first full piece; smaller content is written by the caller. Files are written one
// after another, in the given order. Thread safety: one thread at a time.
class WriteBehind {
 public:
  struct Failure {
    int error_number = 0;
    std::string path;
  };
  struct Written {
    std::string path, sha256;
  };

  WriteBehind() = default;
  // Waits for the current piece; everything queued behind it is dropped.
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  // Each returns the first failure so far, of any earlier call; nothing is written after one. `path` names
  // the file in failures and results. `mode` is its mode when it is closed.
  std::optional<Failure> begin(FileDescriptor file, std::string path, calls::Mode mode);
  std::optional<Failure> write(std::string_view bytes);
  std::optional<Failure> end();

  // Waits until everything given is written and closed.
  std::optional<Failure> settle();
  // Returns the files that settle() found written since the last call, in order.
  std::vector<Written> take_written();

 private:
  struct Piece {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
    bool opens = false, closes = false;  // first and last piece of its file
    FileDescriptor file;                 // with `opens`
    std::string path;
    calls::Mode mode = 0;
  };

  std::optional<Failure> next_piece();
  std::optional<Failure> hand_over();
  bool start_thread();
  void work();
  // Returns 0 or an errno. Runs in one thread at a time.
  int process(Piece& piece);
  int finish_file();
  void kick(std::uint64_t least);

  Piece filling_;
  std::thread thread_;
  bool threads_to_be_had_ = true;

  // used by the writing thread
  FileDescriptor file_;
  std::string path_;
  calls::Mode mode_ = 0;
  Sha256 digest_;
  std::uint64_t size_ = 0, kicked_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> waiting_;
  std::vector<Piece> spare_;
  std::size_t pieces_ = 0;  // that exist, including the one being filled
  bool busy_ = false, stop_ = false;
  std::optional<Failure> failure_;
  std::vector<Written> written_;
};

}  // namespace enginehost::cache
