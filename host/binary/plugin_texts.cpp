// The texts of a plugin's descriptor, read without running the plugin.
//
// The file does not hold the descriptor's pointers: the loader writes them. A relocation of DT_RELA holds the
// address that it will write; without one, the file holds it itself (DT_RELR).
#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/version_specifier.hpp"
#include "host/binary/elf_file.hpp"
#include "host/binary/formats.hpp"

namespace enginehost::binary {
namespace {

// engine_plugin.h; the layout never changes.
constexpr std::uint64_t offset_of_engine = 24, offset_of_capabilities = 48;
constexpr std::uint64_t word = 8, longest_text = 256, most_capabilities = 64;
constexpr std::uint32_t R_X86_64_RELATIVE = 8, R_AARCH64_RELATIVE = 1027;
constexpr std::uint64_t entry_size = 24;  // Elf64_Rela: offset, info, addend
constexpr std::uint64_t most_relocations = 64u << 20;

class Pointers {
 public:
  // Nothing if the file does not have the table that it names.
  static std::optional<Pointers> of(const ElfFile& elf) {
    Pointers pointers(elf);
    const std::uint64_t size = elf.dynamic.relocations_size;
    if (elf.dynamic.relocations == 0 || size == 0) return pointers;
    const auto at = elf.offset_of(elf.dynamic.relocations);
    const auto entries = at ? elf.file->bulk(*at, size, most_relocations) : std::nullopt;
    if (!entries) return std::nullopt;
    const std::uint32_t relative = elf.machine == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
    for (std::size_t i = 0; i + entry_size <= entries->size(); i += entry_size) {
      const auto number = [&](std::size_t field) {
        return number_at<std::uint64_t>(&(*entries)[i + field], false);
      };
      // Zero: another kind, whose address depends on other libraries.
      pointers.written_.emplace(number(0), (number(8) & 0xffffffff) == relative ? number(16) : 0);
    }
    return pointers;
  }

  // Returns the address that will be at `place`; 0 for none, and for one that is not known.
  std::uint64_t at(std::uint64_t place) const {
    if (const auto found = written_.find(place); found != written_.end()) return found->second;
    const auto offset = elf_.offset_of(place);
    Fields bytes;
    return offset && elf_.fields(*offset, word, bytes) ? bytes.u64(0) : 0;
  }

  std::optional<std::string> text_at(std::uint64_t place) const {
    const std::uint64_t address = at(place);
    const auto offset = address != 0 ? elf_.offset_of(address) : std::nullopt;
    return offset ? elf_.file->text(*offset, longest_text) : std::nullopt;
  }

 private:
  explicit Pointers(const ElfFile& elf) : elf_(elf) {}
  const ElfFile& elf_;
  std::map<std::uint64_t, std::uint64_t> written_;
};

std::optional<PluginTexts> texts_in(FileView& file) {
  BinaryInfo info;
  ElfFile elf;
  if (format_of(file) != Kind::elf) return std::nullopt;
  read_elf(file, elf, info);
  const bool known = elf.wide && !elf.big_endian && (elf.machine == EM_X86_64 || elf.machine == EM_AARCH64);
  if (!known || !info.problems.empty()) return std::nullopt;
  const auto symbols = read_elf_symbols(elf);
  if (!symbols) return std::nullopt;
  const auto plugin = std::ranges::find_if(
      symbols->exports, [](const Symbol& one) { return one.name == "engine_plugin_v1" && !one.function; });
  const auto pointers = Pointers::of(elf);
  if (plugin == symbols->exports.end() || !pointers) return std::nullopt;
  PluginTexts texts;
  const auto engine = pointers->text_at(plugin->address + offset_of_engine);
  const std::uint64_t list = pointers->at(plugin->address + offset_of_capabilities);
  if (!engine || list == 0) return std::nullopt;
  texts.engine = *engine;
  for (std::uint64_t i = 0; pointers->at(list + i * word) != 0; ++i) {
    const auto capability = pointers->text_at(list + i * word);
    if (!capability || i == most_capabilities) return std::nullopt;
    texts.capabilities.push_back(*capability);
  }
  return texts;
}

}  // namespace

std::string served_versions(const std::vector<std::string>& capabilities) {
  constexpr std::string_view prefix = "versions.";
  for (const std::string& capability : capabilities)
    if (capability.starts_with(prefix)) return capability.substr(prefix.size());
  return {};
}

bool is_version_range(std::string_view range) {
  return range.find_first_of("<>=") != std::string_view::npos &&
         range.find_first_of("~!*") == std::string_view::npos &&
         range.find("===") == std::string_view::npos && VersionSpecifier(range).problem().empty();
}

bool serves_version(const std::vector<std::string>& capabilities, std::string_view version) {
  const std::string range = served_versions(capabilities);
  return !is_version_range(range) || VersionSpecifier(range).accepts(version);
}

std::optional<PluginTexts> read_plugin_texts(const std::filesystem::path& path) {
  auto file = FileView::open(path);
  return file ? texts_in(*file) : std::nullopt;
}

}  // namespace enginehost::binary
