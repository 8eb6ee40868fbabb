#include "host/acquire/partial_zip.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <set>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/acquire/growing_file.hpp"
#include "host/acquire/selected_ranges.hpp"
#include "host/acquire/unpack.hpp"
#include "host/acquire/zip_directory.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {
namespace {

namespace fs = std::filesystem;
using TakeBytes = std::function<Result<void>(std::string_view)>;

constexpr std::uint64_t tail_size = 256u << 10;  // holds the end record, and most directories whole

// One range of a file.
class Stretch : public transfer::Sink {
 public:
  Stretch(std::uint64_t from, std::uint64_t to, const TakeBytes& take) : at_(from), to_(to), take_(take) {}
  std::uint64_t held() const override { return at_; }
  Result<void> start(std::uint64_t offset) override {
    if (offset == at_) return {};
    return fail(diagnose("EH-N02").with("problem", "the server does not send parts of a file"));
  }
  Result<void> write(std::string_view bytes) override {
    TRY(take_(bytes));
    at_ += bytes.size();
    return {};
  }
  std::uint64_t wanted_until() const override { return to_; }
  bool complete() const { return at_ == to_; }

 private:
  std::uint64_t at_, to_;
  const TakeBytes& take_;
};

// Reads parts of the source and counts their bytes.
class Parts {
 public:
  Parts(const transfer::Place& source, const AcquireOptions& options,
        const std::optional<CancelToken>& cancel)
      : source_(source),
        transfer_(source.options ? *source.options : options.transfer),
        limit_(options.download_limit),
        cancel_(cancel) {}

  Result<std::uint64_t> size();
  Result<void> read(std::uint64_t from, std::uint64_t to, const TakeBytes& take);
  std::uint64_t received() const { return received_; }

 private:
  Result<void> read_file_part(std::uint64_t from, std::uint64_t to, const TakeBytes& take);

