#if defined(__GLIBC__) || __has_include(<gnu/libc-version.h>)
#include <gnu/libc-version.h>
#endif

#include <cctype>

#include "base/files.hpp"
#include "base/text.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

// musl's loader contains its version as a separate string ("Version 1.2.4" when printed). Reading the file
// avoids starting the loader as a child process.
std::string musl_version(const std::filesystem::path& loader) {
  const auto bytes = read_file(loader, 4u << 20);
  if (!bytes) return {};
  for (std::size_t at = bytes->find(std::string_view("\0001.", 3)); at != std::string::npos;
       at = bytes->find(std::string_view("\0001.", 3), at + 1)) {
    const std::size_t begin = at + 1, end = bytes->find('\0', begin);
    if (end == std::string::npos || end - begin < 5 || end - begin > 12) continue;
    const std::string text = bytes->substr(begin, end - begin);
    int dots = 0;
    bool plain = std::isdigit(static_cast<unsigned char>(text.back())) != 0;
    for (const char c : text) {
      dots += c == '.';
      plain = plain && (c == '.' || (c >= '0' && c <= '9'));
    }
    if (plain && dots == 2) return text;
  }
  return {};
}

std::string musl_loader(const Root& root) {
  for (const std::string& name : root.list("/lib"))
    if (matches_pattern(name, "ld-musl-*.so.1")) return "/lib/" + name;
  return {};
}

bool has_glibc_loader(const Root& root) {
  for (const char* loader : {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"})
    if (root.exists(loader)) return true;
  return false;
}

}  // namespace

Fact<Libc> detect_libc(const Root& root) {
#if defined(__GLIBC__)
  // This glibc program runs, so this machine has glibc; another root may be a musl system.
  const bool musl = !root.is_this_machine() && !has_glibc_loader(root);
#else
  const bool musl = true;
#endif
  if (musl)
    if (const std::string loader = musl_loader(root); !loader.empty()) {
      const auto real = root.resolve(loader);
      return Fact<Libc>::known({"musl", real ? musl_version(root.on_disk(*real)) : ""}, loader);
    }
#if defined(__GLIBC__)
  return Fact<Libc>::known({"glibc", ::gnu_get_libc_version()}, "gnu_get_libc_version");
#else
  return Fact<Libc>::unknown("neither glibc nor musl was recognized");
#endif
}

}  // namespace enginehost::platform
