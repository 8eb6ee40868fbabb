// Offsets and field names are those of PKWARE's APPNOTE.TXT 6.3, sections 4.3.7 to 4.3.16 and 4.5.3 (zip64).
#include "host/acquire/zip_directory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"

namespace enginehost::acquire {
namespace {

constexpr std::uint32_t end_mark = 0x06054b50, end64_mark = 0x06064b50, locator64_mark = 0x07064b50,
                        directory_mark = 0x02014b50, header_mark = 0x04034b50;
constexpr std::uint16_t encrypted = 1, sizes_follow = 8;
constexpr std::uint64_t largest_directory = 512u << 20;

Diagnosis broken(std::string_view problem, std::string_view entry = {}) {
  Diagnosis diagnosis = diagnose(Code::archive_not_unpacked);
  diagnosis.with(Key::archive, "zip").with(Key::problem, problem);
  if (!entry.empty()) diagnosis.with(Key::entry, entry);
  return diagnosis;
}

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value = static_cast<Number>(
        value |
        static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(bytes[at + i])) << (8 * i)));
  return value;
}
std::uint16_t u16(std::string_view bytes, std::size_t at) { return number_at<std::uint16_t>(bytes, at); }
std::uint32_t u32(std::string_view bytes, std::size_t at) { return number_at<std::uint32_t>(bytes, at); }
std::uint64_t u64(std::string_view bytes, std::size_t at) { return number_at<std::uint64_t>(bytes, at); }

// The file begins with the archive's byte `from`.
Result<std::string> bytes_at(int file, std::uint64_t from, std::uint64_t at, std::uint64_t size) {
  if (at < from) return fail(broken("cut off"));
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t more =
        calls::pread(file, bytes.data() + got, size - got, static_cast<calls::Offset>(at - from + got));
    if (more < 0) return fail(diagnose_errno(Code::cache_unusable, errno));
    if (more == 0) return fail(broken("cut off"));
    got += static_cast<std::size_t>(more);
  }
  return bytes;
}

// 4.5.3: the 64-bit values are in this order; each is there only if its 32-bit field is all ones.
Result<void> widen(std::string_view extra, ZipEntry& entry, bool in_directory) {
  const bool wide_size = entry.size == UINT32_MAX, wide_packed = entry.packed == UINT32_MAX,
             wide_at = in_directory && entry.header_at == UINT32_MAX;
  if (!wide_size && !wide_packed && !wide_at) return {};
  while (extra.size() >= 4) {
    const std::size_t length = u16(extra, 2);
    if (length > extra.size() - 4) break;
    if (u16(extra, 0) == 1) {
      std::string_view values = extra.substr(4, length);
      for (auto [wanted, target] :
           {std::pair{wide_size, &entry.size}, {wide_packed, &entry.packed}, {wide_at, &entry.header_at}}) {
        if (!wanted) continue;
        if (values.size() < 8) return fail(broken("malformed zip64 field", entry.name));
        *target = u64(values, 0);
        values.remove_prefix(8);
      }
      return {};
    }
    extra.remove_prefix(4 + length);
  }
  return fail(broken("zip64 field is missing", entry.name));
}

struct End {
  std::uint64_t entries = 0, size = 0, at = 0;
};

Result<End> within_limit(const End& end) {
  if (end.size > largest_directory) return fail(broken("the directory is too long"));
  return end;
}

