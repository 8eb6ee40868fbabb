#include "tests/support/archives.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <filesystem>
#include <stdexcept>
#include <type_traits>

#include "base/paths.hpp"

namespace enginehost::test {
namespace {

void put16(std::string& to, std::uint32_t value) {
  to += static_cast<char>(value & 255);
  to += static_cast<char>(value >> 8 & 255);
}
void put32(std::string& to, std::uint32_t value) {
  put16(to, value & 0xffff);
  put16(to, value >> 16);
}

// libarchive 3.6.2 converts names other than UTF-16 through the code page of Windows.
constexpr bool is_wide = std::is_same_v<std::filesystem::path::value_type, wchar_t>;

void set_name(archive_entry* entry, const std::string& name) {
  if constexpr (is_wide)
    ::archive_entry_copy_pathname_w(entry, path_of(name).wstring().c_str());
  else
    ::archive_entry_set_pathname_utf8(entry, name.c_str());
}

la_ssize_t append(archive*, void* to, const void* bytes, std::size_t size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

}  // namespace

std::string make_archive(const std::string& kind, const std::vector<ArchiveEntry>& entries) {
  std::string result;
  archive* writing = ::archive_write_new();
  if (kind == "zip")
    ::archive_write_set_format_zip(writing);
  else
    ::archive_write_set_format_pax_restricted(writing);
  if (kind == "tar.gz") ::archive_write_add_filter_gzip(writing);
  if (kind == "tar.xz") ::archive_write_add_filter_xz(writing);
  if (kind == "tar.zst") ::archive_write_add_filter_zstd(writing);
  ::archive_write_set_bytes_in_last_block(writing, 1);
  if constexpr (is_wide) ::archive_write_set_options(writing, "hdrcharset=UTF-8");
  if (::archive_write_open(writing, &result, nullptr, &append, nullptr) != ARCHIVE_OK)
    throw std::runtime_error(::archive_error_string(writing));
  for (const ArchiveEntry& fact : entries) {
    archive_entry* entry = ::archive_entry_new();
    set_name(entry, fact.path);
    ::archive_entry_set_perm(entry, static_cast<__LA_MODE_T>(fact.mode));
    ::archive_entry_set_filetype(entry, fact.device ? AE_IFCHR : fact.link.empty() ? AE_IFREG : AE_IFLNK);
    if (!fact.link.empty()) ::archive_entry_set_symlink_utf8(entry, fact.link.c_str());
    if (!fact.hard_link.empty()) ::archive_entry_set_hardlink_utf8(entry, fact.hard_link.c_str());
    ::archive_entry_set_size(entry, static_cast<la_int64_t>(fact.bytes.size()));
    if (::archive_write_header(writing, entry) < ARCHIVE_WARN)
      throw std::runtime_error(::archive_error_string(writing));
    if (!fact.bytes.empty()) ::archive_write_data(writing, fact.bytes.data(), fact.bytes.size());
    ::archive_entry_free(entry);
  }
  ::archive_write_close(writing);
  ::archive_write_free(writing);
  return result;
}

std::uint32_t crc32_of(const std::string& bytes) {
  std::uint32_t crc = ~0u;
  for (const char character : bytes) {
    crc ^= static_cast<unsigned char>(character);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

std::string make_zip(const std::vector<ZipFact>& facts) {
  std::string result, directory;
  std::uint32_t listed = 0;
  for (const ZipFact& fact : facts) {
    const auto size = static_cast<std::uint32_t>(fact.bytes.size());
    const std::uint32_t crc = crc32_of(fact.bytes), at = static_cast<std::uint32_t>(result.size());
    const std::uint32_t flags = fact.sizes_follow ? 8 : 0;
    const std::string name = fact.header_name.value_or(fact.name);
    if (!fact.only_directory) {
      put32(result, 0x04034b50);
      for (const std::uint32_t value : {20u, flags, 0u, 0u, 33u}) put16(result, value);
      put32(result, fact.sizes_follow ? 0 : crc);
      put32(result, fact.sizes_follow ? 0 : size);
      put32(result, fact.sizes_follow ? 0 : size);
      put16(result, static_cast<std::uint32_t>(name.size()));
      put16(result, 0);
      result += name + fact.bytes;
      if (fact.sizes_follow)
        for (const std::uint32_t value : {0x08074b50u, crc, size, size}) put32(result, value);
    }
    if (fact.only_header) continue;
    ++listed;
    put32(directory, 0x02014b50);
    for (const std::uint32_t value : {3u << 8 | 20u, 20u, flags, 0u, 0u, 33u}) put16(directory, value);
    put32(directory, fact.directory_crc.value_or(crc));
    put32(directory, fact.directory_size.value_or(size));
    put32(directory, fact.directory_size.value_or(size));
    put16(directory, static_cast<std::uint32_t>(fact.name.size()));
    for (int i = 0; i < 4; ++i) put16(directory, 0);
    put32(directory, fact.mode << 16);
    put32(directory, fact.only_directory ? 0 : at);
    directory += fact.name;
  }
  const auto at = static_cast<std::uint32_t>(result.size());
  result += directory;
  put32(result, 0x06054b50);
  for (const std::uint32_t value : {0u, 0u, listed, listed}) put16(result, value);
  put32(result, static_cast<std::uint32_t>(directory.size()));
  put32(result, at);
  put16(result, 0);
  return result;
}

}  // namespace enginehost::test
