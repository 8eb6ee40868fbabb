// The export trie: names with a common beginning share nodes. A node holds the export of its name (if there
// is one) and edges, each with the text that it adds and the offset of the next node. Described in
// <mach-o/loader.h> under dyld_info_command; numbers are ULEB128.
#include <algorithm>
#include <optional>

#include "host/binary/macho_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::size_t name_limit = 32768;
constexpr std::uint64_t trie_limit = 512u << 20;

class Cursor {
 public:
  Cursor(const std::vector<std::uint8_t>& bytes, std::uint64_t at) : bytes_(bytes), at_(at) {}

  std::uint64_t at() const { return at_; }
  bool byte(std::uint8_t& value) {
    if (at_ >= bytes_.size()) return false;
    value = bytes_[static_cast<std::size_t>(at_++)];
    return true;
  }
  bool number(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      std::uint8_t part = 0;
      if (!byte(part)) return false;
      value |= std::uint64_t{part & 0x7fu} << shift;
      if ((part & 0x80) == 0) return true;
    }
    return false;
  }
  // Appends the text up to its zero.
  bool text(std::string& to) {
    std::uint8_t letter = 0;
    while (byte(letter)) {
      if (letter == 0) return true;
      if (to.size() >= name_limit) return false;
      to += static_cast<char>(letter);
    }
    return false;
  }

 private:
  const std::vector<std::uint8_t>& bytes_;
  std::uint64_t at_;
};

class ExportTrieWalk {
 public:
  ExportTrieWalk(const std::vector<std::uint8_t>& trie, const std::function<bool(MachoExport)>& visit)
      : trie_(trie), visit_(visit) {}

  bool run() {
    if (trie_.empty()) return true;
    if (!enter(0)) return stopped_;
    while (!open_.empty()) {
      Node& node = open_.back();
      if (node.edges_left == 0) {
        open_.pop_back();
        continue;
      }
      --node.edges_left;
      name_.resize(node.name_length);
      Cursor cursor(trie_, node.next_edge);
      std::uint64_t child = 0;
      if (!cursor.text(name_) || !cursor.number(child)) return false;
      node.next_edge = cursor.at();
      if (!enter(child)) return stopped_;
    }
    return true;
  }

 private:
  struct Node {
    std::uint64_t next_edge = 0;
    std::uint8_t edges_left = 0;
    std::size_t name_length = 0;
  };

  bool enter(std::uint64_t at) {
    // A node takes at least two bytes, so more visits mean that a node is reached twice.
    if (++visited_ > trie_.size() / 2 + 1 || open_.size() > name_limit) return false;
    Cursor cursor(trie_, at);
    std::uint64_t size = 0;
    if (at >= trie_.size() || !cursor.number(size) || size > trie_.size() - cursor.at()) return false;
    const std::uint64_t edges = cursor.at() + size;
    if (size > 0) {
      std::optional<MachoExport> found = read_export(cursor);
      if (!found) return false;
      if (!visit_(std::move(*found))) {
        stopped_ = true;
        return false;
      }
    }
    Cursor children(trie_, edges);
    std::uint8_t count = 0;
    if (!children.byte(count)) return false;
    open_.push_back({children.at(), count, name_.size()});
    return true;
  }

  std::optional<MachoExport> read_export(Cursor cursor) const {
    constexpr std::uint64_t kind_mask = 3, thread_local_kind = 1, weak_definition = 4, reexport = 8;
    MachoExport found;
    std::uint64_t flags = 0;
    if (!cursor.number(flags)) return std::nullopt;
    found.name = name_;
    found.weak = (flags & weak_definition) != 0;
    found.thread_local_storage = (flags & kind_mask) == thread_local_kind;
    found.reexported = (flags & reexport) != 0;
    if (!found.reexported)
      return cursor.number(found.address) ? std::optional(std::move(found)) : std::nullopt;
    if (!cursor.number(found.ordinal) || !cursor.text(found.forwarder)) return std::nullopt;
    if (found.forwarder.empty()) found.forwarder = found.name;
    return found;
  }

  const std::vector<std::uint8_t>& trie_;
  const std::function<bool(MachoExport)>& visit_;
  std::vector<Node> open_;
  std::string name_;
  std::uint64_t visited_ = 0;
  bool stopped_ = false;
};

}  // namespace

bool for_each_trie_export(const std::vector<std::uint8_t>& trie,
                          const std::function<bool(MachoExport)>& visit) {
  return ExportTrieWalk(trie, visit).run();
}

bool for_each_macho_export(const MachoFile& macho, const std::function<bool(MachoExport)>& visit) {
  if (macho.export_trie.size > 0) {
    const auto trie = macho.bulk(macho.export_trie, trie_limit);
    return trie && for_each_trie_export(*trie, visit);
  }
  return for_each_macho_symbol(macho, [&](const MachoSymbol& symbol) {
    if (!symbol.exported()) return true;
    MachoExport found;
    found.name = symbol.name;
    found.address = symbol.value - macho.base_address();
    found.weak = (symbol.description & 0x80) != 0;  // N_WEAK_DEF
    return visit(std::move(found));
  });
}

}  // namespace enginehost::binary
