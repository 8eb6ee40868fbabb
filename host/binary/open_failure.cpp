#include "host/binary/open_failure.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"

namespace enginehost::binary {
namespace {

std::string octal(calls::Mode mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

// A component of the path is missing; a dangling link is reported separately.
Diagnosis missing(const std::filesystem::path& file) {
  std::filesystem::path prefix;
  for (const std::filesystem::path& component : file) {
    prefix /= component;
    calls::Status status{};
    if (calls::lstat(prefix.c_str(), &status) != 0)
      return std::move(
          diagnose("EH-F01").with("file", path_text(file)).with("first_missing", path_text(prefix)));
    if (S_ISLNK(status.st_mode) && calls::stat(prefix.c_str(), &status) != 0)
      return std::move(diagnose("EH-F11")
                           .with("file", path_text(file))
                           .with("problem", errno == ELOOP ? "link loop" : "dangling link")
                           .with("link", path_text(prefix))
                           .with("target", calls::target_of(prefix)));
  }
  return std::move(diagnose("EH-F01").with("file", path_text(file)));
}

Diagnosis loop(const std::filesystem::path& file) {
  std::filesystem::path prefix;
  for (const std::filesystem::path& component : file) {
    prefix /= component;
    calls::Status status{};
    if (calls::stat(prefix.c_str(), &status) != 0 && errno == ELOOP) break;
  }
  return std::move(diagnose("EH-F11")
                       .with("file", path_text(file))
                       .with("problem", "link loop")
                       .with("link", path_text(prefix))
                       .with("target", calls::target_of(prefix)));
}

Diagnosis closed(const std::filesystem::path& file, int error_number) {
  Diagnosis diagnosis = diagnose_errno("EH-L25", error_number);
  diagnosis.with("file", path_text(file)).with("user", effective_user());
  std::filesystem::path prefix;
  for (const std::filesystem::path& component : file) {
    prefix /= component;
    calls::Status status{};
    bool known = calls::stat(prefix.c_str(), &status) == 0;
    int wanted = known && S_ISDIR(status.st_mode) ? X_OK : R_OK;
    if (calls::may_access(prefix, wanted)) continue;
    diagnosis.with("blocked_by", path_text(prefix));
    if (known) diagnosis.with("mode", octal(status.st_mode)).with("owner", std::to_string(status.st_uid));
    break;
  }
  return diagnosis;
}

}  // namespace

Diagnosis why_not_opened(const std::filesystem::path& file, int error_number) {
  if (calls::held_by_another(error_number))
    return std::move(diagnose_errno("EH-W09", error_number).with("file", path_text(file)));
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return missing(file);
    case ELOOP:
      return loop(file);
    case EACCES:
      return closed(file, error_number);
    case EPERM:
      // Reading needs no privilege, so EPERM comes from a security module or filter (SELinux, fapolicyd,
      // seccomp). The loader skips the rest of its list of folders then, unlike after EACCES.
      return std::move(diagnose_errno("EH-L24", error_number)
                           .with("file", path_text(file))
                           .with("folder", path_text(file.parent_path())));
    case ENXIO:
    case ENODEV:
      // A socket, or a device without a driver.
      return std::move(diagnose_errno("EH-F11", error_number)
                           .with("file", path_text(file))
                           .with("problem", "a device, a pipe or a socket"));
    case ENAMETOOLONG:
      return std::move(diagnose_errno("EH-L33", error_number).with("file", path_text(file)));
    default:
      return std::move(diagnose_errno("EH-L26", error_number).with("file", path_text(file)));
  }
}

}  // namespace enginehost::binary
