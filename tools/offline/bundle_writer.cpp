#include "tools/offline/bundle_writer.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/named_file.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "host/offline/bundle_list.hpp"
#include "host/offline/bundle_reader.hpp"
#include "host/offline/framing.hpp"
#include "host/offline/parts.hpp"
#include "host/offline/request.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;

// Level 3 is as fast as most media; higher levels save a tenth and take a hundred times as long.
constexpr const char* compression_level = "3";

struct Part {
  std::string name;  // as requested
  fs::path file, unfinished;
  FileDescriptor opened;
  std::uint64_t size = 0;
  Sha256 digest;
};

Diagnosis failure_of(int error_number, const fs::path& file) {
  return std::move(diagnose_errno(code_of_write_error(error_number), error_number)
                       .with(Key::file, path_text(file))
                       .with(Key::folder, path_text(file.parent_path())));
}

Diagnosis in_the_way(const fs::path& file) {
  return std::move(
      diagnose(Code::argument_wrong)
          .with(Key::program, "engine-cache")
          .with(Key::problem, path_text(file) +
                                  " is in the way, and was not made by an export of this user: remove it, or "
                                  "name another file")
          .with(Key::file, path_text(file)));
}

Result<void> remove_file(const fs::path& file) {
  if (calls::unlink(file) != 0 && errno != ENOENT) return fail(failure_of(errno, file));
  return {};
}

// Returns whether the file is a whole bundle. Other files of that name are not removed.
bool is_bundle(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return false;
  const auto reader = BundleReader::open(file);
  if (!reader) return false;
  const auto first = (*reader)->next();
  return first && *first && (*first)->name == list_entry;
}

// Returns the files beside FILE that are its parts: FILE.001 and so on, where FILE.parts names them with
// their present size. Other files with such names are not touched.
std::vector<fs::path> parts_beside(const fs::path& file) {
  std::vector<fs::path> found;
  const auto parts = listed_parts(parts_list_of(file));
  if (!parts) return found;
  const std::string begin = path_text(file.filename()) + ".";
  for (const ListedPart& part : *parts) {
    const std::string name = path_text(part.file.filename());
    const bool numbered = name.starts_with(begin) && name.size() > begin.size() &&
                          name.find_first_not_of("0123456789", begin.size()) == std::string::npos;
    std::error_code error;
    if (numbered && fs::symlink_status(part.file, error).type() == fs::file_type::regular &&
        fs::file_size(part.file, error) == part.size)
      found.push_back(part.file);
  }
  return found;
}

// Parts lie beside a file of their common name, and an import by that name reads that file. It must therefore
// be a bundle, which the parts replace.
Result<void> check_beside(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(file, error)) || is_bundle(file)) return {};
  return fail(diagnose(Code::argument_wrong)
                  .with(Key::program, "engine-cache")
                  .with(Key::problem, path_text(file) +
                                          " is no bundle, and import would take it for the one whose parts "
                                          "lie beside it: move it away, or give the bundle another name")
                  .with(Key::file, path_text(file)));
}

}  // namespace

struct BundleWriter::State {
  fs::path file;
  std::uint64_t largest_part = 0;
  std::vector<Part> parts;
  std::optional<Diagnosis> failure;  // disk failure
  struct archive* compressor = nullptr;
  std::uint64_t left = 0, size = 0;  // of the current entry
  bool finished = false, given_up = false;

  Result<void> next_part();
  static Result<void> close_part(Part& part);
  Result<void> take(std::string_view bytes);
  Result<void> put(std::string_view bytes);
  Result<void> close_compressor();
  Diagnosis problem();
  static la_ssize_t on_write(struct archive*, void* state, const void* bytes, size_t size);
};