  const transfer::Place& source_;
  const transfer::TransferOptions& transfer_;
  const std::uint64_t limit_;
  const std::optional<CancelToken>& cancel_;
  std::uint64_t received_ = 0;
};

Result<std::uint64_t> Parts::size() {
  if (source_.size) return *source_.size;
  if (source_.url.empty())
    return stamp_of(source_.path, "EH-N14").map([](const FileStamp& s) { return s.size; });
  TRY_ASSIGN(const auto reported, transfer::ask_size(source_.url, transfer_, cancel_));
  if (!reported) return fail(diagnose("EH-N02").with("problem", "the server does not report the size"));
  return *reported;
}

Result<void> Parts::read_file_part(std::uint64_t from, std::uint64_t to, const TakeBytes& take) {
  TRY_ASSIGN(const FileDescriptor file, open_to_read(source_.path, "EH-N14"));
  std::array<char, 1 << 16> buffer{};
  while (from < to) {
    const ssize_t got =
        calls::pread(file.get(), buffer.data(), std::min<std::uint64_t>(buffer.size(), to - from),
                     static_cast<calls::Offset>(from));
    if (got < 0) return fail(diagnose_errno("EH-N14", errno).with("file", path_text(source_.path)));
    if (got == 0)
      return fail(diagnose("EH-N07").with("file", path_text(source_.path)).with("problem", "cut off"));
    TRY(take({buffer.data(), static_cast<std::size_t>(got)}));
    from += static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<void> Parts::read(std::uint64_t from, std::uint64_t to, const TakeBytes& take) {
  if (from >= to) return {};
  received_ += to - from;
  if (source_.url.empty()) return read_file_part(from, to, take);
  Stretch stretch(from, to, take);
  transfer::UrlRequest request;
  request.url = source_.url;
  request.expected_size = source_.size;
  request.limit = limit_;
  auto report = transfer::fetch_url(request, stretch, transfer_, {}, cancel_);
  if (stretch.complete()) return {};
  if (!report) return fail(std::move(report).error());
  return fail(
      diagnose("EH-N07").with("url", transfer::without_credentials(source_.url)).with("problem", "cut off"));
}

// Through a sparse file of the archive's length that holds only its end, and so its directory.
Result<ZipDirectory> read_directory(Parts& parts, const fs::path& scratch) {
  TRY_ASSIGN(const std::uint64_t size, parts.size());
  const FileDescriptor file(calls::open(scratch, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  // SIGXFSZ would end the process.
  if (size > file_size_limit()) return fail(diagnose_errno("EH-F17", EFBIG).with("file", path_text(scratch)));
  if (!file.valid() || calls::ftruncate(file.get(), static_cast<calls::Offset>(size)) != 0)
    return fail(diagnose_errno(code_of_write_error(errno), errno).with("file", path_text(scratch)));
  std::uint64_t at = size - std::min(size, tail_size);
  const std::uint64_t tail_at = at;
  const TakeBytes keep = [&](std::string_view bytes) -> Result<void> {
    if (const int why = write_whole_at(file.get(), bytes, at); why != 0)
      return fail(diagnose_errno(code_of_write_error(why), why).with("file", path_text(scratch)));
    at += bytes.size();
    return {};
  };
  TRY(parts.read(tail_at, size, keep));
  TRY_ASSIGN(const auto span, zip_directory_span(file.get(), size));
  at = span.first;
  if (span.first < tail_at) TRY(parts.read(span.first, tail_at, keep));
  TRY_ASSIGN(auto entries, read_zip_directory(file.get(), size));
  return ZipDirectory{std::move(entries), span.first};
}

}  // namespace

Result<std::vector<transfer::Range>> ranges_of(const ZipDirectory& directory,
                                               const manifest::Artifact& artifact,
                                               const std::vector<cache::TreeEntry>& wanted) {
  std::set<std::string> paths;
  for (const cache::TreeEntry& entry : wanted) paths.insert(entry.path);
  std::vector<const ZipEntry*> by_place;
  for (const ZipEntry& entry : directory.entries) by_place.push_back(&entry);
  std::sort(by_place.begin(), by_place.end(),
            [](const ZipEntry* left, const ZipEntry* right) { return left->header_at < right->header_at; });
  std::vector<transfer::Range> ranges;
  for (std::size_t i = 0; i < by_place.size(); ++i) {
    TRY_ASSIGN(const std::string path, path_in_tree(artifact, by_place[i]->name));
    if (path.empty() || by_place[i]->name.ends_with('/') || paths.erase(path) == 0) continue;
    const std::uint64_t from = by_place[i]->header_at;
    const std::uint64_t to = i + 1 < by_place.size() ? by_place[i + 1]->header_at : directory.at;
    if (to < from || to > directory.at)
      return fail(
          diagnose("EH-F21").with("archive", "zip").with("problem", "the directory is wrong about an entry"));
    if (!ranges.empty() && ranges.back().end == from)
      ranges.back().end = to;
    else
      ranges.push_back({from, to});
  }
  if (!paths.empty())
    return fail(diagnose("EH-F21")
                    .with("archive", "zip")
                    .with("entry", *paths.begin())
                    .with("problem", "its directory does not list a wanted file"));
  return ranges;
}

Result<std::string> unpack_parts(const transfer::Place& source, const manifest::Artifact& artifact,
                                 const std::vector<cache::TreeEntry>& wanted, const fs::path& into,
                                 const AcquireOptions& options, const std::optional<CancelToken>& cancel) {
  Parts parts(source, options, cancel);
  TRY_ASSIGN(const fs::path scratch, make_private_folder(into.parent_path(), "parts"));
  TRY_ASSIGN(const ZipDirectory directory, read_directory(parts, scratch / "directory"));
  TRY_ASSIGN(const std::vector<transfer::Range> ranges, ranges_of(directory, artifact, wanted));
  // Builds an archive of these entries only: in the original order, with an empty directory at the end.
  TRY_ASSIGN(const std::unique_ptr<GrowingFile> file, GrowingFile::open(scratch / "entries", into));
  TRY(file->start(0));
  for (const transfer::Range& range : ranges)
    TRY(parts.read(range.begin, range.end, [&](std::string_view bytes) { return file->write(bytes); }));
  TRY(SelectedRanges(*file, ranges).finish());
  file->complete();
  cache::TreeWriter writer(into, {options.unpacked_limit, 200'000});
  TRY(unpack(artifact, *file, Way::streaming, writer, cancel, {}).map([](const Unpacked&) {}));
  const std::string where = source.url.empty() ? path_text(source.path) : source.url;
  return transfer::without_credentials(where) + " (" + format_bytes(parts.received()) + ")";
}

}  // namespace enginehost::acquire
