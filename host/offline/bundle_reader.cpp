#include "host/offline/bundle_reader.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "host/offline/framing.hpp"
#include "host/offline/parts.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;

// Returns the parts that a list names; each must exist with the listed size.
Result<std::vector<ListedPart>> read_parts_list(const fs::path& list) {
  TRY_ASSIGN(std::vector<ListedPart> parts, listed_parts(list));
  for (const ListedPart& part : parts) {
    calls::Status status{};
    if (calls::stat(part.file, &status) != 0)
      return fail(diagnose_errno(Code::bundle_part_missing, errno)
                      .with(Key::part, path_text(part.file))
                      .with(Key::list, path_text(list))
                      .with(Key::number, std::to_string(&part - parts.data() + 1))
                      .with(Key::count, std::to_string(parts.size())));
    if (const auto actual = static_cast<std::uint64_t>(status.st_size); actual != part.size)
      return fail(diagnose(Code::bundle_part_wrong)
                      .with(Key::part, path_text(part.file))
                      .with(Key::problem, actual < part.size ? "it is cut" : "it is too long")
                      .with(Key::expected_size, std::to_string(part.size), path_text(list))
                      .with(Key::size, std::to_string(actual)));
  }
  return parts;
}

Diagnosis swapped(const ListedPart& part, const std::string& actual) {
  return diagnose(Code::bundle_part_wrong)
      .with(Key::part, path_text(part.file))
      .with(Key::problem, "its bytes are not those of this export")
      .with(Key::expected, part.sha256, "list of parts")
      .with(Key::found, actual);
}

}  // namespace

struct BundleReader::State {
  fs::path file;
  std::vector<ListedPart> parts;
  std::size_t at = 0;  // the part being read
  FileDescriptor opened;
  Sha256 digest;
  FrameEnd frame;
  bool overran = false;  // bytes follow the frame
  std::vector<char> buffer = std::vector<char>(1u << 18);
  std::optional<Diagnosis> failure;
  struct archive* stream = nullptr;
  std::string entry;
  std::uint64_t left = 0, padding = 0;
  bool begun = false, ended = false;

  la_ssize_t more();
  Result<std::size_t> take(char* into, std::size_t size);
  Result<bool> fill(char* into, std::size_t size);
  static la_ssize_t on_read(struct archive* stream, void* state, const void** bytes);
};

// Returns the next bytes of the file or of its parts; 0 at the end, -1 with `failure`.
la_ssize_t BundleReader::State::more() {
  while (at < parts.size()) {
    ListedPart& part = parts[at];
    if (!opened.valid()) {
      auto next = open_to_read(part.file, Code::given_file_not_readable);
      if (!next) {
        failure = std::move(next).error();
        return -1;
      }
      opened = std::move(*next);
      digest = Sha256();
    }
    const ssize_t got = calls::read(opened.get(), buffer.data(), buffer.size());
    if (got < 0) {
      failure = std::move(
          diagnose_errno(Code::given_file_not_readable, errno).with(Key::file, path_text(part.file)));
      return -1;
    }
    if (got > 0) {
      if (!part.sha256.empty()) digest.update({buffer.data(), static_cast<std::size_t>(got)});
      if (frame.pass({buffer.data(), static_cast<std::size_t>(got)})) return got;
      overran = true;
      return -1;
    }
    if (const std::string actual = part.sha256.empty() ? std::string() : digest.hex();
        actual != part.sha256) {
      failure = swapped(part, actual);
      return -1;
    }
    opened.close();
    ++at;
  }
  return 0;
}

la_ssize_t BundleReader::State::on_read(struct archive* stream, void* state, const void** bytes) {
  State& self = *static_cast<State*>(state);
  *bytes = self.buffer.data();
  const la_ssize_t got = self.more();
  if (got < 0) ::archive_set_error(stream, EIO, "the bundle cannot be read");
  return got;
}

BundleReader::BundleReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
BundleReader::~BundleReader() {
  if (state_->stream != nullptr) ::archive_read_free(state_->stream);
}

Result<std::unique_ptr<BundleReader>> BundleReader::open(const fs::path& file) {
  auto state = std::make_unique<State>();
  state->file = file;
  std::error_code error;
  if (file.extension() == ".parts") {
    TRY_ASSIGN(state->parts, read_parts_list(file));
  } else if (!fs::exists(file, error) && fs::exists(parts_list_of(file), error)) {
    TRY_ASSIGN(state->parts, read_parts_list(parts_list_of(file)));
  } else if (const fs::path list = list_of_part(file); !list.empty()) {
    TRY_ASSIGN(state->parts, read_parts_list(list));
  } else if (auto parts = parts_without_list(file)) {
    return fail(std::move(*parts));
  } else {
    TRY_ASSIGN(const FileDescriptor readable, open_to_read(file, Code::given_file_not_readable));
    calls::Status status{};
    if (calls::fstat(readable.get(), &status) != 0)
      return fail(diagnose_errno(Code::given_file_not_readable, errno).with(Key::file, path_text(file)));
    if (S_ISDIR(status.st_mode))
      return fail(diagnose_errno(Code::given_file_not_readable, EISDIR).with(Key::file, path_text(file)));
    state->parts.push_back({file, 0, {}});
  }
  state->stream = ::archive_read_new();
  std::unique_ptr<BundleReader> reader(new BundleReader(std::move(state)));
  State& self = *reader->state_;
  struct archive_entry* entry = nullptr;
  ::archive_read_support_filter_zstd(self.stream);
  ::archive_read_support_format_raw(self.stream);
  if (::archive_read_open(self.stream, &self, nullptr, &State::on_read, nullptr) != ARCHIVE_OK ||
      ::archive_read_next_header(self.stream, &entry) != ARCHIVE_OK)
    return fail(reader->damaged("it is not a bundle, or empty"));
  return reader;
}

