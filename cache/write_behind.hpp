// Writes and hashes files while whoever decodes them goes on.
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

// Decoding, hashing and writing take about as long as each other, so that one thread for all three keeps a
// second processor idle. Pieces wait in a queue of fixed length, in buffers that are used again; when it is
// full the caller waits. The thread is started with the first full piece: what is small is written by the
// caller. Used by one thread at a time; files are written one after another, in the order in which they are
// given.
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
  // What was not written yet never is; waits for the piece at hand.
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  // Each tells the first failure so far, of whatever was given before; nothing is written after one. `path`
  // names the file in failures and results; `mode` is what it has when it is closed.
  std::optional<Failure> begin(FileDescriptor file, std::string path, calls::Mode mode);
  std::optional<Failure> write(std::string_view bytes);
  std::optional<Failure> end();

  // Waits until all that was given is written and closed.
  std::optional<Failure> settle();
  // What settle() found written since the last time, in order.
  std::vector<Written> take_written();

 private:
  struct Piece {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
    bool opens = false, closes = false;  // the first, the last of its file
    FileDescriptor file;                 // with `opens`
    std::string path;
    calls::Mode mode = 0;
  };

  std::optional<Failure> next_piece();
  std::optional<Failure> hand_over();
  bool start_thread();
  void work();
  // Returns errno, or 0. Only one thread is ever in it.
  int process(Piece& piece);
  int finish_file();
  void kick(std::uint64_t least);

  Piece filling_;
  std::thread thread_;
  bool threads_to_be_had_ = true;

  // Of the thread that writes.
  FileDescriptor file_;
  std::string path_;
  calls::Mode mode_ = 0;
  Sha256 digest_;
  std::uint64_t size_ = 0, kicked_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> waiting_;
  std::vector<Piece> spare_;
  std::size_t pieces_ = 0;  // that exist, the one being filled among them
  bool busy_ = false, stop_ = false;
  std::optional<Failure> failure_;
  std::vector<Written> written_;
};

}  // namespace enginehost::cache
