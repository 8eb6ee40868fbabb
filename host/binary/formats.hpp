// The readers of the formats, and the problems that every format can have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"

namespace enginehost::binary {

// The name of a number of a format.
struct NumberName {
  std::uint32_t number;
  const char* name;
};
// Returns the number's name, or "`otherwise` 12".
std::string name_in(std::span<const NumberName> table, std::uint32_t number, std::string_view otherwise);

// Returns the zero-terminated text at this place of a table of texts, if it ends within the table.
std::optional<std::string> text_in(const std::vector<std::uint8_t>& table, std::uint64_t at);

// Returns EH-F08 with a sentence about the problem.
Diagnosis damaged(const FileView& file, std::string_view problem);
// Adds EH-F04 before all other problems and raises info.needed_size to `needed`. `source` is the part of the
// file that requires so many bytes.
void add_truncated(const FileView& file, BinaryInfo& info, std::uint64_t needed, std::string_view source);
// Adds EH-F10 unless info.type is a shared library; `source` is the field that holds the type.
void add_type_problem(const FileView& file, BinaryInfo& info, std::string_view type, std::string_view source);

// Returns the format that the file's first bytes state.
Kind format_of(FileView& file);
bool is_macho(FileView& file);
// Reads a Mach-O file (see is_macho()) into `info`, with its problems. `machine` chooses a slice; "" =
// describe all.
void read_macho(FileView& file, std::string_view machine, BinaryInfo& info);

// Reads a file that begins with "MZ" into `info`, with its problems.
void read_pe(FileView& file, BinaryInfo& info);

// Puts the format of a file that is neither ELF, PE nor Mach-O into info.sniffed and adds the matching
// problem.
void sniff(FileView& file, BinaryInfo& info);

// Limits on the text that a file's names may take. Names may overlap in a damaged or hostile file, so a small
// file could claim more text than memory holds. The file's size already limits the number of symbols, because
// each has its own entry.

constexpr std::uint64_t symbol_limit = 8u << 20;
constexpr std::size_t symbol_name_limit = std::size_t{256} << 20;
// For all libraries, paths and versions that a file names together.
constexpr std::size_t file_name_limit = std::size_t{4} << 20;

class NameBudget {
 public:
  explicit NameBudget(std::size_t limit = symbol_name_limit) : left_(limit) {}
  // Returns false if this name would exceed the limit; the table then ends here.
  bool take(std::size_t length) {
    if (length > left_) {
      spent_ = true;
      return false;
    }
    left_ -= length;
    return true;
  }
  // Returns whether a name was refused.
  bool spent() const { return spent_; }

 private:
  std::size_t left_;
  bool spent_ = false;
};

}  // namespace enginehost::binary
