// The promises of read_binary for any bytes.
#pragma once
#include "host/binary/binary.hpp"
#include "tests/fuzz/input_file.hpp"

namespace enginehost::fuzz {

inline binary::BinaryInfo read_any(const std::filesystem::path& file) {
  Result<binary::BinaryInfo> info = binary::read_binary(file);
  require(info.has_value());  // the file can be opened, so reading cannot fail
  if (info->problems.empty()) {
    require(info->needed_size <= info->file_size);
    require(info->kind != binary::Kind::unknown);
    require(info->type == binary::Type::shared_library);
  }
  for (const Diagnosis& problem : info->problems) require(problem.code != Code::none);
  require(!info->sniffed.empty());
  return std::move(*info);
}

}  // namespace enginehost::fuzz
