#include "cache/tree_writer.hpp"

#include <algorithm>
#include <cerrno>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "cache/store_inside.hpp"

namespace enginehost::cache {
namespace {

using inside::mode_of;
namespace fs = std::filesystem;

constexpr std::size_t piece_size = 512u << 10;

Diagnosis refused(std::string_view entry, std::string_view problem) {
  return std::move(diagnose(Code::archive_entry_refused).with(Key::entry, entry).with(Key::problem, problem));
}

Result<void> accept_target(std::string_view path, std::string_view target) {
  std::string_view problem = link_problem(path, target);
  if (problem.empty()) problem = name_problem(target);
  if (problem.empty()) return {};
  return fail(std::move(refused(path, problem).with(Key::target, target)));
}

}  // namespace

// Writing to the disk begins early, so that the final syncs have little left.
int TreeWriter::OpenFile::write(std::string_view bytes) {
  digest.update(bytes);
  if (const int why = write_whole(file.get(), bytes); why != 0) return why;
  begin_writing_out(file.get(), written, bytes.size());
  written += bytes.size();
  return 0;
}

int TreeWriter::OpenFile::finish() {
  if (const int why = wait(); why != 0) return why;
  if (const int why = write(filling); why != 0) return why;
  if (calls::fchmod(file.get(), mode_of(entry)) != 0 || calls::close(file.release()) != 0) return errno;
  entry.identity = digest.hex();
  return 0;
}

TreeWriter::TreeWriter(fs::path folder, TreeLimits limits)
    : folder_(std::move(folder)), limits_(limits), file_limit_(file_size_limit()) {}

Diagnosis TreeWriter::disk_failure(int error_number, std::string_view path) const {
  return write_failure(error_number, folder_ / path_of(path), folder_);
}

Result<void> TreeWriter::make_parents(std::string_view path) {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    const std::string parent(path.substr(0, slash));
    if (folders_.contains(parent)) continue;
    if (entries_.contains(parent)) return fail(refused(path, "lies below a file or link"));
    if (calls::mkdir((folder_ / path_of(parent)).c_str(), 0755) != 0)
      return fail(disk_failure(errno, parent));
    folders_.insert(parent);
  }
  return {};
}

Result<void> TreeWriter::claim(std::string_view path) {
  if (const auto problem = path_problem(path); !problem.empty()) return fail(refused(path, problem));
  if (const auto problem = name_problem(path); !problem.empty()) return fail(refused(path, problem));
  if (entries_.size() >= limits_.entries)
    return fail(
        std::move(refused(path, "too many entries").with(Key::limit, std::to_string(limits_.entries))));
  const std::string text(path);
  if (entries_.contains(text)) return fail(refused(path, "occurs twice"));
  if (folders_.contains(text)) return fail(refused(path, "is a folder, too"));
  // Two names that differ in case only are one file on Windows and macOS, and suspicious elsewhere.
  if (const std::string other = spellings_.clash(path); !other.empty())
    return fail(std::move(refused(path, "differs in case only").with(Key::other, other)));
  return make_parents(path);
}

Result<void> TreeWriter::count_bytes(std::string_view path, std::uint64_t size) {
  if (size > limits_.bytes - bytes_)
    return fail(std::move(
        refused(path, "unpacks to more than is allowed").with(Key::limit, std::to_string(limits_.bytes))));
  bytes_ += size;
  return {};
}

Result<void> TreeWriter::begin_file(std::string_view path, bool executable) {
  TRY(claim(path));
  open_ = std::make_unique<OpenFile>();
  open_->entry = {executable ? TreeEntry::Kind::executable : TreeEntry::Kind::file, 0, std::string(path), {}};
  open_->file = FileDescriptor(calls::open((folder_ / path_of(path)).c_str(),
                                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!open_->file.valid()) return fail(disk_failure(errno, path));
  return {};
}

Result<void> TreeWriter::write(std::string_view bytes) {
  OpenFile& file = *open_;
  TRY(count_bytes(file.entry.path, bytes.size()));
  file.entry.size += bytes.size();
  // SIGXFSZ would end the process.
  if (file.entry.size > file_limit_) return fail(disk_failure(EFBIG, file.entry.path));
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece_size - file.filling.size());
    file.filling.append(part);
    bytes.remove_prefix(part.size());
    if (file.filling.size() < piece_size) break;
    if (const int why = file.wait(); why != 0) return fail(disk_failure(why, file.entry.path));
    file.full.swap(file.filling);
    file.filling.clear();
    file.writing = std::async([&file] { return file.write(file.full); });
  }
  return {};
}

