// Checks of installed files against the lists of their trees.
#include "cache/store_inside.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <random>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/system_errors.hpp"

namespace enginehost::cache {
namespace inside {
namespace {

namespace fs = std::filesystem;

Problem problem(Problem::Kind kind, const fs::path& folder, const TreeEntry& entry, Code code) {
  Problem result{kind, entry.path, diagnose(code)};
  result.diagnosis.with(Key::file, path_text(folder / path_of(entry.path)));
  if (entry.kind != TreeEntry::Kind::link)
    result.diagnosis.with(Key::needed_size, std::to_string(entry.size));
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
                            entry, Code::file_not_readable);
    found.diagnosis.with(Key::os_said, error_text(errno), "lstat");
    return found;
  }
  const bool want_link = entry.kind == TreeEntry::Kind::link;
  if (want_link ? !S_ISLNK(status.st_mode) : !S_ISREG(status.st_mode)) {
    Problem found = problem(Kind::wrong_kind, folder, entry, Code::path_leads_to_no_file);
    found.diagnosis.with(Key::problem, kind_of(status.st_mode), "lstat")
        .with(Key::expected_kind, want_link ? "link" : "file");
    return found;
  }
  if (want_link) {
    std::error_code error;
    const std::string target = path_text(fs::read_symlink(file, error));
    if (target == entry.identity) return {};
    Problem found = problem(Kind::wrong_bytes, folder, entry, Code::file_damaged);
    found.diagnosis.with(Key::expected_target, entry.identity).with(Key::actual_target, target);
    return found;
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size != entry.size) {
    Problem found = size == 0           ? problem(Kind::empty, folder, entry, Code::file_empty)
                    : size < entry.size ? problem(Kind::truncated, folder, entry, Code::file_truncated)
                                        : problem(Kind::wrong_size, folder, entry, Code::file_damaged);
    found.diagnosis.with(Key::size, std::to_string(size), "lstat");
    return found;
  }
  if (!deep) return {};
  const auto actual = digest_of(file, status, known);
  if (!actual) return Problem{Kind::unreadable, entry.path, actual.error()};
  if (*actual == entry.identity) return {};
  Problem found = problem(Kind::wrong_bytes, folder, entry, Code::file_damaged);
  found.diagnosis.with(Key::size, std::to_string(size), "lstat")
      .with(Key::expected, entry.identity)
      .with(Key::found, *actual);
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
  Problem found = problem(Problem::Kind::wrong_mode, folder, entry, Code::file_damaged);
  found.diagnosis.with(Key::problem, "its mode is " + octal(has) + " and was " + octal(wanted))
      .with(Key::mode, octal(has), "lstat")
      .with(Key::expected_mode, octal(wanted));
  return found;
}

std::vector<fs::path> unlisted_files(const fs::path& folder,
                                     const std::function<bool(const std::string& path)>& is_known) {
  std::error_code error, gone;
  std::vector<fs::path> files = entries_below(folder, error);
  std::erase_if(files, [&](const fs::path& file) {
    return fs::is_directory(fs::symlink_status(file, gone)) ||
           is_known(generic_text(file.lexically_relative(folder)));
  });
  return files;
}

Problem unlisted_file(const fs::path& folder, const fs::path& file) {
  return {Problem::Kind::unexpected, generic_text(file.lexically_relative(folder)),
          diagnose(Code::file_damaged)
              .with(Key::file, path_text(file))
              .with(Key::problem, "nobody installed it")};
}

std::set<std::string> files_with_other_stamps(const fs::path& view, const Installed& installed) {
  std::set<std::string> paths;
  for (const LoadableFile& file : installed.files) {
    const auto stamp = stamp_of(view / path_of(file.path));
    if (!stamp || stamp->size != file.size || stamp->inode != file.inode ||
        stamp->modified_ns != file.modified_ns)
      paths.insert(file.path);
  }
  return paths;
}

}  // namespace inside

using namespace inside;

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

Result<std::vector<Problem>> Store::verify(std::string_view build, bool deep,
                                           const std::optional<CancelToken>& cancel) const {
  TRY_ASSIGN(const std::optional<Installed> installed, record_of(build));
  if (!installed) return fail(not_installed(build));
  std::vector<Problem> problems;
  std::set<std::string> known;
  const auto note = [&](Problem found) {
    found.diagnosis.with(Key::build, build).with(Key::layer, path_text(installed->layer));
    if (installed->read_only) found.diagnosis.with(Key::read_only_layer, path_text(installed->layer));
    problems.push_back(std::move(found));
  };
  const std::set<std::string> restamped = files_with_other_stamps(installed->folder, *installed);
  for (const std::string& tree : installed->trees) {
    auto list = load_list(installed->layer, tree);
    if (!list) {
      note(
          {list.error().code == Code::file_not_readable ? Problem::Kind::missing : Problem::Kind::wrong_bytes,
           "lists/" + tree, std::move(list).error()});
      continue;
    }
    for (const TreeEntry& entry : list->entries) {
      if (cancel && cancel->canceled()) return fail(diagnose(Code::canceled).with(Key::build, build));
      if (!known.insert(entry.path).second) continue;
      if (auto found = problem_of(installed->folder, entry, deep || restamped.contains(entry.path)))
        note(std::move(*found));
      else if (auto mode = mode_problem_of(installed->folder, entry))
        note(std::move(*mode));
    }
  }
  const auto is_known = [&](const std::string& path) { return known.contains(path); };
  for (const fs::path& file : unlisted_files(installed->folder, is_known))
    note(unlisted_file(installed->folder, file));
  return problems;
}

Result<std::optional<Diagnosis>> Store::check_bytes(const Installed& installed, std::uint64_t most_bytes,
                                                    const std::optional<CancelToken>& cancel) const {
  std::vector<TreeEntry> entries;
  for (const std::string& tree : installed.trees) {
    TRY_ASSIGN(TreeList list, load_list(installed.layer, tree));
    for (TreeEntry& entry : list.entries)
      if (entry.kind != TreeEntry::Kind::link) entries.push_back(std::move(entry));
  }
  std::shuffle(entries.begin(), entries.end(), std::mt19937_64(std::random_device()()));
  std::uint64_t hashed = 0;
  for (const TreeEntry& entry : entries) {
    if (hashed >= most_bytes) break;
    if (cancel && cancel->canceled()) return fail(diagnose(Code::canceled).with(Key::build, installed.build));
    if (auto found = problem_of(installed.folder, entry, true))
      return std::optional(std::move(
          found->diagnosis.with(Key::build, installed.build).with(Key::layer, path_text(installed.layer))));
    hashed += entry.size;
  }
  return std::optional<Diagnosis>();
}

Result<std::vector<std::string>> Store::reject_damaged(std::string_view build, Stage&) const {
  std::vector<std::string> rejected;
  const auto name = own_record(build);
  if (!name) return rejected;
  const fs::path file = ref_file(root_, *name);
  const auto record = read_file(file);
  if (!record) return rejected;
  const auto installed = read_record(*record, path_text(file));
  if (!installed) {
    TRY(discard(root_, file));
    return rejected;
  }
  for (const std::string& tree : installed->trees) {
    TRY_ASSIGN(const auto damage, reject_if_damaged(tree));
    if (damage) rejected.push_back(tree);
  }
  return rejected;
}

}  // namespace enginehost::cache
