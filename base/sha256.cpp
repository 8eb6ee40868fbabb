#include "base/sha256.hpp"

#include <algorithm>

#include "base/files.hpp"

namespace enginehost {

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

Result<std::string> sha256_of_file(const std::filesystem::path& file) {
  TRY_ASSIGN(const FileDescriptor opened, open_to_read(file));
  Sha256 digest;
  TRY(read_pieces(opened.get(), file, Code::file_not_readable, [&](std::string_view bytes) -> Result<void> {
    digest.update(bytes);
    return {};
  }));
  return digest.hex();
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace enginehost
