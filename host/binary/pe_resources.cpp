// The resource tree of a PE file has three levels: type, name, language. This code reads the version (type
// 16) and the manifest (type 24).
#include <algorithm>

#include "host/binary/formats.hpp"
#include "host/binary/pe_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::uint32_t RT_VERSION = 16, RT_MANIFEST = 24;
constexpr std::uint32_t resource_entry_limit = 4096;
constexpr std::uint64_t leaf_limit = 1u << 20;

struct Leaf {
  std::uint64_t address = 0, size = 0;
};

constexpr std::uint32_t below = 0x80000000;  // of an entry: refers to another table

// Returns the target of the entry with this number in a table of the tree, or of the first entry.
std::optional<std::uint32_t> entry_of(const PeFile& pe, std::uint64_t table,
                                      std::optional<std::uint32_t> number) {
  const std::uint64_t root = pe.directory(PeDirectory::resources).address;
  Fields head;
  if (!pe.fields_at(root + table, 16, head)) return std::nullopt;
  const std::uint32_t count = std::min(std::uint32_t{head.u16(12)} + head.u16(14), resource_entry_limit);
  for (std::uint32_t i = 0; i < count; ++i) {
    Fields entry;
    if (!pe.fields_at(root + table + 16 + std::uint64_t{i} * 8, 8, entry)) return std::nullopt;
    if (!number || entry.u32(0) == *number) return entry.u32(4);
  }
  return std::nullopt;
}

std::optional<Leaf> first_of_type(const PeFile& pe, std::uint32_t type) {
  std::optional<std::uint32_t> at = entry_of(pe, 0, type);
  for (unsigned level = 0; level < 2 && at && (*at & below) != 0; ++level)
    at = entry_of(pe, *at & ~below, std::nullopt);
  Fields leaf;
  if (!at || (*at & below) != 0 ||
      !pe.fields_at(pe.directory(PeDirectory::resources).address + *at, 16, leaf))
    return std::nullopt;
  return Leaf{leaf.u32(0), leaf.u32(4)};
}

std::string four_parts(std::uint32_t high, std::uint32_t low) {
  return std::to_string(high >> 16) + "." + std::to_string(high & 0xffff) + "." + std::to_string(low >> 16) +
         "." + std::to_string(low & 0xffff);
}

// Reads VS_FIXEDFILEINFO, which begins with its signature, after a header whose length depends on its text.
void read_version(const PeFile& pe, const Leaf& leaf, PeResources& resources) {
  const std::uint64_t end = std::min<std::uint64_t>(leaf.size, 256);
  for (std::uint64_t at = 0; at + 24 <= end; at += 4) {
    Fields fixed;
    if (!pe.fields_at(leaf.address + at, 24, fixed)) return;
    if (fixed.u32(0) != 0xfeef04bd) continue;
    resources.file_version = four_parts(fixed.u32(8), fixed.u32(12));
    resources.product_version = four_parts(fixed.u32(16), fixed.u32(20));
    return;
  }
}

std::string attribute(std::string_view tag, std::string_view name) {
  for (std::size_t at = tag.find(name); at != std::string_view::npos; at = tag.find(name, at + 1)) {
    const bool begins_a_word =
        at > 0 && std::string_view(" \t\r\n").find(tag[at - 1]) != std::string_view::npos;
    std::size_t next = tag.find_first_not_of(" \t\r\n", at + name.size());
    if (!begins_a_word || next == std::string_view::npos || tag[next] != '=') continue;
    next = tag.find_first_not_of(" \t\r\n", next + 1);
    if (next == std::string_view::npos || (tag[next] != '"' && tag[next] != '\'')) continue;
    const std::size_t end = tag.find(tag[next], next + 1);
    if (end == std::string_view::npos || end - next > 128) return {};
    return std::string(tag.substr(next + 1, end - next - 1));
  }
  return {};
}

// Finds the <assemblyIdentity> in each <dependentAssembly> at any depth, without an XML parser.
std::vector<std::string> assemblies_of(std::string_view manifest) {
  constexpr std::size_t assembly_limit = 64;
  std::vector<std::string> assemblies;
  for (std::size_t at = manifest.find("<dependentAssembly");
       at != std::string_view::npos && assemblies.size() < assembly_limit;
       at = manifest.find("<dependentAssembly", at + 1)) {
    const std::size_t begin = manifest.find("<assemblyIdentity", at);
    const std::size_t end = begin == std::string_view::npos ? begin : manifest.find('>', begin);
    if (end == std::string_view::npos) break;
    const std::string_view tag = manifest.substr(begin, end - begin);
    std::string name = attribute(tag, "name");
    if (name.empty()) continue;
    const std::string version = attribute(tag, "version");
    if (!version.empty()) name += " " + version;
    assemblies.push_back(std::move(name));
  }
  return assemblies;
}

PeResources resources_of(FileView& file) {
  PeResources resources;
  if (format_of(file) != Kind::pe) return resources;
  PeFile pe;
  BinaryInfo info;
  if (!read_pe_header(file, pe, info) || pe.directory(PeDirectory::resources).address == 0) return resources;
  if (const std::optional<Leaf> version = first_of_type(pe, RT_VERSION))
    read_version(pe, *version, resources);
  if (const std::optional<Leaf> manifest = first_of_type(pe, RT_MANIFEST)) {
    resources.has_manifest = true;
    if (const std::optional<std::uint64_t> at = pe.offset_of(manifest->address))
      if (const auto bytes = file.bulk(*at, manifest->size, leaf_limit))
        resources.assemblies = assemblies_of(std::string(bytes->begin(), bytes->end()));
  }
  return resources;
}

}  // namespace

Result<PeResources> pe_resources(const std::filesystem::path& path) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  return unless_failed<PeResources>(file, resources_of(file));
}

}  // namespace enginehost::binary