Result<void> TreeWriter::end_file() {
  const std::unique_ptr<OpenFile> file = std::move(open_);
  if (const int why = file->finish(); why != 0) return fail(disk_failure(why, file->entry.path));
  entries_.emplace(file->entry.path, file->entry);
  return {};
}

Result<void> TreeWriter::adopt_file(std::string_view path, bool executable, const fs::path& file,
                                    std::uint64_t size, std::string sha256) {
  TRY(claim(path));
  TRY(count_bytes(path, size));
  TreeEntry entry{executable ? TreeEntry::Kind::executable : TreeEntry::Kind::file, size, std::string(path),
                  std::move(sha256)};
  if (calls::chmod(file.c_str(), mode_of(entry)) != 0 ||
      calls::rename(file.c_str(), (folder_ / path_of(path)).c_str()) != 0)
    return fail(disk_failure(errno, path));
  entries_.emplace(path, std::move(entry));
  return {};
}

// Only notes links: none exists on disk while files are written, so nothing can be written through one.
Result<void> TreeWriter::add_link(std::string_view path, std::string_view target) {
  TRY(claim(path));
  TRY(accept_target(path, target));
  entries_.emplace(path,
                   TreeEntry{TreeEntry::Kind::link, target.size(), std::string(path), std::string(target)});
  return {};
}

// Returns nullptr if there is no such file, or a link.
TreeEntry* TreeWriter::written_file(std::string_view path) {
  const auto found = entries_.find(std::string(path));
  return found == entries_.end() || found->second.kind == TreeEntry::Kind::link ? nullptr : &found->second;
}

Result<void> TreeWriter::make_link_of(std::string_view path) {
  TreeEntry* const entry = written_file(path);
  if (entry == nullptr) return {};
  const fs::path file = folder_ / path_of(path);
  TRY_ASSIGN(const std::string target, read_file(file, 4096, Code::archive_entry_refused));
  TRY(accept_target(path, target));
  if (calls::unlink(file.c_str()) != 0) return fail(disk_failure(errno, path));
  *entry = {TreeEntry::Kind::link, target.size(), std::string(path), target};
  return {};
}

Result<void> TreeWriter::set_executable(std::string_view path, bool executable) {
  TreeEntry* const entry = written_file(path);
  if (entry == nullptr) return {};
  entry->kind = executable ? TreeEntry::Kind::executable : TreeEntry::Kind::file;
  if (calls::chmod((folder_ / path_of(path)).c_str(), mode_of(*entry)) != 0)
    return fail(disk_failure(errno, path));
  return {};
}

// A link must end at an entry of the tree, through at most a few other links and through no linked folder.
Result<void> TreeWriter::check_link(const TreeEntry& link) const {
  const TreeEntry* at = &link;
  for (int hops = 0; hops < 8; ++hops) {
    const fs::path joined = (path_of(at->path).parent_path() / path_of(at->identity)).lexically_normal();
    std::string target = generic_text(joined);
    if (target.ends_with('/')) target.pop_back();
    if (const auto problem = link_problem(at->path, at->identity); !problem.empty())
      return fail(std::move(refused(link.path, problem).with(Key::target, link.identity)));
    if (folders_.contains(target) || target == ".") return {};
    const auto found = entries_.find(target);
    if (found == entries_.end())
      return fail(std::move(refused(link.path, "link to something that is not in the archive")
                                .with(Key::target, link.identity)));
    if (found->second.kind != TreeEntry::Kind::link) return {};
    at = &found->second;
  }
  return fail(std::move(refused(link.path, "links in a circle").with(Key::target, link.identity)));
}

Result<void> TreeWriter::sync_all() const {
  for (const auto& [path, entry] : entries_) {
    if (entry.kind == TreeEntry::Kind::link) continue;
    const FileDescriptor written(
        calls::open((folder_ / path_of(path)).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!written.valid() || calls::fsync(written.get()) != 0) return fail(disk_failure(errno, path));
  }
  for (const std::string& made : folders_) TRY(sync_folder(folder_ / path_of(made)));
  return sync_folder(folder_);
}

Result<TreeList> TreeWriter::finish() {
  TreeList list;
  for (const auto& [path, entry] : entries_) {
    if (entry.kind == TreeEntry::Kind::link) {
      TRY(check_link(entry));
      if (calls::symlink(entry.identity.c_str(), (folder_ / path_of(path)).c_str()) != 0)
        return fail(disk_failure(errno, path));
    }
    list.entries.push_back(entry);
  }
  TRY(sync_all());
  return list;
}

}  // namespace enginehost::cache