Result<End> find_end(int file, std::uint64_t size, std::uint64_t from) {
  const std::uint64_t tail_size = std::min<std::uint64_t>(size - from, 22 + 65535);
  TRY_ASSIGN(const std::string tail, bytes_at(file, from, size - tail_size, tail_size));
  for (std::size_t at = tail.size() < 22 ? 0 : tail.size() - 22 + 1; at-- > 0;) {
    if (u32(tail, at) != end_mark || at + 22 + u16(tail, at + 20) != tail.size()) continue;
    if (u16(tail, at + 4) != 0 || u16(tail, at + 6) != 0) return fail(broken("split over several disks"));
    End end{u16(tail, at + 10), u32(tail, at + 12), u32(tail, at + 16)};
    const std::uint64_t end_at = size - tail_size + at;
    if (end.entries != 0xffff && end.size != UINT32_MAX && end.at != UINT32_MAX) {
      if (end.at + end.size != end_at) return fail(broken("the directory is not where it should end"));
      return within_limit(end);
    }
    if (end_at < 20 + 56) return fail(broken("zip64 end is missing"));
    TRY_ASSIGN(const std::string locator, bytes_at(file, from, end_at - 20, 20));
    if (u32(locator, 0) != locator64_mark) return fail(broken("zip64 locator is missing"));
    const std::uint64_t end64_at = u64(locator, 8);
    if (end64_at > end_at - 20 - 56) return fail(broken("zip64 end is missing"));
    TRY_ASSIGN(const std::string end64, bytes_at(file, from, end64_at, 56));
    if (u32(end64, 0) != end64_mark) return fail(broken("zip64 end is missing"));
    end = End{u64(end64, 32), u64(end64, 40), u64(end64, 48)};
    if (end.at > end64_at || end.size != end64_at - end.at)
      return fail(broken("the directory is not where it should end"));
    return within_limit(end);
  }
  return fail(broken("there is no directory at the end"));
}

// Compares the local header of an entry with the directory.
Result<std::uint64_t> check_header(int file, std::uint64_t size, const ZipEntry& entry) {
  if (entry.header_at + 30 > size) return fail(broken("the directory points behind the file", entry.name));
  TRY_ASSIGN(const std::string fixed, bytes_at(file, 0, entry.header_at, 30));
  if (u32(fixed, 0) != header_mark) return fail(broken("the directory points at no header", entry.name));
  const std::uint64_t name_size = u16(fixed, 26), extra_size = u16(fixed, 28);
  if (entry.header_at + 30 + name_size + extra_size > size) return fail(broken("cut off", entry.name));
  TRY_ASSIGN(const std::string rest, bytes_at(file, 0, entry.header_at + 30, name_size + extra_size));
  ZipEntry header;
  header.name = rest.substr(0, name_size);
  header.flags = u16(fixed, 6);
  header.method = u16(fixed, 8);
  header.crc = u32(fixed, 14);
  header.packed = u32(fixed, 18);
  header.size = u32(fixed, 22);
  const bool late = (header.flags & sizes_follow) != 0;
  if (header.name != entry.name)
    return fail(std::move(
        broken("header and directory name different files", entry.name).with(Key::other, header.name)));
  if (header.method != entry.method || ((header.flags ^ entry.flags) & (encrypted | sizes_follow)) != 0)
    return fail(broken("header and directory differ in method", entry.name));
  if (!late) {
    TRY(widen(std::string_view(rest).substr(name_size), header, false));
    if (header.size != entry.size || header.packed != entry.packed)
      return fail(broken("header and directory differ in size", entry.name));
    if (header.crc != entry.crc) return fail(broken("header and directory differ in checksum", entry.name));
  }
  return entry.header_at + 30 + name_size + extra_size + entry.packed;
}

// The CRC-32 of ISO 3309, the checksum of zip.
Result<std::uint32_t> crc_of_file(const std::filesystem::path& file) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
      made[i] = value;
    }
    return made;
  }();
  const FileDescriptor opened(calls::open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::uint32_t crc = ~0u;
  TRY(read_pieces(opened.get(), file, Code::file_not_readable, [&](std::string_view bytes) -> Result<void> {
    for (const char byte : bytes) crc = table[(crc ^ static_cast<unsigned char>(byte)) & 255] ^ (crc >> 8);
    return {};
  }));
  return ~crc;
}

}  // namespace

Result<std::uint64_t> zip_directory_at(int file, std::uint64_t size, std::uint64_t from) {
  return find_end(file, size, from).map([](const End& end) { return end.at; });
}

