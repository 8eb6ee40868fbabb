#include "tools/oci/artifact.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/names_in_utf8.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "tools/oci/archive_names.hpp"

namespace enginehost::oci {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t piece = 256u << 10;

// Writes the archive's bytes to the file and into the digest.
struct Output {
  explicit Output(fs::path path) : file(std::move(path)) {}
  fs::path file;
  FileDescriptor descriptor;
  Sha256 digest;
  std::uint64_t size = 0;
  int error = 0;

  static la_ssize_t write(archive*, void* self, const void* bytes, std::size_t count) {
    auto& output = *static_cast<Output*>(self);
    const char* data = static_cast<const char*>(bytes);
    for (std::size_t done = 0; done < count;) {
      const ssize_t written = calls::write(output.descriptor.get(), data + done, count - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        output.error = errno;
        return -1;
      }
      done += static_cast<std::size_t>(written);
    }
    output.digest.update({data, count});
    output.size += count;
    return static_cast<la_ssize_t>(count);
  }
};

class Packing {
 public:
  Packing(const fs::path& folder, Output& output, const std::optional<CancelToken>& cancel)
      : folder_(folder),
        output_(output),
        cancel_(cancel),
        writer_(::archive_write_new(), &::archive_write_free) {}

  Result<void> begin() {
    const std::string level = std::to_string(packing_level);
    const bool ready =
        ::archive_write_set_format_pax_restricted(writer_.get()) == ARCHIVE_OK &&
        ::archive_write_add_filter_zstd(writer_.get()) == ARCHIVE_OK &&
        ::archive_write_set_filter_option(writer_.get(), "zstd", "compression-level", level.c_str()) ==
            ARCHIVE_OK &&
        ::archive_write_set_bytes_per_block(writer_.get(), 0) == ARCHIVE_OK &&
        ::archive_write_open(writer_.get(), &output_, nullptr, &Output::write, nullptr) == ARCHIVE_OK;
    return ready ? Result<void>() : fail(failure());
  }

  Result<void> add(const cache::TreeEntry& entry) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> header(::archive_entry_new(),
                                                                          &::archive_entry_free);
    set_name(header.get(), entry.path);
    const bool link = entry.kind == cache::TreeEntry::Kind::link;
    ::archive_entry_set_filetype(header.get(), link ? AE_IFLNK : AE_IFREG);
    ::archive_entry_set_perm(header.get(), link                                         ? 0777
                                           : entry.kind == cache::TreeEntry::Kind::file ? 0644
                                                                                        : 0755);
    ::archive_entry_set_mtime(header.get(), 0, 0);
    ::archive_entry_set_size(header.get(), link ? 0 : static_cast<la_int64_t>(entry.size));
    if (link) set_link_target(header.get(), entry.identity);
    if (::archive_write_header(writer_.get(), header.get()) != ARCHIVE_OK) return fail(failure());
    return link ? Result<void>() : add_content(entry);
  }

  Result<void> finish() {
    return ::archive_write_close(writer_.get()) == ARCHIVE_OK ? Result<void>() : fail(failure());
  }

 private:
  Result<void> add_content(const cache::TreeEntry& entry) {
    const fs::path file = folder_ / path_of(entry.path);
    const FileDescriptor input(calls::open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!input.valid())
      return fail(std::move(diagnose_errno(Code::file_not_readable, errno).with(Key::file, path_text(file))));
    Sha256 digest;
    std::uint64_t left = entry.size;
    while (left > 0) {
      if (cancel_ && cancel_->canceled())
        return fail(diagnose(Code::canceled).with(Key::file, path_text(file)));
      const ssize_t count =
          calls::read(input.get(), buffer_.data(), std::min<std::uint64_t>(buffer_.size(), left));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0)
        return fail(
            std::move(diagnose_errno(Code::file_not_readable, errno).with(Key::file, path_text(file))));
      if (count == 0) break;
      digest.update({buffer_.data(), static_cast<std::size_t>(count)});
      if (::archive_write_data(writer_.get(), buffer_.data(), static_cast<std::size_t>(count)) != count)
        return fail(failure());
      left -= static_cast<std::uint64_t>(count);
    }
    if (const std::string actual = digest.hex(); left > 0 || actual != entry.identity)
      return fail(diagnose(Code::file_damaged)
                      .with(Key::file, path_text(file))
                      .with(Key::expected_sha256, entry.identity, "the tree's list")
                      .with(Key::actual_sha256, actual));
    return {};
  }

  Diagnosis failure() const {
    if (output_.error != 0)
      return std::move(diagnose_errno(code_of_write_error(output_.error), output_.error)
                           .with(Key::file, path_text(output_.file))
                           .with(Key::folder, path_text(output_.file.parent_path())));
    const char* said = ::archive_error_string(writer_.get());
    return std::move(
        diagnose(Code::folder_not_writable)
            .with(Key::file, path_text(output_.file))
            .with(Key::folder, path_text(output_.file.parent_path()))
            .with(Key::os_said, said != nullptr ? said : "the archive cannot be written", "libarchive"));
  }

  const fs::path& folder_;
  Output& output_;
  const std::optional<CancelToken>& cancel_;
  std::unique_ptr<archive, int (*)(archive*)> writer_;
  std::vector<char> buffer_ = std::vector<char>(piece);
};

}  // namespace

Result<Packed> pack_tree(const cache::TreeList& list, const fs::path& folder, const fs::path& file,
                         const std::optional<CancelToken>& cancel) {
  Output output(file);
  output.descriptor =
      FileDescriptor(calls::open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!output.descriptor.valid())
    return fail(std::move(diagnose_errno(code_of_write_error(errno), errno)
                              .with(Key::file, path_text(file))
                              .with(Key::folder, path_text(file.parent_path()))));
  const NamesInUtf8 locale;
  Packing packing(folder, output, cancel);
  TRY(packing.begin());
  for (const cache::TreeEntry& entry : list.entries) TRY(packing.add(entry));
  TRY(packing.finish());
  if (calls::fsync(output.descriptor.get()) != 0)
    return fail(std::move(diagnose_errno(code_of_write_error(errno), errno)
                              .with(Key::file, path_text(file))
                              .with(Key::folder, path_text(file.parent_path()))));
  return Packed{output.digest.hex(), output.size};
}

}  // namespace enginehost::oci
