#include "host/acquire/unpack.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/files.hpp"
#include "base/names_in_utf8.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/acquire/entry_names.hpp"
#include "host/acquire/zip_directory.hpp"
#include "host/acquire/zip_stream.hpp"

namespace enginehost::acquire {
namespace {

using Archive = std::unique_ptr<archive, int (*)(archive*)>;
constexpr std::size_t buffer_size = 1u << 20;
// Entries that are not selected count too.
constexpr std::uint64_t most_entries = 1'000'000, most_name_bytes = 64u << 20;
constexpr std::uint64_t most_pattern_steps = std::uint64_t{1} << 33;  // about 15 s
constexpr std::size_t longest_name = 4096;                            // no system opens a longer one

// The state of libarchive's callbacks.
struct ArchiveInput {
  GrowingFile* file = nullptr;
  std::uint64_t generation = 0, at = 0;
  std::vector<char> buffer = std::vector<char>(buffer_size);
  const std::optional<CancelToken>* cancel = nullptr;
  const std::function<void(std::uint64_t)>* on_read = nullptr;
  std::uint64_t entries = 0, name_bytes = 0, pattern_steps = 0;  // of all entries read
  bool stopped = false;

  std::int64_t read() { return read_into(buffer.data(), buffer.size()); }

  std::int64_t read_into(char* to, std::size_t size) {
    if (*cancel && (*cancel)->canceled()) stopped = true;
    const std::int64_t got = stopped ? -1 : file->read(at, to, size, generation);
    if (got < 0) stopped = true;
    if (got > 0) at += static_cast<std::uint64_t>(got);
    if (got > 0 && *on_read) (*on_read)(at);
    return got;
  }
};

la_ssize_t read_callback(archive*, void* self, const void** buffer) {
  auto& reader = *static_cast<ArchiveInput*>(self);
  *buffer = reader.buffer.data();
  const std::int64_t got = reader.read();
  return got < 0 ? ARCHIVE_FATAL : static_cast<la_ssize_t>(got);
}

la_int64_t seek_callback(archive*, void* self, la_int64_t offset, int whence) {
  auto& reader = *static_cast<ArchiveInput*>(self);
  const auto size = static_cast<la_int64_t>(reader.file->held());
  const la_int64_t base = whence == SEEK_SET   ? 0
                          : whence == SEEK_CUR ? static_cast<la_int64_t>(reader.at)
                                               : size;
  if (base + offset < 0 || base + offset > size) return ARCHIVE_FATAL;
  reader.at = static_cast<std::uint64_t>(base + offset);
  return base + offset;
}

Diagnosis interrupted() { return std::move(diagnose(Code::canceled).with(Key::problem, "abandoned")); }

Diagnosis broken(const manifest::Artifact& artifact, std::string_view problem) {
  return std::move(
      diagnose(Code::archive_not_unpacked).with(Key::archive, artifact.archive).with(Key::problem, problem));
}

Diagnosis broken(const manifest::Artifact& artifact, archive* from, const ArchiveInput& reader) {
  if (reader.stopped) return interrupted();
  const char* said = ::archive_error_string(from);
  return std::move(broken(artifact, said != nullptr ? said : "cannot be decoded")
                       .with(Key::position, std::to_string(reader.at)));
}

// libarchive could not convert a name to the locale. The name is read as UTF-8 instead; owner names are not
// used. Any other warning means that part of the entry was skipped.
bool is_about_encoding(archive* from) {
  const char* said = ::archive_error_string(from);
  return said != nullptr && std::string_view(said).find("can't be converted") != std::string_view::npos;
}

void enable_formats(archive* reading, const std::string& name, bool seekable) {
  // Only these formats, because most of libarchive's faults were in its other readers.
  if (name == "zip") {
    if (seekable)
      ::archive_read_support_format_zip_seekable(reading);
    else
      ::archive_read_support_format_zip_streamable(reading);
    return;
  }
  ::archive_read_support_format_tar(reading);
  if (name == "tar.gz") ::archive_read_support_filter_gzip(reading);
  if (name == "tar.xz") ::archive_read_support_filter_xz(reading);
  if (name == "tar.zst") ::archive_read_support_filter_zstd(reading);
}

// Copies a file's data; holes of sparse files become zeros.
Result<void> copy_data(const manifest::Artifact& artifact, archive* from, const ArchiveInput& reader,
                       cache::TreeWriter& writer) {
  static constexpr std::array<char, 65536> zeros{};
  std::uint64_t position = 0;
  for (;;) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int result = ::archive_read_data_block(from, &bytes, &size, &offset);
    const auto start = static_cast<std::uint64_t>(std::max<la_int64_t>(offset, 0));
    if (result < ARCHIVE_WARN || result == ARCHIVE_RETRY) return fail(broken(artifact, from, reader));
    if (result == ARCHIVE_EOF && size == 0 && start <= position) return {};
    if (start < position) return fail(broken(artifact, "data out of order"));
    while (position < start) {
      const std::size_t gap = std::min<std::uint64_t>(start - position, zeros.size());
      TRY(writer.write({zeros.data(), gap}));
      position += gap;
    }
    TRY(writer.write({static_cast<const char*>(bytes), size}));
    position += size;
    if (result == ARCHIVE_EOF) return {};
    if (result == ARCHIVE_WARN) return fail(broken(artifact, from, reader));  // a wrong CRC is only a warning
  }
}

// Checks every entry before its name is used, because the names of other entries may be kept for the whole
// run.
Result<void> count_entry(const manifest::Artifact& artifact, const std::string& name, ArchiveInput& reader) {
  if (++reader.entries > most_entries) return fail(broken(artifact, "too many entries"));
  const auto too_long = [&](std::string_view problem, std::uint64_t limit) {
    return fail(diagnose(Code::archive_entry_refused)
                    .with(Key::entry, name.substr(0, 100) + "...")
                    .with(Key::problem, problem)
                    .with(Key::limit, std::to_string(limit)));
  };
  if (name.size() > longest_name) return too_long("too long", longest_name);
  reader.name_bytes += name.size();
  // Matching takes a step for each character of the name and each of the patterns at most.
  for (const std::string& pattern : artifact.select) reader.pattern_steps += name.size() * pattern.size();
  if (reader.pattern_steps > most_pattern_steps)
    return too_long("the names of all entries times the patterns of \"select\" are too long",
                    most_pattern_steps);
  if (reader.name_bytes > most_name_bytes)
    return too_long("the names of all entries together are too long", most_name_bytes);
  return {};
}

Result<void> take_entry(const manifest::Artifact& artifact, archive* from, archive_entry* entry,
                        ArchiveInput& reader, cache::TreeWriter& writer, Unpacked& unpacked) {
  const std::optional<std::string> read = name_of(entry);
  if (!read)
    return fail(diagnose(Code::archive_entry_refused)
                    .with(Key::entry, "")
                    .with(Key::problem, "its name cannot be read"));
  const std::string& name = *read;
  TRY(count_entry(artifact, name, reader));
  MetEntry met{name, {}};
  TRY_ASSIGN(std::string path, path_in_tree(artifact, name));
  const auto type = ::archive_entry_filetype(entry);
  const bool folder = type == AE_IFDIR || name.ends_with('/');
  if (!path.empty() && !folder) {
    const auto refuse = [&](std::string_view problem) {
      return fail(diagnose(Code::archive_entry_refused).with(Key::entry, name).with(Key::problem, problem));
    };
    if (::archive_entry_hardlink(entry) != nullptr) return refuse("hard link");
    if (type == AE_IFLNK) {
      TRY(writer.add_link(path, link_target_of(entry)));
    } else if (type == AE_IFREG || type == 0) {
      TRY(writer.begin_file(path, (::archive_entry_perm(entry) & 0111) != 0 && artifact.archive != "zip"));
      TRY(copy_data(artifact, from, reader, writer));
      TRY(writer.end_file());
    } else {
      return refuse("neither a file nor a link");
    }
    met.path = std::move(path);
  }
  unpacked.entries.push_back(std::move(met));
  return {};
}

// No archive: copies the file itself.
Result<Unpacked> copy_whole(const manifest::Artifact& artifact, ArchiveInput& reader,
                            cache::TreeWriter& writer) {
  TRY(writer.begin_file(artifact.path, false));
  for (;;) {
    const std::int64_t got = reader.read();
    if (got < 0) return fail(interrupted());
    if (got == 0) break;
    TRY(writer.write({reader.buffer.data(), static_cast<std::size_t>(got)}));
  }
  TRY(writer.end_file());
  return Unpacked{{{artifact.path, artifact.path}}};
}

// Reads a zip archive without libarchive; EH-F21 if libarchive is needed.
Result<Unpacked> read_streamed_zip(const manifest::Artifact& artifact, ArchiveInput& reader,
                                   cache::TreeWriter& writer) {
  Unpacked unpacked;
  const ZipSource source = [&](char* buffer, std::size_t size) { return reader.read_into(buffer, size); };
  ZipSink sink;
  sink.begin = [&](const std::string& name) -> Result<bool> {
    TRY(count_entry(artifact, name, reader));
    TRY_ASSIGN(std::string path, path_in_tree(artifact, name));
    if (name.ends_with('/')) path.clear();
    if (!path.empty()) {
      TRY(writer.begin_file(path, false));
    }
    unpacked.entries.push_back({name, std::move(path)});
    return !unpacked.entries.back().path.empty();
  };
  sink.write = [&](std::string_view bytes) { return writer.write(bytes); };
  sink.end = [&] { return writer.end_file(); };
  TRY(read_zip_stream(source, sink));
  return unpacked;
}

bool is_disk_failure(const Diagnosis& diagnosis) {
  return diagnosis.code == Code::disk_full || diagnosis.code == Code::folder_not_writable ||
         diagnosis.code == Code::file_size_limit || diagnosis.code == Code::cache_unusable ||
         diagnosis.code == Code::too_many_open_files;
}

// Adds the file's name, because the archive readers know only a descriptor.
Diagnosis in_file(Diagnosis diagnosis, const GrowingFile& file) {
  if (diagnosis.code == Code::cache_unusable) diagnosis.with(Key::file, path_text(file.path()));
  return diagnosis;
}

}  // namespace

