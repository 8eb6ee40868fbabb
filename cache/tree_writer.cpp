#include "cache/tree_writer.hpp"

#include <cerrno>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "cache/write_behind.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;

Diagnosis refused(std::string_view entry, std::string_view problem) {
  return std::move(diagnose("EH-F19").with("entry", entry).with("problem", problem));
}

}  // namespace

struct TreeWriter::State {
  fs::path folder;
  TreeLimits limits;
  std::uint64_t file_limit = file_size_limit();
  std::map<std::string, TreeEntry> entries;  // by path
  std::unordered_map<std::string, std::string>
      spelling;                             // lower-case path of file, link or folder -> as written
  std::unordered_set<std::string> folders;  // relative paths
  std::uint64_t bytes = 0;

  TreeEntry current;
  WriteBehind behind;  // its digests become identities in settle()

  Diagnosis disk_failure(int error_number, std::string_view path) const {
    return write_failure(error_number, folder / path_of(path), folder);
  }
  Result<void> spell(const std::string& path, std::string_view entry_path);
  Result<void> make_parents(std::string_view path);
  Result<void> claim(std::string_view path);
  Result<void> check_link(const TreeEntry& link) const;
  Result<void> sync_all() const;
  Result<void> without(const std::optional<WriteBehind::Failure>& failure) const {
    if (failure) return fail(disk_failure(failure->error_number, failure->path));
    return {};
  }
  Result<void> settle();
};

// Two names that differ in case only are one file on Windows and macOS, and suspicious elsewhere.
Result<void> TreeWriter::State::spell(const std::string& path, std::string_view entry_path) {
  const auto [known, fresh] = spelling.emplace(to_lower(path), path);
  if (!fresh && known->second != path)
    return fail(std::move(refused(entry_path, "differs in case only").with("other", known->second)));
  return {};
}

Result<void> TreeWriter::State::make_parents(std::string_view path) {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    const std::string parent(path.substr(0, slash));
    if (folders.contains(parent)) continue;
    if (entries.contains(parent)) return fail(refused(path, "lies below a file or link"));
    TRY(spell(parent, path));
    if (calls::mkdir((folder / path_of(parent)).c_str(), 0755) != 0) return fail(disk_failure(errno, parent));
    folders.insert(parent);
  }
  return {};
}

Result<void> TreeWriter::State::claim(std::string_view path) {
  if (const auto problem = path_problem(path); !problem.empty()) return fail(refused(path, problem));
  if (entries.size() >= limits.entries)
    return fail(std::move(refused(path, "too many entries").with("limit", std::to_string(limits.entries))));
  const std::string text(path);
  if (entries.contains(text)) return fail(refused(path, "occurs twice"));
  if (folders.contains(text)) return fail(refused(path, "is a folder, too"));
  TRY(make_parents(path));
  return spell(text, path);
}

TreeWriter::TreeWriter(fs::path folder, TreeLimits limits) : state_(std::make_unique<State>()) {
  state_->folder = std::move(folder);
  state_->limits = limits;
}
TreeWriter::TreeWriter(TreeWriter&&) noexcept = default;
TreeWriter& TreeWriter::operator=(TreeWriter&&) noexcept = default;
TreeWriter::~TreeWriter() = default;

