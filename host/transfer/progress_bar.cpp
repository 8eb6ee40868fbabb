#include "host/transfer/progress_bar.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "base/environment.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/transfer/progress.hpp"

namespace enginehost::transfer {
namespace {

using Phase = Progress::Phase;

constexpr std::chrono::seconds between_lines{10};
constexpr std::size_t width_of_word = 10, width_of_name = 15, widest_bar = 20, narrowest_bar = 8;

// Returns a phase in one word for people; name_of() is part of the API.
std::string_view word_of(Phase phase) {
  switch (phase) {
    case Phase::downloading:
      return "fetching";
    case Phase::publishing:
      return "storing";
    default:
      return name_of(phase);
  }
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}
std::string right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

// The file's name of a URL, a path, or "package index: PROJECT, FILE"; other sources as they are.
std::string name_of_source(const Progress& progress) {
  std::string name = printable_line(progress.source);
  if (progress.phase == Phase::waiting) return "for " + name;
  if (name.starts_with("package index: ")) return name.substr(name.rfind(' ') + 1);
  while (name.size() > 1 && (name.back() == '/' || name.back() == '\\')) name.pop_back();
  const std::size_t slash = name.find_last_of("/\\");
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

// Never wider than `width`, and without a part of a character at its end.
std::string shortened(std::string name, std::size_t width) {
  if (name.size() <= width) return name;
  name.resize(width);
  while (!is_utf8(name)) name.pop_back();
  return name;
}

struct Unit {
  double bytes = 1;
  const char* name = "B";
};
Unit unit_for(double bytes) {
  static constexpr Unit units[] = {{1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}};
  std::size_t at = 0;
  while (at + 1 < std::size(units) && bytes >= units[at].bytes * 1023.5) ++at;
  return units[at];
}

// At most four characters: "9.5", "115".
std::string number(double bytes, const Unit& unit) {
  const double value = bytes / unit.bytes;
  char text[32];
  std::snprintf(text, sizeof text, value < 9.95 && unit.bytes > 1 ? "%.1f" : "%.0f", value);
  return text;
}

// Always as wide as " 71 / 115 MiB" is for the same total.
std::string amount(const Progress& progress) {
  const auto done = static_cast<double>(progress.done);
  if (!progress.total) {
    const Unit unit = unit_for(done);
    return right(number(done, unit), 4) + " " + padded(unit.name, 3);
  }
  const auto total = static_cast<double>(*progress.total);
  const Unit unit = unit_for(total);
  return right(number(done, unit), 4) + " / " + right(number(total, unit), 4) + " " + padded(unit.name, 3);
}

std::string rate(const Progress& progress) {
  if (progress.bytes_per_second < 1) return std::string(10, ' ');
  const Unit unit = unit_for(std::max(progress.bytes_per_second, 1024.0));
  return right(number(progress.bytes_per_second, unit), 4) + " " + padded(std::string(unit.name) + "/s", 5);
}

std::string time_left(const Progress& progress) {
  if (progress.bytes_per_second < 1 || !progress.total || *progress.total <= progress.done) return "";
  const double seconds =
      std::ceil(static_cast<double>(*progress.total - progress.done) / progress.bytes_per_second);
  const auto whole = static_cast<std::uint64_t>(std::min(seconds, 1e9));
  const std::string text = whole < 90        ? std::to_string(whole) + " s"
                           : whole < 90 * 60 ? std::to_string((whole + 30) / 60) + " min"
                                             : std::to_string((whole + 1800) / 3600) + " h";
  return right(text, 6) + " left";
}

std::string without_blanks_at_end(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// Returns false for phases that usually pass too fast for a line of their own.
bool is_step(Phase phase) { return phase == Phase::waiting || phase == Phase::downloading; }

}  // namespace

std::string progress_line(const Progress& progress, std::size_t columns) {
  const std::string word = padded(std::string(word_of(progress.phase)), width_of_word);
  if (progress.phase == Phase::waiting) return (word + name_of_source(progress)).substr(0, columns);
  const std::string counts = amount(progress), more = "  " + rate(progress) + "  " + time_left(progress);
  const std::string name = padded(shortened(name_of_source(progress), width_of_name - 1), width_of_name);
  // The widths of the parts that come and go are reserved, so that the others stand still.
  const std::size_t reserved = word.size() + counts.size() + 2 + 10 + 2 + 11;
  std::string line = word;
  std::size_t left = columns > reserved ? columns - reserved : 0;
  if (left >= width_of_name + narrowest_bar + 4) {
    line += name;
    left -= width_of_name;
  }
  if (progress.total && *progress.total > 0 && left >= narrowest_bar + 4) {
    const std::size_t width = std::min(widest_bar, left - 4);
    const double part =
        std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(*progress.total));
    const auto filled = static_cast<std::size_t>(part * static_cast<double>(width));
    std::string bar(filled, '=');
    if (filled < width) bar += filled > 0 ? ">" : "";
    line += "[" + padded(bar, width) + "]  ";
  }
  return without_blanks_at_end((line + counts + more).substr(0, columns));
}

ProgressBar::ProgressBar(std::FILE* stream, bool quiet, bool lines) : stream_(stream) {
  const bool dumb = environment_variable("TERM") == "dumb";
  drawn_in_place_ = !quiet && !dumb && is_terminal(stream);
  lines_ = lines && !quiet && !drawn_in_place_;
  color_ = environment_variable("NO_COLOR").value_or("").empty();
}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::begin() {
  if (has_begun_) return;
  has_begun_ = true;
  began_ = printed_at_ = Clock::now();
}

void ProgressBar::clear() {
  if (!drawn_.exchange(false)) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
}

void ProgressBar::draw(const std::string& line) {
  drawn_ = true;
  std::fprintf(stream_, color_ ? "\r\033[36m%s\033[0m\033[K" : "\r%s\033[K", line.c_str());
  std::fflush(stream_);
}

void ProgressBar::print(const std::string& line) {
  clear();
  printed_at_ = Clock::now();
  std::fprintf(stream_, "%s\n", line.c_str());
  std::fflush(stream_);
}

void ProgressBar::show(const Progress& progress) {
  if (!prints() || progress.phase == Phase::done) return;
  begin();
  if (drawn_in_place_) {
    // The terminal echoes "^C" behind the line. A line that wraps could not be erased.
    draw(progress_line(progress, std::max<std::size_t>(columns_of(stream_), 4) - 3));
    return;
  }
  const std::string step =
      padded(std::string(word_of(progress.phase)), width_of_word) + name_of_source(progress);
  if (is_step(progress.phase) && printed_.insert(step).second)
    print(step);
  else if (Clock::now() - printed_at_ >= between_lines)
    print(progress_line(progress, 120));
}

void ProgressBar::step(std::string_view word, std::string_view text) {
  if (!prints()) return;
  begin();
  const std::string line = padded(std::string(word), width_of_word) + std::string(text);
  if (drawn_in_place_)
    draw(line.substr(0, std::max<std::size_t>(columns_of(stream_), 4) - 3));
  else if (printed_.insert(line).second)
    print(line);
}

void ProgressBar::line(std::string_view text) {
  if (!prints()) return;
  begin();
  print(std::string(text));
}

void ProgressBar::ready(std::string_view what) {
  if (!prints() || !has_begun_) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  char time[32];
  std::snprintf(time, sizeof time, "%.1f s", seconds);
  print(padded("ready", width_of_word) + std::string(what) + "   " + time);
}

ProgressCallback ProgressBar::callback() {
  return [this](const Progress& progress) { show(progress); };
}

const char* name_of(Progress::Phase phase) {
  switch (phase) {
    case Progress::Phase::waiting:
      return "waiting";
    case Progress::Phase::asking:
      return "asking";
    case Progress::Phase::downloading:
      return "downloading";
    case Progress::Phase::unpacking:
      return "unpacking";
    case Progress::Phase::checking:
      return "checking";
    case Progress::Phase::publishing:
      return "publishing";
    case Progress::Phase::done:
      return "done";
  }
  return "unknown";
}

void Meter::at(std::uint64_t done, bool now) {
  if (!callback_) return;
  const Clock::time_point time = Clock::now();
  if (!now && time - reported_ < std::chrono::milliseconds(100)) return;
  reported_ = time;
  if (!measuring_) {  // bytes that were there at the start were not transferred
    measuring_ = true;
    measured_ = time;
    measured_at_ = done;
  }
  const double seconds = std::chrono::duration<double>(time - measured_).count();
  if (seconds >= 0.25 && done >= measured_at_) {
    const double rate = static_cast<double>(done - measured_at_) / seconds;
    progress_.bytes_per_second =
        progress_.bytes_per_second == 0 ? rate : 0.7 * progress_.bytes_per_second + 0.3 * rate;
    measured_ = time;
    measured_at_ = done;
  } else if (done < measured_at_) {
    measured_at_ = done;
  }
  progress_.done = std::max(progress_.done, done);
  callback_(progress_);
}

}  // namespace enginehost::transfer
