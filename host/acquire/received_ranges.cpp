#include "host/acquire/received_ranges.hpp"

#include "base/record.hpp"
#include "base/sha256.hpp"

namespace enginehost::acquire {
namespace {

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

}  // namespace enginehost::acquire