Result<void> TreeWriter::begin_file(std::string_view path, bool executable) {
  State& state = *state_;
  TRY(state.claim(path));
  FileDescriptor file(calls::open((state.folder / path_of(path)).c_str(),
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return fail(state.disk_failure(errno, path));
  state.current =
      TreeEntry{executable ? TreeEntry::Kind::executable : TreeEntry::Kind::file, 0, std::string(path), {}};
  return state.without(state.behind.begin(std::move(file), state.current.path, executable ? 0555 : 0444));
}

Result<void> TreeWriter::write(std::string_view bytes) {
  State& state = *state_;
  if (bytes.size() > state.limits.bytes - state.bytes)
    return fail(std::move(refused(state.current.path, "unpacks to more than is allowed")
                              .with("limit", std::to_string(state.limits.bytes))));
  // SIGXFSZ would end the process.
  if (state.current.size + bytes.size() > state.file_limit)
    return fail(state.disk_failure(EFBIG, state.current.path));
  state.bytes += bytes.size();
  state.current.size += bytes.size();
  return state.without(state.behind.write(bytes));
}

Result<void> TreeWriter::end_file() {
  State& state = *state_;
  state.entries.emplace(state.current.path, state.current);
  return state.without(state.behind.end());
}

Result<void> TreeWriter::adopt_file(std::string_view path, bool executable, const fs::path& file,
                                    std::uint64_t size, std::string sha256) {
  State& state = *state_;
  TRY(state.claim(path));
  if (size > state.limits.bytes - state.bytes)
    return fail(std::move(
        refused(path, "unpacks to more than is allowed").with("limit", std::to_string(state.limits.bytes))));
  if (calls::chmod(file.c_str(), executable ? 0555 : 0444) != 0 ||
      calls::rename(file.c_str(), (state.folder / path_of(path)).c_str()) != 0)
    return fail(state.disk_failure(errno, path));
  state.bytes += size;
  state.entries.emplace(path, TreeEntry{executable ? TreeEntry::Kind::executable : TreeEntry::Kind::file,
                                        size, std::string(path), std::move(sha256)});
  return {};
}

Result<void> TreeWriter::State::settle() {
  TRY(without(behind.settle()));
  for (WriteBehind::Written& written : behind.take_written())
    entries.at(written.path).identity = std::move(written.sha256);
  return {};
}

Result<void> TreeWriter::settle() { return state_->settle(); }

// Only notes links: none exists on disk while files are written, so nothing can be written through one.
Result<void> TreeWriter::add_link(std::string_view path, std::string_view target) {
  State& state = *state_;
  TRY(state.claim(path));
  if (const auto problem = link_problem(path, target); !problem.empty())
    return fail(std::move(refused(path, problem).with("target", target)));
  state.entries.emplace(
      path, TreeEntry{TreeEntry::Kind::link, target.size(), std::string(path), std::string(target)});
  return {};
}

Result<void> TreeWriter::make_link_of(std::string_view path) {
  State& state = *state_;
  const auto found = state.entries.find(std::string(path));
  if (found == state.entries.end() || found->second.kind == TreeEntry::Kind::link) return {};
  TRY(state.settle());
  const fs::path file = state.folder / path_of(path);
  TRY_ASSIGN(const std::string target, read_file(file, 4096, "EH-F19"));
  if (const auto problem = link_problem(path, target); !problem.empty())
    return fail(std::move(refused(path, problem).with("target", target)));
  if (calls::unlink(file.c_str()) != 0) return fail(state.disk_failure(errno, path));
  found->second = TreeEntry{TreeEntry::Kind::link, target.size(), std::string(path), target};
  return {};
}

Result<void> TreeWriter::set_executable(std::string_view path, bool executable) {
  State& state = *state_;
  const auto found = state.entries.find(std::string(path));
  if (found == state.entries.end() || found->second.kind == TreeEntry::Kind::link) return {};
  const auto kind = executable ? TreeEntry::Kind::executable : TreeEntry::Kind::file;
  if (found->second.kind == kind) return {};
  TRY(state.settle());
  if (calls::chmod((state.folder / path_of(path)).c_str(), executable ? 0555 : 0444) != 0)
    return fail(state.disk_failure(errno, path));
  found->second.kind = kind;
  return {};
}

std::size_t TreeWriter::entries() const { return state_->entries.size(); }

// A link must end at an entry of the tree, through at most a few other links and through no linked folder.
Result<void> TreeWriter::State::check_link(const TreeEntry& link) const {
  const TreeEntry* at = &link;
  for (int hops = 0; hops < 8; ++hops) {
    const fs::path joined = (path_of(at->path).parent_path() / path_of(at->identity)).lexically_normal();
    std::string target = generic_text(joined);
    if (target.ends_with('/')) target.pop_back();
    if (const auto problem = link_problem(at->path, at->identity); !problem.empty())
      return fail(std::move(refused(link.path, problem).with("target", link.identity)));
    if (folders.contains(target) || target == ".") return {};
    const auto found = entries.find(target);
    if (found == entries.end())
      return fail(std::move(
          refused(link.path, "link to something that is not in the archive").with("target", link.identity)));
    if (found->second.kind != TreeEntry::Kind::link) return {};
    at = &found->second;
  }
  return fail(std::move(refused(link.path, "links in a circle").with("target", link.identity)));
}

Result<void> TreeWriter::State::sync_all() const {
  for (const auto& [path, entry] : entries) {
    if (entry.kind == TreeEntry::Kind::link) continue;
    const FileDescriptor written(
        calls::open((folder / path_of(path)).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!written.valid() || calls::fsync(written.get()) != 0) return fail(disk_failure(errno, path));
  }
  for (const std::string& made : folders) TRY(sync_folder(folder / path_of(made)));
  return sync_folder(folder);
}

Result<TreeList> TreeWriter::finish() {
  State& state = *state_;
  TRY(state.settle());
  TreeList list;
  for (const auto& [path, entry] : state.entries) {
    if (entry.kind == TreeEntry::Kind::link) {
      TRY(state.check_link(entry));
      if (calls::symlink(entry.identity.c_str(), (state.folder / path_of(path)).c_str()) != 0)
        return fail(state.disk_failure(errno, path));
    }
    list.entries.push_back(entry);
  }
  TRY(state.sync_all());
  return list;
}

}  // namespace enginehost::cache
