// The progress of a command, on standard error.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "host/transfer/progress.hpp"

namespace enginehost::transfer {

// Shows what a command does while it downloads and checks a build.
//
// On a terminal it draws one line in place, whose parts have fixed widths. Without a terminal, and if `lines`
// is set, it prints one line for each step and one every ten seconds. Otherwise, and if `quiet`, it prints
// nothing. Respects NO_COLOR; with TERM=dumb it prints lines.
//
// clear() and the destructor erase the line that is drawn; call clear() before printing anything else. One
// thread at a time, except for clear().
class ProgressBar {
 public:
  explicit ProgressBar(std::FILE* stream = stderr, bool quiet = false, bool lines = false);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const Progress& progress);
  // Shows a step without bytes: "checking  loads in a child process".
  void step(std::string_view word, std::string_view text);
  // Prints a line that stays.
  void line(std::string_view text);
  // Prints "ready     pytorch 2.11.0 cpu   6.2 s" if a step was shown, with the time since the first one.
  void ready(std::string_view what);
  // Leaves out a time of the past, in which a person was asked, from the time that ready() prints.
  void leave_out(std::chrono::steady_clock::duration time) { began_ += time; }
  void clear();
  // For use as a callback; the bar must outlive it.
  ProgressCallback callback();
  bool prints() const { return drawn_in_place_ || lines_; }

 private:
  using Clock = std::chrono::steady_clock;

  void begin();
  void draw(const std::string& line);
  void print(const std::string& line);

  std::FILE* stream_;
  bool drawn_in_place_ = false, lines_ = false, color_ = false;
  std::atomic<bool> drawn_ = false;
  std::set<std::string> printed_;  // the steps that have their line
  Clock::time_point began_, printed_at_;
  bool has_begun_ = false;
};

// Returns one line of at most `columns` characters:
// "fetching  torch_cpu    [====>     ]   71 /  115 MiB   24 MiB/s   2 s left".
std::string progress_line(const Progress& progress, std::size_t columns);

// Returns true if the stream is a terminal that supports ANSI control sequences. On Windows this also enables
// them.
bool is_terminal(std::FILE* stream);

// Returns the width in columns; 80 if it is unknown.
std::size_t columns_of(std::FILE* stream);

}  // namespace enginehost::transfer
