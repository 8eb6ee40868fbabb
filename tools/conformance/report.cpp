#include "tools/conformance/report.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "tools/conformance/system.hpp"

namespace engineplugin {
namespace {

// The UTF-8 character that the text begins with, and its length in bytes; 0 bytes for an invalid one.
struct Character {
  std::size_t bytes = 0;
  std::uint32_t point = 0;
};

Character first_of(std::string_view text) {
  const std::uint32_t lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t point = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; i++) {
    const std::uint32_t next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {};
    point = point << 6 | (next & 0x3F);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < least[bytes] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return {};
  return {bytes, point};
}

// Returns the text of a plugin on one line, safe for a terminal: line separators and tabs become a space;
// control characters (C0, DEL and C1) and bytes that are no UTF-8 become "\x1b".
std::string printable_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const auto [bytes, point] = first_of(text);
    const bool blank = point == '\n' || point == '\t' || point == '\f' || point == 0x2028 || point == 0x2029;
    if (bytes != 0 && blank) {
      line += ' ';
    } else if (bytes == 0 || point < 0x20 || (point >= 0x7F && point <= 0x9F)) {
      char escaped[16];
      std::snprintf(escaped, sizeof escaped, "\\x%02x",
                    bytes == 0 ? static_cast<unsigned char>(text.front()) : point);
      line += escaped;
    } else {
      line += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return line;
}

}  // namespace

const char* const copy_came_back =
    "a child that the plugin forked came back from its call and would go on as a second program; it was "
    "ended. "
    "A forked child calls exec() or _exit()";

void pass_lines_on(SharedProgress& progress) {
  const std::uint32_t end = progress.written;
  for (std::uint32_t at = progress.taken; at != end; at++)
    std::putchar(progress.lines[at % sizeof progress.lines]);
  progress.taken = end;
  std::fflush(stdout);
}

void Report::write(const std::string& line) {
  std::uint32_t at = progress_.written;
  for (const char c : line) {
    while (at - progress_.taken == sizeof progress_.lines) {
      progress_.written = at;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    progress_.lines[at++ % sizeof progress_.lines] = c;
  }
  progress_.written = at;
}

void Report::begin(const std::string& name) {
  end_copy();
  std::snprintf(progress_.check, sizeof progress_.check, "%s", printable_line(name).c_str());
  progress_.begun++;
}

bool Report::end(bool passed, const std::string& detail) {
  end_copy();
  const bool copies = progress_.copies.exchange(0) > 0;
  const bool good = passed && !copies;
  const std::string text = !copies ? detail : passed ? copy_came_back : detail + "; " + copy_came_back;
  write((good ? "ok   " : "FAIL ") + std::string(progress_.check) + ": " + printable_line(text) + "\n");
  if (!good) progress_.failures++;
  return passed;
}

}  // namespace engineplugin
