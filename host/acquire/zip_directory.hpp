// The central directory of a zip archive, and its comparison with what a stream reader found.
#pragma once
#include <cstdint>
#include <string>
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
  std::uint32_t unix_mode = 0;  // 0: created on a system without modes
};

struct ZipDirectory {
  std::vector<ZipEntry> entries;
  std::uint64_t at = 0;  // its own offset
};

// Returns the offset of the directory of an archive of `size` bytes. The file begins with the archive's byte
// `from`; the last 66 KiB are enough.
Result<std::uint64_t> zip_directory_at(int file, std::uint64_t size, std::uint64_t from);

// Reads the directory. EH-F21 with "problem" if it is broken, encrypted or split; EH-F23 if it cannot be
// read.
Result<ZipDirectory> read_zip_directory(int file, std::uint64_t size, std::uint64_t from = 0);

// Refuses an archive whose local headers and directory disagree (EH-F21 with "entry"), because stream readers
// use the headers and other programs the directory. Names, sizes, checksums and methods must agree, no name
// may occur twice, data must not overlap, and the entries that were read must be those of the directory.
Result<void> check_zip(int file, std::uint64_t size, const std::vector<ZipEntry>& directory,
                       const Unpacked& unpacked);

// Applies the facts that only the directory has: links and executable files.
Result<void> apply_modes(const std::vector<ZipEntry>& directory, const Unpacked& unpacked,
                         cache::TreeWriter& writer);

// Compares files whose header had no checksum (it followed the data) with the directory, by their written
// bytes.
Result<void> check_late_checksums(const std::vector<ZipEntry>& directory, const Unpacked& unpacked,
                                  const std::filesystem::path& folder);

}  // namespace enginehost::acquire
