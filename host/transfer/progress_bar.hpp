// A progress bar.
#pragma once
#include <atomic>
#include <cstdio>
#include <memory>

#include "host/transfer/progress.hpp"

namespace enginehost::transfer {

// Draws bytes, rate and time left on a terminal; prints nothing elsewhere. Respects NO_COLOR and TERM=dumb.
// clear() and the destructor erase the line; call clear() before printing anything else. One thread at a
// time, except for clear().
class ProgressBar {
 public:
  explicit ProgressBar(std::FILE* stream = stderr, bool quiet = false);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const Progress& progress);
  void clear();
  // For use as a callback; the bar must outlive it.
  ProgressCallback callback();
  bool visible() const { return visible_; }

 private:
  std::FILE* stream_;
  bool visible_ = false, color_ = false;
  std::atomic<bool> drawn_ = false;
};

// One line of at most `columns` characters: "downloading  [=====>    ]  120 MiB of 317 MiB  95 MiB/s  2 s
// left".
std::string progress_line(const Progress& progress, std::size_t columns);

}  // namespace enginehost::transfer
