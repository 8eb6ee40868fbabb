#include "host/binary/open_failure.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

namespace enginehost::binary {
namespace {

std::string target_of(const std::string& link) {
  std::array<char, 4096> buffer{};
  ssize_t length = ::readlink(link.c_str(), buffer.data(), buffer.size());
  return length < 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

// Something on the way is not there: a link that leads nowhere is a cause of its own.
Diagnosis missing(const std::filesystem::path& file) {
  std::filesystem::path prefix;
  for (const std::filesystem::path& component : file) {
    prefix /= component;
    struct stat status {};
    if (::lstat(prefix.c_str(), &status) != 0)
      return std::move(diagnose("EH-F01").with("file", file.native()).with("first_missing", prefix.native()));
    if (S_ISLNK(status.st_mode) && ::stat(prefix.c_str(), &status) != 0)
      return std::move(diagnose("EH-F11")
                           .with("file", file.native())
                           .with("problem", errno == ELOOP ? "link loop" : "dangling link")
                           .with("link", prefix.native())
                           .with("target", target_of(prefix.native())));
  }
  return std::move(diagnose("EH-F01").with("file", file.native()));
}

Diagnosis loop(const std::filesystem::path& file) {
  std::filesystem::path prefix;
  for (const std::filesystem::path& component : file) {
    prefix /= component;
    struct stat status {};
    if (::stat(prefix.c_str(), &status) != 0 && errno == ELOOP) break;
  }
  return std::move(diagnose("EH-F11")
                       .with("file", file.native())
                       .with("problem", "link loop")
                       .with("link", prefix.native())
                       .with("target", target_of(prefix.native())));
}

Diagnosis closed(const std::filesystem::path& file, int error_number) {
  Diagnosis diagnosis = diagnose_errno("EH-L25", error_number);
  diagnosis.with("file", file.native()).with("user", std::to_string(::geteuid()));
  std::filesystem::path prefix;
  for (const std::filesystem::path& component : file) {
    prefix /= component;
    struct stat status {};
    bool known = ::stat(prefix.c_str(), &status) == 0;
    int wanted = known && S_ISDIR(status.st_mode) ? X_OK : R_OK;
    if (::faccessat(AT_FDCWD, prefix.c_str(), wanted, AT_EACCESS) == 0) continue;
    diagnosis.with("blocked_by", prefix.native());
    if (known) diagnosis.with("mode", octal(status.st_mode)).with("owner", std::to_string(status.st_uid));
    break;
  }
  return diagnosis;
}

}  // namespace

Diagnosis why_not_opened(const std::filesystem::path& file, int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return missing(file);
    case ELOOP:
      return loop(file);
    case EACCES:
      return closed(file, error_number);
    case EPERM:
      // Reading needs no privilege that only EPERM tells of: a security module or filter says no (SELinux,
      // fapolicyd, seccomp). The loader's search ends there, unlike at a closed file.
      return std::move(diagnose_errno("EH-L24", error_number)
                           .with("file", file.native())
                           .with("folder", file.parent_path().native()));
    case ENAMETOOLONG:
      return std::move(diagnose_errno("EH-L33", error_number).with("file", file.native()));
    default:
      return std::move(diagnose_errno("EH-L26", error_number).with("file", file.native()));
  }
}

}  // namespace enginehost::binary