Result<void> BundleWriter::State::next_part() {
  Part part;
  if (largest_part == 0) {
    part.file = file;
  } else {
    char number[16];
    std::snprintf(number, sizeof number, ".%03zu", parts.size() + 1);
    part.file = file;
    part.file += number;
  }
  part.name = path_text(part.file.filename());
  TRY_ASSIGN(part.file, place_for_file(part.file, "engine-cache"));
  part.unfinished = part.file;
  part.unfinished += ".unfinished";
  TRY(place_for_file(part.unfinished, "engine-cache").map([](const fs::path&) {}));
  part.opened =
      FileDescriptor(calls::open(part.unfinished, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!part.opened.valid()) return fail(failure_of(errno, part.unfinished));
  // In a folder of several users, another one may have made it, to change the bundle later, or to have a file
  // of this user's emptied.
  calls::Status made{};
  if (calls::fstat(part.opened.get(), &made) != 0) return fail(failure_of(errno, part.unfinished));
  if (!S_ISREG(made.st_mode) || made.st_nlink != 1 || is_another_user(made.st_uid))
    return fail(in_the_way(part.unfinished));
  if (calls::flock(part.opened.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail(diagnose(Code::lock_held).with(Key::file, path_text(part.unfinished)));
  if (calls::ftruncate(part.opened.get(), 0) != 0) return fail(failure_of(errno, part.unfinished));
  // The first part stays open with its lock, which protects all parts. Only one of the others is open at a
  // time.
  if (parts.size() > 1) TRY(close_part(parts.back()));
  parts.push_back(std::move(part));
  return {};
}

Result<void> BundleWriter::State::close_part(Part& part) {
  if (!part.opened.valid()) return {};
  if (calls::fsync(part.opened.get()) != 0) return fail(failure_of(errno, part.unfinished));
  part.opened.close();
  return {};
}

// Takes bytes of the compressed stream.
Result<void> BundleWriter::State::take(std::string_view bytes) {
  while (!bytes.empty()) {
    if (parts.empty() || (largest_part != 0 && parts.back().size == largest_part)) TRY(next_part());
    Part& part = parts.back();
    const std::size_t now =
        largest_part == 0
            ? bytes.size()
            : static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), largest_part - part.size));
    for (std::size_t done = 0; done < now;) {
      const ssize_t written = calls::write(part.opened.get(), bytes.data() + done, now - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail(failure_of(errno, part.unfinished));
      done += static_cast<std::size_t>(written);
    }
    part.digest.update(bytes.substr(0, now));
    part.size += now;
    bytes.remove_prefix(now);
  }
  return {};
}

// Never reports a failure to libarchive, which would then not free its buffers (3.6.2, archive_write_free).
// The first failure is kept, and nothing is written after it.
la_ssize_t BundleWriter::State::on_write(struct archive*, void* state, const void* bytes, size_t size) {
  State& self = *static_cast<State*>(state);
  if (!self.failure && !self.given_up)
    if (auto taken = self.take({static_cast<const char*>(bytes), size}); !taken)
      self.failure = std::move(taken).error();
  return static_cast<la_ssize_t>(size);
}

Diagnosis BundleWriter::State::problem() {
  if (failure) return *failure;
  const char* said = ::archive_error_string(compressor);
  return diagnose(Code::bug).with(Key::problem, said != nullptr ? said : "the compressor failed");
}

Result<void> BundleWriter::State::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const la_ssize_t written = ::archive_write_data(compressor, bytes.data(), bytes.size());
    if (written <= 0 || failure) return fail(problem());
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> BundleWriter::State::close_compressor() {
  if (::archive_write_close(compressor) != ARCHIVE_OK || failure) return fail(problem());
  return {};
}

BundleWriter::BundleWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

BundleWriter::~BundleWriter() {
  if (state_->compressor != nullptr) {
    state_->given_up = !state_->finished;
    ::archive_write_free(state_->compressor);
  }
  if (state_->finished) return;
  for (const Part& part : state_->parts) calls::unlink(part.unfinished);
}

Result<std::unique_ptr<BundleWriter>> BundleWriter::create(fs::path file, std::uint64_t largest_part) {
  auto state = std::make_unique<State>();
  state->file = std::move(file);
  state->largest_part = largest_part;
  state->compressor = ::archive_write_new();
  std::unique_ptr<BundleWriter> writer(new BundleWriter(std::move(state)));
  State& self = *writer->state_;
  struct archive* const to = self.compressor;
  struct archive_entry* const entry = ::archive_entry_new();
  ::archive_entry_set_filetype(entry, AE_IFREG);
  const bool ready =
      to != nullptr && entry != nullptr && ::archive_write_set_format_raw(to) == ARCHIVE_OK &&
      ::archive_write_add_filter_zstd(to) == ARCHIVE_OK &&
      ::archive_write_set_filter_option(to, "zstd", "compression-level", compression_level) == ARCHIVE_OK &&
      ::archive_write_set_bytes_per_block(to, 1 << 18) == ARCHIVE_OK &&
      ::archive_write_set_bytes_in_last_block(to, 1) == ARCHIVE_OK &&
      ::archive_write_open(to, &self, nullptr, &State::on_write, nullptr) == ARCHIVE_OK &&
      ::archive_write_header(to, entry) == ARCHIVE_OK;
  ::archive_entry_free(entry);
  if (!ready) return fail(self.problem());
  if (largest_part != 0) TRY(check_beside(self.file));
  // Opens the first part now, so that an unwritable place is reported before anything is gathered.
  TRY(self.next_part());
  return writer;
}

Result<void> BundleWriter::begin_entry(std::string_view name, std::uint64_t size) {
  const auto header = tar_header(name, size);
  state_->left = state_->size = size;
  return state_->put({header.data(), header.size()});
}

Result<void> BundleWriter::write(std::string_view bytes) {
  if (bytes.size() > state_->left)
    return fail(
        diagnose(Code::bug).with(Key::problem, "an entry of the bundle became longer than announced"));
  state_->left -= bytes.size();
  return state_->put(bytes);
}

Result<void> BundleWriter::end_entry() {
  if (state_->left != 0)
    return fail(diagnose(Code::bug).with(Key::problem, "an entry of the bundle is shorter than announced"));
  static constexpr std::array<char, tar_block> zeros{};
  return state_->put({zeros.data(), static_cast<std::size_t>(padding_of(state_->size))});
}

Result<std::vector<WrittenPart>> BundleWriter::finish(std::string_view bundle) {
  static constexpr std::array<char, 2 * tar_block> end_of_archive{};
  TRY(state_->put({end_of_archive.data(), end_of_archive.size()}));
  TRY(state_->close_compressor());
  std::vector<WrittenPart> written;
  for (Part& part : state_->parts) {
    if (part.opened.valid() && calls::fsync(part.opened.get()) != 0)
      return fail(failure_of(errno, part.unfinished));
    written.push_back({part.name, part.size, part.digest.hex()});
  }
  const fs::path list = parts_list_of(state_->file);
  std::vector<fs::path> earlier = parts_beside(state_->file);
  std::erase_if(earlier, [&](const fs::path& file) {
    return std::ranges::any_of(
        written, [&](const WrittenPart& part) { return path_text(file.filename()) == part.name; });
  });
  // The list of an earlier export would describe parts that are being replaced.
  if (state_->largest_part != 0) TRY(remove_file(list));
  for (const Part& part : state_->parts)
    if (calls::rename(part.unfinished, part.file) != 0) return fail(failure_of(errno, part.file));
  state_->finished = true;
  // Without the list, parts are not taken for a bundle. So an import by this name never gets the earlier
  // export, and `cat FILE.0*` never mixes two exports.
  if (state_->largest_part != 0 && is_bundle(state_->file)) TRY(remove_file(state_->file));
  if (state_->largest_part == 0 && listed_parts(list)) TRY(remove_file(list));
  for (const fs::path& part : earlier) TRY(remove_file(part));
  for (const Part& part : state_->parts) TRY(sync_folder(part.file.parent_path()));
  if (state_->largest_part != 0) {
    Json parts = Json::array();
    std::uint64_t size = 0;
    for (const WrittenPart& part : written) {
      parts.push(Json::object().set("name", part.name).set("size", part.size).set("sha256", part.sha256));
      size += part.size;
    }
    const Json document = Json::object()
                              .set("format", 1)
                              .set("kind", "enginehost-bundle-parts")
                              .set("bundle", bundle)
                              .set("size", size)
                              .set("parts", std::move(parts));
    TRY(write_file(list, document.dump(2) + "\n"));
  }
  return written;
}

}  // namespace enginehost::offline
