#include "cache/file_check.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/system_errors.hpp"

namespace enginehost::cache {
namespace inside {
namespace {

namespace fs = std::filesystem;

Problem problem(Problem::Kind kind, const fs::path& folder, const TreeEntry& entry, const char* code) {
  Problem result{kind, entry.path, diagnose(code)};
  result.diagnosis.with("file", path_text(folder / path_of(entry.path)));
  if (entry.kind != TreeEntry::Kind::link) result.diagnosis.with("needed_size", std::to_string(entry.size));
  return result;
}

std::string kind_of(calls::Mode mode) {
  if (S_ISDIR(mode)) return "folder";
  if (S_ISLNK(mode)) return "link";
  return S_ISREG(mode) ? "file" : "special file";
}

Result<std::string> digest_of(const fs::path& file, const calls::Status& status, Digests* known) {
  if (known == nullptr) return sha256_of_file(file);
  const auto [found, fresh] = known->try_emplace({status.st_dev, status.st_ino});
  if (!fresh) return found->second;
  auto digest = sha256_of_file(file);
  if (digest)
    found->second = *digest;
  else
    known->erase(found);
  return digest;
}

std::string octal(calls::Mode mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

}  // namespace

std::optional<Problem> problem_of(const fs::path& folder, const TreeEntry& entry, bool deep, Digests* known) {
  using Kind = Problem::Kind;
  const fs::path file = folder / path_of(entry.path);
  calls::Status status{};
  if (calls::lstat(file.c_str(), &status) != 0) {
    Problem found = problem(errno == ENOENT || errno == ENOTDIR ? Kind::missing : Kind::unreadable, folder,
                            entry, "EH-F01");
    found.diagnosis.with("os_said", error_text(errno), "lstat");
    return found;
  }
  const bool want_link = entry.kind == TreeEntry::Kind::link;
  if (want_link ? !S_ISLNK(status.st_mode) : !S_ISREG(status.st_mode)) {
    Problem found = problem(Kind::wrong_kind, folder, entry, "EH-F11");
    found.diagnosis.with("problem", kind_of(status.st_mode), "lstat")
        .with("expected_kind", want_link ? "link" : "file");
    return found;
  }
  if (want_link) {
    std::error_code error;
    const std::string target = path_text(fs::read_symlink(file, error));
    if (target == entry.identity) return {};
    Problem found = problem(Kind::wrong_bytes, folder, entry, "EH-F08");
    found.diagnosis.with("expected_target", entry.identity).with("actual_target", target);
    return found;
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size != entry.size) {
    Problem found = size == 0           ? problem(Kind::empty, folder, entry, "EH-F02")
                    : size < entry.size ? problem(Kind::truncated, folder, entry, "EH-F04")
                                        : problem(Kind::wrong_size, folder, entry, "EH-F08");
    found.diagnosis.with("size", std::to_string(size), "lstat");
    return found;
  }
  if (!deep) return {};
  const auto actual = digest_of(file, status, known);
  if (!actual) return Problem{Kind::unreadable, entry.path, actual.error()};
  if (*actual == entry.identity) return {};
  Problem found = problem(Kind::wrong_bytes, folder, entry, "EH-F08");
  found.diagnosis.with("size", std::to_string(size), "lstat")
      .with("expected", entry.identity)
      .with("found", *actual);
  return found;
}

calls::Mode mode_of(const TreeEntry& entry) {
  return entry.kind == TreeEntry::Kind::executable ? 0555 : 0444;
}

std::optional<Problem> mode_problem_of(const fs::path& folder, const TreeEntry& entry) {
  calls::Status status{};
  if (entry.kind == TreeEntry::Kind::link ||
      calls::lstat((folder / path_of(entry.path)).c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return {};
  const calls::Mode wanted = mode_of(entry), has = status.st_mode & 07777;
  const bool may_be_changed = (has & (0222 | S_ISUID | S_ISGID)) != 0;
  if ((!may_be_changed && (has & wanted) == wanted) || !keeps_modes(folder)) return {};
  Problem found = problem(Problem::Kind::wrong_mode, folder, entry, "EH-F08");
  found.diagnosis.with("problem", "its mode is " + octal(has) + " and was " + octal(wanted))
      .with("mode", octal(has), "lstat")
      .with("expected_mode", octal(wanted));
  return found;
}

}  // namespace inside

const char* name_of(Problem::Kind kind) {
  switch (kind) {
    case Problem::Kind::missing:
      return "missing";
    case Problem::Kind::empty:
      return "empty";
    case Problem::Kind::truncated:
      return "truncated";
    case Problem::Kind::wrong_size:
      return "wrong size";
    case Problem::Kind::wrong_bytes:
      return "wrong bytes";
    case Problem::Kind::wrong_kind:
      return "wrong kind";
    case Problem::Kind::wrong_mode:
      return "wrong mode";
    case Problem::Kind::unexpected:
      return "unexpected";
    case Problem::Kind::unreadable:
      return "unreadable";
  }
  return "unknown";
}

}  // namespace enginehost::cache
