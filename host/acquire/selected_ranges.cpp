#include "host/acquire/selected_ranges.hpp"

#include <algorithm>
#include <string>

#include "host/acquire/description.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {
namespace {

// The end of a zip archive whose directory is empty (APPNOTE.TXT 4.3.16).
std::string end_of_archive() { return "PK\5\6" + std::string(18, '\0'); }

}  // namespace

bool is_fetched_by_ranges(const manifest::Artifact& artifact, const manifest::Build& build) {
  if (artifact.ranges.empty() || artifact.sources.empty()) return false;
  const manifest::Source& first = artifact.sources.front();
  return first.kind != manifest::Source::Kind::file || transfer::is_url(resolve_file_source(first, build));
}

std::optional<std::uint64_t> download_size(const manifest::Artifact& artifact, const manifest::Build& build) {
  return is_fetched_by_ranges(artifact, build) ? size_of(artifact.ranges) : artifact.size;
}

std::uint64_t size_of(const std::vector<transfer::Range>& ranges) {
  std::uint64_t sum = 0;
  for (const transfer::Range& range : ranges) sum += range.end - range.begin;
  return sum;
}

std::uint64_t SelectedRanges::size_of_file(const std::vector<transfer::Range>& ranges) {
  return size_of(ranges) + end_of_archive().size();
}

Result<void> SelectedRanges::finish() { return file_.write_at(size_of(ranges_), end_of_archive()); }

std::vector<transfer::Range> SelectedRanges::missing() const {
  std::vector<transfer::Range> result;
  for (const transfer::Range& gap : file_.missing()) {
    std::uint64_t at = 0;  // of the range in the file
    for (const transfer::Range& range : ranges_) {
      const std::uint64_t end = at + range.end - range.begin;
      const std::uint64_t from = std::max(gap.begin, at), to = std::min(gap.end, end);
      if (from < to) result.push_back({range.begin + (from - at), range.begin + (to - at)});
      at = end;
    }
  }
  return result;
}

Result<void> SelectedRanges::write_at(std::uint64_t offset, std::string_view bytes) {
  std::uint64_t at = 0;
  for (const transfer::Range& range : ranges_) {
    if (offset >= range.begin && offset < range.end)
      return file_.write_at(at + (offset - range.begin), bytes.substr(0, range.end - offset));
    at += range.end - range.begin;
  }
  return {};
}

Result<void> SelectedRanges::restart() {
  return fail(diagnose(Code::no_connection).with(Key::problem, sends_no_parts));
}

}  // namespace enginehost::acquire