bool is_known_archive(std::string_view name) {
  return name == "zip" || name == "tar" || name == "tar.gz" || name == "tar.xz" || name == "tar.zst" ||
         name == "none";
}

Result<std::string> path_in_tree(const manifest::Artifact& artifact, std::string_view name) {
  const auto refuse = [&](std::string_view problem) {
    return fail(diagnose(Code::archive_entry_refused).with(Key::entry, name).with(Key::problem, problem));
  };
  if (name.starts_with('/')) return refuse("absolute");
  std::vector<std::string> parts;
  for (std::string& part : split(name, '/')) {
    if (part == "..") return refuse("climbs out");
    if (!part.empty() && part != ".") parts.push_back(std::move(part));
  }
  if (parts.size() <= static_cast<std::size_t>(std::max(artifact.strip, 0))) return std::string();
  parts.erase(parts.begin(), parts.begin() + std::max(artifact.strip, 0));
  std::string path = join(parts, "/");
  const bool wanted = artifact.select.empty() ||
                      std::any_of(artifact.select.begin(), artifact.select.end(),
                                  [&](const std::string& pattern) { return matches_pattern(path, pattern); });
  if (!wanted) path.clear();
  return path;
}

Result<Unpacked> unpack(const manifest::Artifact& artifact, GrowingFile& file, Way way,
                        cache::TreeWriter& writer, const std::optional<CancelToken>& cancel,
                        const std::function<void(std::uint64_t)>& on_read) {
  ArchiveInput reader;
  reader.file = &file;
  reader.generation = file.generation();
  reader.cancel = &cancel;
  reader.on_read = &on_read;
  if (artifact.archive == "none") return copy_whole(artifact, reader, writer);
  if (way == Way::fast) return read_streamed_zip(artifact, reader, writer);
  const bool seekable = way == Way::seeking;
  const NamesInUtf8 locale;
  const Archive reading(::archive_read_new(), &::archive_read_free);
  enable_formats(reading.get(), artifact.archive, seekable);
  // An encoding that the archive declares itself has priority.
  if constexpr (!NamesInUtf8::are_by_locale) ::archive_read_set_options(reading.get(), "hdrcharset=UTF-8");
  ::archive_read_set_callback_data(reading.get(), &reader);
  ::archive_read_set_read_callback(reading.get(), &read_callback);
  if (seekable) ::archive_read_set_seek_callback(reading.get(), &seek_callback);
  if (::archive_read_open1(reading.get()) != ARCHIVE_OK) return fail(broken(artifact, reading.get(), reader));
  Unpacked unpacked;
  for (;;) {
    archive_entry* entry = nullptr;
    const int result = ::archive_read_next_header(reading.get(), &entry);
    if (result == ARCHIVE_EOF) return unpacked;
    if (result != ARCHIVE_OK && !(result == ARCHIVE_WARN && is_about_encoding(reading.get())))
      return fail(broken(artifact, reading.get(), reader));
    TRY(take_entry(artifact, reading.get(), entry, reader, writer, unpacked));
  }
}

