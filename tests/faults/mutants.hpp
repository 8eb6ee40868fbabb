// Damages a library in few places, as a failing disk or bad memory does. A seed decides the places.
#pragma once
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace enginehost::faults {

// A part of a file that a loader reads for itself, or the whole file.
struct Region {
  std::string name;  // "header", "program headers", ".dynamic", "symbols", …, "anywhere"
  std::uint64_t offset = 0, size = 0;
};

// The regions of a 64-bit ELF file on which a loader's behavior depends; "anywhere" is the last. Any other
// file has only "anywhere". For whole files of this machine: aborts when the file cannot be read.
std::vector<Region> regions_of(const std::filesystem::path& file);

struct Change {
  std::uint64_t offset = 0;
  unsigned char before = 0, after = 0;
  std::string region;
};

// Changes 1 to 3 bytes of `file` in place to other values; the destructor restores them. The file's time
// stays, so that no stat shows the damage.
class Mutant {
 public:
  Mutant(std::filesystem::path file, const std::vector<Region>& regions, std::mt19937_64& random);
  ~Mutant();
  Mutant(const Mutant&) = delete;
  Mutant& operator=(const Mutant&) = delete;

  const std::vector<Change>& changes() const { return changes_; }
  const std::string& region() const { return changes_.front().region; }
  std::string text() const;  // "libz.so.1: 0x40 in program headers 06 -> ff, …"

 private:
  void write(bool after) const;
  std::filesystem::path file_;
  std::vector<Change> changes_;
};

}  // namespace enginehost::faults
