#include "host/transfer/chunk_list.hpp"

#include <algorithm>
#include <optional>

#include "base/record.hpp"
#include "base/sha256.hpp"

namespace enginehost::transfer {
namespace {

constexpr std::string_view title = "enginehost-chunks 1";
constexpr std::uint64_t smallest_chunk = 64u << 10, largest_chunk = 1u << 30;
constexpr std::uint64_t largest_file = std::uint64_t{1} << 50;

std::uint64_t count_of(std::uint64_t size, std::uint64_t chunk) { return (size + chunk - 1) / chunk; }

std::optional<std::uint64_t> take_member(std::string_view& text, std::string_view name) {
  const auto line = take_key_and_value(text);
  if (!line || line->key != name) return {};
  std::string_view digits = line->value;
  std::uint64_t value = 0;
  // A number has one spelling: no sign, no leading zero, nothing after it.
  if (!take_number(digits, value, '\n') || std::to_string(value) != line->value) return {};
  return value;
}

}  // namespace

std::uint64_t ChunkList::end_of(std::size_t index) const { return std::min(size, (index + 1) * chunk); }

std::string ChunkList::text() const {
  std::string text(title);
  text += "\nsize " + std::to_string(size) + "\nchunk " + std::to_string(chunk) + "\n";
  for (const std::string& digest : sha256) text += digest + "\n";
  return text;
}

Result<ChunkList> read_chunk_list(std::string_view text, std::string_view name) {
  const auto refuse = [&](std::string_view member, std::string_view problem) {
    return fail(diagnose(Code::member_wrong)
                    .with(Key::document, name)
                    .with(Key::member, member)
                    .with(Key::problem, problem));
  };
  if (take_line(text) != title) return refuse("title", "not a list of chunks of version 1");
  const auto size = take_member(text, "size");
  if (!size || *size == 0 || *size > largest_file) return refuse("size", "not a number of bytes");
  const auto chunk = take_member(text, "chunk");
  if (!chunk || *chunk < smallest_chunk || *chunk > largest_chunk)
    return refuse("chunk", "not a number of bytes from 64 KiB to 1 GiB");
  const std::uint64_t count = count_of(*size, *chunk);
  if (text.size() != count * 65) return refuse("sha256", "not one digest for each chunk");
  ChunkList list{*size, *chunk, {}};
  list.sha256.reserve(count);
  while (const auto line = take_line(text)) {
    if (!is_sha256_hex(*line)) return refuse("sha256", "not a digest");
    list.sha256.emplace_back(*line);
  }
  // The rest is a line without an end.
  if (!text.empty()) return refuse("sha256", "not one digest for each chunk");
  return list;
}

}  // namespace enginehost::transfer
