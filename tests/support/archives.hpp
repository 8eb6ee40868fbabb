// Archives for tests: correct ones through libarchive, inconsistent ones by hand.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace enginehost::test {

struct ArchiveEntry {
  std::string path, bytes;
  unsigned mode = 0644;
  std::string link = {}, hard_link = {};
  bool device = false;
};

// kind: "zip", "tar", "tar.gz", "tar.xz", "tar.zst"
std::string make_archive(const std::string& kind, const std::vector<ArchiveEntry>& entries);

// A stored entry of a zip archive; fields that are set differ between the header and the directory.
struct ZipFact {
  std::string name, bytes;
  unsigned mode = 0100644;
  std::optional<std::string> header_name = {};
  std::optional<std::uint32_t> directory_size = {}, directory_crc = {};
  bool only_header = false, only_directory = false;  // leaves the other one out
  bool sizes_follow = false;  // header without size and checksum, a data descriptor after the data
};
std::string make_zip(const std::vector<ZipFact>& facts);
std::uint32_t crc32_of(const std::string& bytes);

}  // namespace enginehost::test
