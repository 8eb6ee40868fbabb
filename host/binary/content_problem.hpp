// Content problems that every format can have.
#pragma once
#include <cstdint>
#include <string_view>

#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"

namespace enginehost::binary {

// Returns EH-F08 with a sentence about the problem.
Diagnosis damaged(const FileView& file, std::string_view problem);
// Adds EH-F04 before all other problems and raises info.needed_size to `needed`. `source` is the part of the
// file that requires so many bytes.
void add_truncated(const FileView& file, BinaryInfo& info, std::uint64_t needed, std::string_view source);
// Adds EH-F10 unless info.type is a shared library; `source` is the field that holds the type.
void add_type_problem(const FileView& file, BinaryInfo& info, std::string_view type, std::string_view source);

}  // namespace enginehost::binary
