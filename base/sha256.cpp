#include "base/sha256.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"

namespace enginehost {

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

Result<std::string> sha256_of_file(const std::filesystem::path& file) {
  TRY_ASSIGN(const FileDescriptor opened, open_to_read(file));
  Sha256 digest;
  std::vector<char> buffer(1u << 20);
  for (;;) {
    const ssize_t got = calls::read(opened.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(diagnose_errno("EH-F01", errno).with("file", path_text(file)));
    if (got == 0) return digest.hex();
    digest.update({buffer.data(), static_cast<std::size_t>(got)});
  }
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace enginehost