Diagnosis BundleReader::damaged(std::string_view problem) {
  State& state = *state_;
  if (state.failure) return *state.failure;
  // Whatever is wrong with the stream, the digests show which part is damaged.
  for (const ListedPart& part : state.parts) {
    if (part.sha256.empty()) continue;
    const auto actual = sha256_of_file(part.file);
    if (!actual) return std::move(diagnose(Code::bundle_part_missing).with(Key::part, path_text(part.file)));
    if (*actual != part.sha256) return swapped(part, *actual);
  }
  if (auto part = parts_without_list(state.file, true)) return std::move(*part);
  Diagnosis diagnosis = diagnose(Code::bundle_damaged);
  diagnosis.with(Key::file, path_text(state.file))
      .with(Key::problem, state.overran ? "there is something after its end" : problem);
  if (!state.entry.empty()) diagnosis.with(Key::entry, state.entry);
  return diagnosis;
}

// Reads bytes of the tar archive; 0 at the end of the stream.
Result<std::size_t> BundleReader::State::take(char* into, std::size_t size) {
  const la_ssize_t got = ::archive_read_data(stream, into, size);
  if (got >= 0) return static_cast<std::size_t>(got);
  const char* said = ::archive_error_string(stream);
  return fail(
      diagnose(Code::bundle_damaged).with(Key::problem, said != nullptr ? said : "it cannot be decoded"));
}

// Returns true when all bytes were read; false at the end of the stream before the first byte.
Result<bool> BundleReader::State::fill(char* into, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    TRY_ASSIGN(const std::size_t got, take(into + done, size - done));
    if (got == 0 && done == 0) return false;
    if (got == 0) return fail(diagnose(Code::bundle_damaged).with(Key::problem, "it ends too early"));
    done += got;
  }
  return true;
}

Result<std::optional<BundleEntry>> BundleReader::next() {
  State& state = *state_;
  const auto refuse = [&](std::string_view problem) { return fail(damaged(problem)); };
  std::array<char, tar_block> block{};
  if (state.left != 0) return refuse("an entry was not read to its end");
  if (state.padding != 0) {
    const auto filled = state.fill(block.data(), state.padding);
    if (!filled || !*filled) return refuse(filled ? "it ends too early" : filled.error().value(Key::problem));
    if (std::any_of(block.begin(), block.end(), [](char byte) { return byte != 0; }))
      return refuse("there is something between its entries");
    state.padding = 0;
  }
  const auto filled = state.fill(block.data(), block.size());
  if (!filled) return refuse(filled.error().value(Key::problem));
  if (!*filled) return refuse(state.begun ? "it ends too early" : "it is empty");
  if (std::all_of(block.begin(), block.end(), [](char byte) { return byte == 0; })) {
    state.entry = "end";
    const auto second = state.fill(block.data(), block.size());
    if (!second || !*second || std::any_of(block.begin(), block.end(), [](char byte) { return byte != 0; }))
      return refuse("it ends too early");
    const auto after = state.take(block.data(), 1);
    if (!after || *after != 0) return refuse("there is something after its end");
    // Bytes that the decoder did not read lie after the end, too.
    if (const la_ssize_t rest = state.more(); rest != 0) return refuse("there is something after its end");
    return std::optional<BundleEntry>();
  }
  BundleEntry entry;
  if (!read_tar_header(block, entry.name, entry.size)) {
    state.entry.clear();
    return refuse(state.begun ? "an entry's header is not as bundles have it" : "it is not a bundle");
  }
  state.begun = true;
  state.entry = entry.name;
  state.left = entry.size;
  state.padding = padding_of(entry.size);
  return std::optional<BundleEntry>(std::move(entry));
}

Result<std::size_t> BundleReader::read(char* buffer, std::size_t size) {
  State& state = *state_;
  if (state.left == 0) return 0;
  const auto got = state.take(buffer, static_cast<std::size_t>(std::min<std::uint64_t>(size, state.left)));
  if (!got) return fail(damaged(got.error().value(Key::problem)));
  if (*got == 0) return fail(damaged("it ends too early"));
  state.left -= *got;
  return *got;
}

Result<std::string> BundleReader::read_whole() {
  std::string text;
  // Grows with the received bytes, so that a false size costs no memory.
  std::array<char, 1 << 16> piece{};
  for (;;) {
    TRY_ASSIGN(const std::size_t got, read(piece.data(), piece.size()));
    if (got == 0) return text;
    text.append(piece.data(), got);
  }
}

}  // namespace enginehost::offline
