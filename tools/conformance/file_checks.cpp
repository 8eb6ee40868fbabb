// The facts that a host reads from the file before any code of the plugin runs.
#include <cstring>

#include "tools/conformance/checks.hpp"
#include "tools/conformance/library_file.hpp"
#include "tools/conformance/system.hpp"

namespace engineplugin {
namespace {

struct Head {  // the fields of engine_plugin that hold no pointers
  unsigned char magic[8];
  std::uint32_t size;
  std::uint16_t abi_major, abi_minor, host_minor, reserved;
  std::uint32_t flags;
};
static_assert(sizeof(Head) == offsetof(engine_plugin, engine));

bool check_head(Report& report, const Head& head) {
  report.begin("file.magic");
  const bool magic = std::memcmp(head.magic, ENGINE_PLUGIN_MAGIC, sizeof head.magic) == 0;
  if (!report.end(
          magic,
          magic ? "\"ENGPLUG\" and a NUL"
                : "the descriptor does not begin with \"ENGPLUG\" and a NUL; in C++, is it constexpr?")) {
    return false;
  }
  report.begin("file.abi");
  const std::string abi = std::to_string(head.abi_major) + "." + std::to_string(head.abi_minor);
  if (!report.end(head.abi_major == ENGINE_ABI_MAJOR,
                  "written for ABI " + abi + ", this tool knows major " + std::to_string(ENGINE_ABI_MAJOR))) {
    return false;
  }
  report.begin("file.host_minor");
  const std::string floor = "needs a host of at least 1." + std::to_string(head.host_minor);
  if (!report.end(head.host_minor <= ENGINE_ABI_NEWEST_MINOR && head.host_minor <= head.abi_minor,
                  floor + ", this tool is 1." + std::to_string(ENGINE_ABI_NEWEST_MINOR) +
                      ", the plugin itself " + abi)) {
    return false;
  }
  report.begin("file.size");
  constexpr std::size_t needed = offsetof(engine_plugin, query) + sizeof(engine_plugin::query);
  if (!report.end(head.size >= needed, "the descriptor says " + std::to_string(head.size) +
                                           " bytes, ABI 1.0 has " + std::to_string(needed))) {
    return false;
  }
  report.begin("file.reserved");
  report.end(head.reserved == 0, "`reserved` is " + std::to_string(head.reserved) + ", expected is 0");
  return true;
}

}  // namespace

bool check_file(Report& report, const Request& request) {
  report.begin(std::string("file.") + LibraryFile::format);
  std::string error;
  const auto file = LibraryFile::read(path_of(request.file), error);
  if (!report.end(file.has_value(), file ? LibraryFile::kind : error)) return false;

  report.begin("file.exports");
  const Export* found = nullptr;
  std::string others;
  std::size_t other_count = 0;
  for (const Export& symbol : file->exports()) {
    if (symbol.name == ENGINE_PLUGIN_SYMBOL) {
      found = &symbol;
    } else if (other_count++ < 5) {
      others += " " + symbol.name;
    }
  }
  if (!found) return report.end(false, "engine_plugin_v1 is not exported by this file");
  report.end(other_count == 0, other_count == 0
                                   ? "engine_plugin_v1 and nothing else"
                                   : std::to_string(other_count) + " more than engine_plugin_v1:" + others +
                                         "; " + LibraryFile::how_to_export);

  report.begin("file.descriptor");
  const auto bytes = file->bytes_at(found->address, sizeof(Head));
  if (!report.end(bytes.size() == sizeof(Head),
                  bytes.empty() ? "the descriptor has no bytes in the file (.bss): say constexpr"
                                : "readable without loading the library")) {
    return false;
  }
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (!check_head(report, head)) return false;
  if (found->size == 0) return true;
  report.begin("file.symbol_size");
  return report.end(found->size == head.size, "the symbol has " + std::to_string(found->size) +
                                                  " bytes, the descriptor says " + std::to_string(head.size));
}

}  // namespace engineplugin
