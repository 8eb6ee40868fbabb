#include "host/commands/given_key.hpp"

#include <filesystem>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"

namespace enginehost::commands {

Result<manifest::PublicKey> given_public_key(const std::string& text) {
  std::error_code error;
  if (!std::filesystem::exists(path_of(text), error)) {
    auto key = manifest::read_public_key(text, text);
    // A text that does not begin like a key was meant as a file.
    if (!key && !text.starts_with("RW")) TRY(stamp_of(path_of(text), "EH-P47").map([](const FileStamp&) {}));
    return key;
  }
  TRY_ASSIGN(const std::string bytes, read_file(path_of(text), 64u << 10, "EH-M15"));
  return manifest::read_public_key(bytes, text);
}

}  // namespace enginehost::commands