Result<UnpackedTree> unpack_into(const manifest::Artifact& artifact, GrowingFile& file, bool seekable,
                                 const std::filesystem::path& folder, cache::TreeLimits limits,
                                 const std::optional<CancelToken>& cancel,
                                 const std::function<void(std::uint64_t)>& on_read) {
  const auto attempt = [&](Way way) -> Result<UnpackedTree> {
    std::error_code ignored;
    remove_tree(folder, ignored);
    TRY(make_folders(folder));
    cache::TreeWriter writer(folder, limits);
    auto unpacked = unpack(artifact, file, way, writer, cancel, on_read);
    // A disk failure must not be reported as a broken archive.
    if (auto why = file.why_unreadable(); !unpacked && why) return fail(std::move(*why));
    if (!unpacked) return fail(std::move(unpacked).error());
    return UnpackedTree{std::move(*unpacked), std::move(writer)};
  };
  if (seekable) return attempt(Way::seeking);
  if (artifact.archive == "zip" && has_zip_stream()) {
    auto tree = attempt(Way::fast);
    if (tree || tree.error().code != Code::archive_not_unpacked) return tree;
  }
  return attempt(Way::streaming);
}

Result<void> check_unpacked(const manifest::Artifact& artifact, UnpackedTree& tree, const GrowingFile& file,
                            const std::filesystem::path& folder) {
  if (artifact.archive == "zip") {
    const auto directory = read_zip_directory(file.descriptor(), file.held());
    if (!directory) return fail(in_file(directory.error(), file));
    if (auto right = check_zip(file.descriptor(), file.held(), directory->entries, tree.unpacked); !right)
      return fail(in_file(std::move(right).error(), file));
    TRY(check_late_checksums(directory->entries, tree.unpacked, folder));
    TRY(apply_modes(directory->entries, tree.unpacked, tree.writer));
  }
  if (tree.writer.entries() == 0)
    return fail(diagnose(Code::archive_not_unpacked)
                    .with(Key::archive, artifact.archive)
                    .with(Key::problem, "it holds nothing that is selected")
                    .with(Key::select, join(artifact.select, " "))
                    .with(Key::strip, std::to_string(artifact.strip)));
  return {};
}

