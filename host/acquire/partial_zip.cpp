#include "host/acquire/partial_zip.hpp"

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/acquire/growing_file.hpp"
#include "host/acquire/selected_ranges.hpp"
#include "host/acquire/unpack.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t tail_size = 256u << 10;  // holds the end record, and most directories whole
constexpr std::uint64_t largest_fetched_directory = std::uint64_t{64} << 20;

Result<std::uint64_t> size_of_source(const transfer::Place& source, std::uint64_t limit,
                                     const transfer::TransferOptions& options,
                                     const std::optional<CancelToken>& cancel) {
  if (source.size) return *source.size;
  if (source.url.empty())
    return stamp_of(source.path, Code::source_file_not_readable).map([](const FileStamp& stamp) {
      return stamp.size;
    });
  TRY_ASSIGN(const auto reported, transfer::ask_size(source.url, options, cancel));
  if (!reported)
    return fail(diagnose(Code::no_connection).with(Key::problem, "the server does not report the size"));
  if (*reported > limit)
    return fail(diagnose(Code::fetched_length_wrong)
                    .with(Key::url, without_passwords(source.url))
                    .with(Key::expected, std::to_string(limit))
                    .with(Key::actual, std::to_string(*reported))
                    .with(Key::problem, "longer than is allowed for a file of unknown size"));
  return *reported;
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
      return fail(diagnose(Code::archive_not_unpacked)
                      .with(Key::archive, "zip")
                      .with(Key::problem, "the directory is wrong about an entry"));
    if (!ranges.empty() && ranges.back().end == from)
      ranges.back().end = to;
    else
      ranges.push_back({from, to});
  }
  if (!paths.empty())
    return fail(diagnose(Code::archive_not_unpacked)
                    .with(Key::archive, "zip")
                    .with(Key::entry, *paths.begin())
                    .with(Key::problem, "its directory does not list a wanted file"));
  return ranges;
}

Result<std::unique_ptr<GrowingFile>> PartialZip::fetch(const char* name,
                                                       const std::vector<transfer::Range>& ranges) {
  TRY_ASSIGN(auto file, GrowingFile::open(scratch_ / name, scratch_, SelectedRanges::size_of_file(ranges)));
  SelectedRanges parts(*file, ranges);
  std::vector<transfer::MirrorFailure> failures;
  const auto place = [&](const transfer::TransferOptions&, const CancelToken&) {
    return Result<transfer::Place>(source_);
  };
  TRY_ASSIGN(const transfer::DownloadReport report,
             transfer::download({{{where_, place}}, size_}, parts, transfer(), failures, {}, cancel_));
  received_ += report.received;
  TRY(parts.finish());
  file->complete();
  return file;
}

Result<PartialZip> PartialZip::open(const transfer::Place& source, const fs::path& scratch,
                                    const AcquireOptions& options, const std::optional<CancelToken>& cancel) {
  PartialZip zip(source, scratch, options, cancel);
  zip.where_ = without_passwords(source.url.empty() ? path_text(source.path) : source.url);
  TRY_ASSIGN(zip.size_, size_of_source(source, options.download_limit, zip.transfer(), cancel));
  std::uint64_t from = zip.size_ - std::min(zip.size_, tail_size);
  TRY_ASSIGN(auto end, zip.fetch("tail", {{from, zip.size_}}));
  TRY_ASSIGN(const std::uint64_t directory_at, zip_directory_at(end->descriptor(), zip.size_, from));
  if (directory_at < from) {
    if (zip.size_ - directory_at > largest_fetched_directory)
      return fail(diagnose(Code::archive_not_unpacked)
                      .with(Key::archive, "zip")
                      .with(Key::problem, "the directory is too long"));
    from = directory_at;
    TRY_ASSIGN(end, zip.fetch("directory", {{from, zip.size_}}));
  }
  TRY_ASSIGN(zip.directory_, read_zip_directory(end->descriptor(), zip.size_, from));
  return zip;
}

Result<void> PartialZip::unpack(const manifest::Artifact& artifact,
                                const std::vector<cache::TreeEntry>& wanted, const fs::path& into) {
  TRY_ASSIGN(const std::vector<transfer::Range> ranges, ranges_of(directory_, artifact, wanted));
  // An archive of these entries only: in the original order, with an empty directory at the end.
  TRY_ASSIGN(const auto entries, fetch("entries", ranges));
  std::uint64_t bytes = 0;
  for (const cache::TreeEntry& entry : wanted) bytes += entry.size;
  cache::TreeWriter writer(into, {std::min(options_.unpacked_limit, bytes), wanted.size()});
  TRY(acquire::unpack(artifact, *entries, Way::streaming, writer, cancel_, {}).map([](const Unpacked&) {}));
  entries->remove();
  return {};
}

Result<std::string> unpack_parts(const transfer::Place& source, const manifest::Artifact& artifact,
                                 const std::vector<cache::TreeEntry>& wanted, const fs::path& into,
                                 const AcquireOptions& options, const std::optional<CancelToken>& cancel) {
  TRY_ASSIGN(const fs::path scratch, make_private_folder(into.parent_path(), "parts"));
  TRY_ASSIGN(PartialZip zip, PartialZip::open(source, scratch, options, cancel));
  TRY(zip.unpack(artifact, wanted, into));
  return zip.where() + " (" + format_bytes(zip.received()) + ")";
}

}  // namespace enginehost::acquire
