// Reads a library of the disk without running it: its exported names, and the bytes of an exported object.
// Every offset is checked against the file; nothing here trusts the file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace engineplugin {

// One exported name of a library.
struct Export {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // 0 if the format has no sizes
};

class ElfFile {
 public:
  static constexpr const char *format = "elf", *kind = "a 64-bit shared library",
                              *how_to_export = "link with a version script";

  // Reads the file and its dynamic symbols. On failure nullopt, and `error` names the damaged structure.
  static std::optional<ElfFile> read(const std::filesystem::path& path, std::string& error);

  // Defined global or weak symbols of .dynsym, in the file's order; section, file and version symbols are
  // left out.
  const std::vector<Export>& exports() const { return exports_; }

  // The bytes of [address, address+count) in the file, or an empty span if the file has none there (.bss,
  // outside).
  std::span<const std::byte> bytes_at(std::uint64_t address, std::size_t count) const;

 private:
  struct Segment {
    std::uint64_t offset, address, file_size;
  };
  std::vector<std::byte> data_;
  std::vector<Segment> segments_;
  std::vector<Export> exports_;
};

class PeFile {
 public:
  static constexpr const char *format = "pe", *kind = "a 64-bit DLL",
                              *how_to_export = "mark it alone as exported";

  // On failure nullopt, and `error` names the damaged structure.
  static std::optional<PeFile> read(const std::filesystem::path& path, std::string& error);

  // Exported names, in the file's order.
  const std::vector<Export>& exports() const { return exports_; }
  // The bytes in the file at [address, address+count) of the image, or an empty span if it holds none there.
  std::span<const std::byte> bytes_at(std::uint64_t address, std::size_t count) const;

 private:
  struct Section {
    std::uint64_t offset, address, file_size;
  };
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  std::vector<std::byte> data_;
  std::vector<Section> sections_;
  std::vector<Export> exports_;
};

// Those of this system.
#ifdef _WIN32
using LibraryFile = PeFile;
#else
using LibraryFile = ElfFile;
#endif

}  // namespace engineplugin