Unpacking::Unpacking(const manifest::Artifact& artifact, GrowingFile& file, std::filesystem::path folder,
                     cache::TreeLimits limits, std::optional<CancelToken> cancel)
    : file_(file),
      outcome_(std::async(std::launch::async,
                          [this, &artifact, folder = std::move(folder), limits, cancel = std::move(cancel)] {
                            return work(artifact, folder, limits, cancel);
                          })) {}

Unpacking::~Unpacking() {
  if (outcome_.valid()) {
    file_.abandon();
    outcome_.wait();
  }
}

Result<UnpackedTree> Unpacking::work(const manifest::Artifact& artifact, const std::filesystem::path& folder,
                                     cache::TreeLimits limits, const std::optional<CancelToken>& cancel) {
  for (;;) {
    const std::uint64_t generation = file_.generation();
    auto result = unpack_into(artifact, file_, false, folder, limits, cancel,
                              [this](std::uint64_t position) { position_ = position; });
    if (!result && is_disk_failure(result.error())) {
      file_.stop_receiving(result.error());
      return result;
    }
    // An archive may end, or turn out broken, before its last byte arrived. The bytes may still be dropped.
    if (file_.wait_until_settled(generation)) return result;
    if (file_.abandoned()) return result;
  }
}

}  // namespace enginehost::acquire
