#include "tools/conformance/library_file.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tools/conformance/byte_reader.hpp"

namespace engineplugin {
namespace {

// "PE Format" (Microsoft): offsets in the headers.
constexpr std::uint64_t header_at = 0x3C, optional_header = 24, section_size = 40, data_directories = 112;
constexpr std::uint16_t is_dll = 0x2000, pe32_plus = 0x20B;
constexpr std::uint32_t most_names = 1u << 20;

}  // namespace

std::optional<std::uint64_t> PeFile::offset_of(std::uint64_t address) const {
  for (const Section& section : sections_)
    if (address >= section.address && address - section.address < section.file_size)
      return section.offset + (address - section.address);
  return std::nullopt;
}

std::optional<PeFile> PeFile::read(const std::filesystem::path& path, std::string& error) {
  std::ifstream stream(path, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(stream), {});
  PeFile file;
  file.data_.resize(content.size());
  std::transform(content.begin(), content.end(), file.data_.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  const ByteReader bytes(file.data_);
  const auto wrong = [&](const char* what) {
    error = what;
    return std::nullopt;
  };
  const auto head = bytes.at<std::uint32_t>(header_at);
  if (!head || bytes.at<std::uint16_t>(0) != 0x5A4D || bytes.at<std::uint32_t>(*head) != 0x00004550u)
    return wrong("not a PE file");
  const auto count = bytes.at<std::uint16_t>(*head + 6), size = bytes.at<std::uint16_t>(*head + 20),
             flags = bytes.at<std::uint16_t>(*head + 22);
  const std::uint64_t more = *head + optional_header;
  if (!count || !size || !flags || (*flags & is_dll) == 0) return wrong("not a DLL");
  if (bytes.at<std::uint16_t>(more) != pe32_plus) return wrong("not for 64-bit programs");
  for (std::uint64_t i = 0; i < *count; i++) {
    const std::uint64_t at = more + *size + i * section_size;
    const auto address = bytes.at<std::uint32_t>(at + 12), length = bytes.at<std::uint32_t>(at + 16),
               offset = bytes.at<std::uint32_t>(at + 20);
    if (!address || !length || !offset) return wrong("the table of sections is cut");
    file.sections_.push_back({*offset, *address, *length});
  }
  const auto table = bytes.at<std::uint32_t>(more + data_directories);
  if (!table || *table == 0) return wrong("it exports nothing");
  const auto directory = file.offset_of(*table);
  if (!directory) return wrong("the table of exports lies outside the file");
  const auto functions = bytes.at<std::uint32_t>(*directory + 28),
             names = bytes.at<std::uint32_t>(*directory + 32),
             ordinals = bytes.at<std::uint32_t>(*directory + 36),
             named = bytes.at<std::uint32_t>(*directory + 24);
  if (!functions || !names || !ordinals || !named || *named > most_names)
    return wrong("the table of exports is damaged");
  for (std::uint64_t i = 0; i < *named; i++) {
    const auto name_at = file.offset_of(*names + i * 4), ordinal_at = file.offset_of(*ordinals + i * 2);
    const auto name = name_at ? bytes.at<std::uint32_t>(*name_at) : std::nullopt;
    const auto ordinal = ordinal_at ? bytes.at<std::uint16_t>(*ordinal_at) : std::nullopt;
    const auto text_at = name ? file.offset_of(*name) : std::nullopt;
    const auto function_at =
        ordinal ? file.offset_of(*functions + *ordinal * std::uint64_t{4}) : std::nullopt;
    const auto function = function_at ? bytes.at<std::uint32_t>(*function_at) : std::nullopt;
    auto text = text_at && function ? bytes.text(0, file.data_.size(), *text_at) : std::nullopt;
    if (!text) return wrong("an exported name lies outside the file");
    file.exports_.push_back({std::move(*text), *function, 0});
  }
  return file;
}

std::span<const std::byte> PeFile::bytes_at(std::uint64_t address, std::size_t count) const {
  const auto begin = offset_of(address);
  if (!begin || *begin > data_.size() || data_.size() - *begin < count || !offset_of(address + count - 1))
    return {};
  return std::span(data_).subspan(*begin, count);
}

}  // namespace engineplugin
