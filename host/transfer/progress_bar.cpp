#include "host/transfer/progress_bar.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "host/transfer/terminal.hpp"

namespace enginehost::transfer {
namespace {

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  if (whole < 90) return std::to_string(whole) + " s";
  if (whole < 90 * 60) return std::to_string((whole + 30) / 60) + " min";
  return std::to_string((whole + 1800) / 3600) + " h";
}

}  // namespace

std::string progress_line(const Progress& progress, std::size_t columns) {
  std::string counts = format_bytes(progress.done);
  if (progress.total) counts += " of " + format_bytes(*progress.total);
  if (progress.bytes_per_second >= 1) {
    counts += "  " + format_bytes(static_cast<std::uint64_t>(progress.bytes_per_second)) + "/s";
    if (progress.total && *progress.total > progress.done)
      counts += "  " +
                time_text(static_cast<double>(*progress.total - progress.done) / progress.bytes_per_second) +
                " left";
  }
  std::string line = name_of(progress.phase);
  if (progress.phase == Progress::Phase::waiting) line += " for " + progress.source;
  line += "  ";
  if (progress.total && *progress.total > 0 && line.size() + counts.size() + 16 <= columns) {
    const std::size_t width = std::min<std::size_t>(30, columns - line.size() - counts.size() - 4);
    const double part =
        std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(*progress.total));
    const auto filled = static_cast<std::size_t>(part * static_cast<double>(width));
    line += "[" + std::string(filled, '=') + std::string(width - filled, ' ') + "]  ";
  }
  line += counts;
  return line.substr(0, columns);
}

ProgressBar::ProgressBar(std::FILE* stream, bool quiet) : stream_(stream) {
  const bool dumb = environment_variable("TERM") == "dumb";
  visible_ = !quiet && !dumb && is_terminal(stream);
  color_ = environment_variable("NO_COLOR").value_or("").empty();
}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (!drawn_.exchange(false)) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
}

void ProgressBar::show(const Progress& progress) {
  if (!visible_) return;
  drawn_ = true;
  const std::string line = progress_line(progress, columns_of(stream_) - 1);
  std::fprintf(stream_, color_ ? "\r\033[36m%s\033[0m\033[K" : "\r%s\033[K", line.c_str());
  std::fflush(stream_);
}

ProgressCallback ProgressBar::callback() {
  return [this](const Progress& progress) { show(progress); };
}

}  // namespace enginehost::transfer
