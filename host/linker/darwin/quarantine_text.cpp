#include <sys/xattr.h>

#include "host/linker/quarantine.hpp"

namespace enginehost::linker {

std::optional<std::string> quarantine_text(const std::filesystem::path& file) {
  char text[1024];
  const ssize_t size = ::getxattr(file.c_str(), "com.apple.quarantine", text, sizeof text, 0, XATTR_NOFOLLOW);
  if (size < 0) return std::nullopt;
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace enginehost::linker
