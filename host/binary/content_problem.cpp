#include "host/binary/formats.hpp"

#include <algorithm>

namespace enginehost::binary {

Diagnosis damaged(const FileView& file, std::string_view problem) {
  return std::move(diagnose("EH-F08").with("file", file.path()).with("problem", problem));
}

void add_truncated(const FileView& file, BinaryInfo& info, std::uint64_t needed, std::string_view source) {
  info.needed_size = std::max(info.needed_size, needed);
  info.problems.insert(info.problems.begin(),
                       std::move(diagnose("EH-F04")
                                     .with("file", file.path())
                                     .with("size", std::to_string(file.size()))
                                     .with("needed_size", std::to_string(info.needed_size), source)));
}

void add_type_problem(const FileView& file, BinaryInfo& info, std::string_view type,
                      std::string_view source) {
  if (info.type == Type::shared_library) return;
  info.problems.push_back(std::move(diagnose("EH-F10").with("file", file.path()).with("type", type, source)));
}

}  // namespace enginehost::binary
