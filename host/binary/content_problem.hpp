// The two problems of content that every format has.
#pragma once
#include <cstdint>
#include <string_view>

#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"

namespace enginehost::binary {

// EH-F08 with the sentence of what does not fit.
Diagnosis damaged(const FileView& file, std::string_view problem);
// Adds EH-F04 before all other problems and raises info.needed_size to `needed`; `source` is the part of the
// file that asks for so many bytes.
void add_truncated(const FileView& file, BinaryInfo& info, std::uint64_t needed, std::string_view source);
// EH-F10 unless info.type is a shared library; `source` is where the type is written.
void add_type_problem(const FileView& file, BinaryInfo& info, std::string_view type, std::string_view source);

}  // namespace enginehost::binary