Result<ZipDirectory> read_zip_directory(int file, std::uint64_t size, std::uint64_t from) {
  TRY_ASSIGN(const End end, find_end(file, size, from));
  TRY_ASSIGN(const std::string text, bytes_at(file, from, end.at, end.size));
  std::string_view rest = text;
  ZipDirectory directory{{}, end.at};
  while (!rest.empty()) {
    if (rest.size() < 46 || u32(rest, 0) != directory_mark) return fail(broken("malformed directory"));
    const std::size_t name = u16(rest, 28), extra = u16(rest, 30), comment = u16(rest, 32);
    if (rest.size() - 46 < name + extra + comment) return fail(broken("malformed directory"));
    ZipEntry entry;
    entry.name = rest.substr(46, name);
    entry.flags = u16(rest, 8);
    entry.method = u16(rest, 10);
    entry.crc = u32(rest, 16);
    entry.packed = u32(rest, 20);
    entry.size = u32(rest, 24);
    entry.header_at = u32(rest, 42);
    const int made_on = u16(rest, 4) >> 8;
    if (made_on == 3 || made_on == 19) entry.unix_mode = u32(rest, 38) >> 16;  // Unix, macOS
    TRY(widen(rest.substr(46 + name, extra), entry, true));
    if ((entry.flags & encrypted) != 0) return fail(broken("encrypted", entry.name));
    directory.entries.push_back(std::move(entry));
    rest.remove_prefix(46 + name + extra + comment);
  }
  if (directory.entries.size() != end.entries)
    return fail(broken("the directory does not hold as many entries as it says"));
  return directory;
}

Result<void> check_zip(int file, std::uint64_t size, const std::vector<ZipEntry>& directory,
                       const Unpacked& unpacked) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;
  std::map<std::string_view, int> names;
  for (const ZipEntry& entry : directory) {
    if (++names[entry.name] > 1) return fail(broken("occurs twice in the directory", entry.name));
    TRY_ASSIGN(const std::uint64_t end, check_header(file, size, entry));
    if (end > size) return fail(broken("cut off", entry.name));
    spans.emplace_back(entry.header_at, end);
  }
  std::sort(spans.begin(), spans.end());
  for (std::size_t i = 1; i < spans.size(); ++i)
    if (spans[i].first < spans[i - 1].second) return fail(broken("entries share their data"));
  for (const MetEntry& met : unpacked.entries) {
    const auto found = names.find(met.name);
    if (found == names.end() || found->second-- < 1)
      return fail(broken("is in the archive but not in its directory", met.name));
  }
  for (const auto& [name, left] : names)
    if (left > 0) return fail(broken("is in the directory but not in the archive", name));
  return {};
}

Result<void> apply_modes(const std::vector<ZipEntry>& directory, const Unpacked& unpacked,
                         cache::TreeWriter& writer) {
  std::map<std::string_view, const ZipEntry*> by_name;
  for (const ZipEntry& entry : directory) by_name.emplace(entry.name, &entry);
  for (const MetEntry& met : unpacked.entries) {
    const auto found = by_name.find(met.name);
    if (met.path.empty() || found == by_name.end() || found->second->unix_mode == 0) continue;
    const std::uint32_t mode = found->second->unix_mode;
    const std::uint32_t type = mode & S_IFMT;
    if (type == S_IFLNK) {
      TRY(writer.make_link_of(met.path));
    } else if (type == S_IFREG || type == 0) {
      TRY(writer.set_executable(met.path, (mode & 0111) != 0));
    } else {
      return fail(diagnose(Code::archive_entry_refused)
                      .with(Key::entry, met.name)
                      .with(Key::problem, "neither a file nor a link"));
    }
  }
  return {};
}

Result<void> check_late_checksums(const std::vector<ZipEntry>& directory, const Unpacked& unpacked,
                                  const std::filesystem::path& folder) {
  std::map<std::string_view, const ZipEntry*> late;
  for (const ZipEntry& entry : directory)
    if ((entry.flags & sizes_follow) != 0) late.emplace(entry.name, &entry);
  if (late.empty()) return {};
  for (const MetEntry& met : unpacked.entries) {
    const auto found = late.find(met.name);
    std::error_code error;
    const auto file = folder / path_of(met.path);
    if (met.path.empty() || found == late.end() || std::filesystem::is_symlink(file, error)) continue;
    if (std::filesystem::file_size(file, error) != found->second->size || error)
      return fail(broken("data and directory differ in size", met.name));
    TRY_ASSIGN(const std::uint32_t crc, crc_of_file(file));
    if (crc != found->second->crc) return fail(broken("data and directory differ in checksum", met.name));
  }
  return {};
}

}  // namespace enginehost::acquire
