// The central directory of a zip archive, held against what a stream reader found.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cache/tree_writer.hpp"
#include "host/acquire/unpack.hpp"

namespace enginehost::acquire {

struct ZipEntry {
  std::string name;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0, size = 0, header_at = 0;
  std::uint16_t flags = 0, method = 0;
  std::uint32_t unix_mode = 0;  // 0: made on a system without modes
};

// Where the directory begins and how long it is. Of the file only the last 66 KiB are read, so it need not
// hold more.
Result<std::pair<std::uint64_t, std::uint64_t>> zip_directory_span(int file, std::uint64_t size);

// Reads the directory of a complete file. EH-F21 with "problem" when it is broken, encrypted or split;
// EH-F23 when it cannot be read.
Result<std::vector<ZipEntry>> read_zip_directory(int file, std::uint64_t size);

// A stream reader believes the headers before the data, other programs the directory at the end; an archive
// that says two things is refused (EH-F21 with "entry"): names, sizes, checksums and methods of both must
// agree, no name may occur twice, data may not overlap, and what was met must be what is listed.
Result<void> check_zip(int file, std::uint64_t size, const std::vector<ZipEntry>& directory,
                       const Unpacked& unpacked);

// What only the directory knows: links and executables.
Result<void> apply_modes(const std::vector<ZipEntry>& directory, const Unpacked& unpacked,
                         cache::TreeWriter& writer);

// The checksum of zip (CRC-32, ISO 3309), of a file.
Result<std::uint32_t> crc_of_file(const std::filesystem::path& file);

// Files whose header came without a checksum (it followed the data): their written bytes against the
// directory.
Result<void> check_late_checksums(const std::vector<ZipEntry>& directory, const Unpacked& unpacked,
                                  const std::filesystem::path& folder);

}  // namespace enginehost::acquire
