// Reads a DLL without running it, as elf_exports.hpp does for an ELF file. Every offset is checked against
// the file; nothing here trusts the file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/conformance/export.hpp"

namespace engineplugin {

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

}  // namespace engineplugin
