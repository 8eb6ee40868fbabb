#include "tools/publish/pack.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/names_in_utf8.hpp"
#include "base/paths.hpp"
#include "tools/oci/archive_names.hpp"
#include "tools/publish/listing.hpp"

namespace enginehost::publish {
namespace {

namespace fs = std::filesystem;

struct CloseArchive {
  void operator()(archive* handle) const { archive_write_free(handle); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

// Decompresses at ten times the speed of the network that it saves; higher levels take minutes per gigabyte.
constexpr const char* compression_level = "12";

int open_file(archive* handle, const fs::path& file) {
  if constexpr (std::is_same_v<fs::path::value_type, wchar_t>)
    return archive_write_open_filename_w(handle, file.wstring().c_str());
  else
    return archive_write_open_filename(handle, file.string().c_str());
}

// A full disk is reported for the archive, whichever file was being added.
Diagnosis not_written(archive* handle, const fs::path& archive_file, const fs::path& added) {
  const int why = archive_errno(handle);
  if (const Code code = code_of_write_error(why); code != Code::folder_not_writable)
    return diagnose_errno(code, why)
        .with(Key::file, path_text(archive_file))
        .with(Key::folder, path_text(archive_file.parent_path()));
  const char* const said = archive_error_string(handle);
  return diagnose(Code::repository_change_refused)
      .with(Key::file, path_text(added))
      .with(Key::problem, said != nullptr ? said : "it cannot be packed");
}

Result<void> add_file(archive* handle, const fs::path& archive_file, const fs::path& file,
                      const std::string& name) {
  const auto wrong = [&](std::string_view problem) {
    return fail(diagnose(Code::repository_change_refused)
                    .with(Key::file, path_text(file))
                    .with(Key::problem, problem));
  };
  const auto unreadable = [&](int why) {
    return fail(diagnose_errno(Code::file_not_readable, why).with(Key::file, path_text(file)));
  };
  calls::Status status{};
  if (calls::lstat(file, &status) != 0) return unreadable(errno);
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  oci::set_name(entry.get(), name);
  std::error_code error;
  if (S_ISLNK(status.st_mode)) {
    archive_entry_set_filetype(entry.get(), AE_IFLNK);
    oci::set_link_target(entry.get(), generic_text(fs::read_symlink(file, error)));
    archive_entry_set_perm(entry.get(), 0777);
    if (archive_write_header(handle, entry.get()) != ARCHIVE_OK)
      return fail(not_written(handle, archive_file, file));
    return {};
  }
  if (!S_ISREG(status.st_mode)) return wrong("it is neither a file nor a link");
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), (status.st_mode & 0100) != 0 ? 0755 : 0644);
  archive_entry_set_size(entry.get(), status.st_size);
  if (archive_write_header(handle, entry.get()) != ARCHIVE_OK)
    return fail(not_written(handle, archive_file, file));
  TRY_ASSIGN(const FileDescriptor input, open_to_read(file));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::vector<char> buffer(std::size_t{1} << 20);
  for (std::uint64_t written = 0;;) {
    const ssize_t got = calls::read(input.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(errno);
    if (got == 0 && written == size) return {};
    written += static_cast<std::uint64_t>(got);
    if (got == 0 || written > size) return wrong("it changed while it was read");
    if (archive_write_data(handle, buffer.data(), static_cast<std::size_t>(got)) != got)
      return fail(not_written(handle, archive_file, file));
  }
}

constexpr std::string_view prefix = ".adding-", program = "engine-manifest add";

fs::path lock_of(const fs::path& folder) { return folder / ".lock"; }

void clear_leftovers(const fs::path& workspace) {
  std::error_code error;
  for (fs::directory_iterator at(workspace, error), end; !error && at != end; at.increment(error)) {
    if (!path_text(at->path().filename()).starts_with(prefix)) continue;
    const auto lock = cache::FileLock::try_exclusive(lock_of(at->path()), program);
    if (std::error_code ignored; lock && *lock) remove_tree(at->path(), ignored);
  }
}

}  // namespace

Result<void> pack_folder(const fs::path& folder, const fs::path& archive_file) {
  TRY_ASSIGN(const std::vector<fs::path> entries, entries_below(folder));
  std::vector<std::string> names;
  for (const fs::path& one : entries) names.push_back(generic_text(one));
  std::sort(names.begin(), names.end());
  if (names.empty())
    return fail(diagnose(Code::repository_change_refused)
                    .with(Key::folder, path_text(folder))
                    .with(Key::problem, "there is no file in it"));
  const NamesInUtf8 locale;
  const std::unique_ptr<archive, CloseArchive> handle(archive_write_new());
  if (archive_write_set_format_pax_restricted(handle.get()) != ARCHIVE_OK ||
      archive_write_add_filter_zstd(handle.get()) != ARCHIVE_OK ||
      archive_write_set_filter_option(handle.get(), "zstd", "compression-level", compression_level) !=
          ARCHIVE_OK ||
      open_file(handle.get(), archive_file) != ARCHIVE_OK)
    return fail(not_written(handle.get(), archive_file, archive_file));
  for (const std::string& name : names)
    TRY(add_file(handle.get(), archive_file, folder / path_of(name), name));
  if (archive_write_close(handle.get()) != ARCHIVE_OK)
    return fail(not_written(handle.get(), archive_file, archive_file));
  return {};
}

Result<Scratch> Scratch::make(const Workspace& workspace) {
  // The lock keeps the new folder from counting as abandoned before its own lock is held.
  TRY_ASSIGN(const cache::FileLock lock, workspace.lock(program));
  clear_leftovers(workspace.folder());
  Scratch scratch;
  TRY_ASSIGN(scratch.folder_, make_private_folder(workspace.folder(), prefix));
  TRY_ASSIGN(scratch.lock_, cache::FileLock::exclusive(lock_of(scratch.folder_), program));
  return scratch;
}

Scratch::Scratch(Scratch&& other) noexcept
    : folder_(std::exchange(other.folder_, fs::path())), lock_(std::move(other.lock_)) {}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!folder_.empty()) remove_tree(folder_, ignored);
}

}  // namespace enginehost::publish
