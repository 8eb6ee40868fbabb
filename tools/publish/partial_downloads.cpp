#include "tools/publish/partial_downloads.hpp"

#include <algorithm>
#include <cerrno>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "host/acquire/partial_zip.hpp"
#include "host/acquire/selected_ranges.hpp"

namespace enginehost::publish {
namespace {

namespace fs = std::filesystem;

// Entries between two ranges are fetched with them, because a request costs more than they do. They add at
// most a thirty-second part to the selected bytes.
std::vector<transfer::Range> joined(const std::vector<transfer::Range>& ranges) {
  constexpr std::uint64_t widest_gap = 1u << 20;
  std::uint64_t left = acquire::size_of(ranges) / 32;
  std::vector<transfer::Range> result;
  for (const transfer::Range& range : ranges) {
    const std::uint64_t gap = result.empty() ? UINT64_MAX : range.begin - result.back().end;
    if (gap <= std::min(left, widest_gap)) {
      left -= gap;
      result.back().end = range.end;
    } else {
      result.push_back(range);
    }
  }
  return result;
}

}  // namespace

Result<std::vector<transfer::Range>> ranges_to_fetch(const acquire::ZipDirectory& directory,
                                                     const manifest::Artifact& artifact,
                                                     const std::vector<cache::TreeEntry>& files) {
  constexpr std::uint64_t worth_a_request = 1u << 20;
  TRY_ASSIGN(const auto exact, acquire::ranges_of(directory, artifact, files));
  std::vector<transfer::Range> ranges = joined(exact);
  if (acquire::size_of(ranges) + ranges.size() * worth_a_request > artifact.size.value_or(0)) ranges.clear();
  return ranges;
}

Result<std::vector<transfer::Range>> ranges_to_fetch(const fs::path& archive,
                                                     const manifest::Artifact& artifact,
                                                     const std::vector<cache::TreeEntry>& files) {
  TRY_ASSIGN(const FileDescriptor file, open_to_read(archive, Code::file_not_readable));
  TRY_ASSIGN(const auto directory, acquire::read_zip_directory(file.get(), artifact.size.value_or(0)));
  return ranges_to_fetch(directory, artifact, files);
}

Result<transfer::ChunkList> chunk_list_of(const std::filesystem::path& file, std::uint64_t chunk) {
  TRY_ASSIGN(const FileDescriptor opened, open_to_read(file, Code::source_file_not_readable));
  transfer::ChunkList list{0, chunk, {}};
  std::vector<char> buffer(1u << 20);
  Sha256 hash;
  std::uint64_t in_chunk = 0;
  for (;;) {
    const std::size_t room = std::min<std::uint64_t>(buffer.size(), chunk - in_chunk);
    const ssize_t got = calls::read(opened.get(), buffer.data(), room);
    if (got < 0)
      return fail(diagnose_errno(Code::source_file_not_readable, errno).with(Key::file, path_text(file)));
    hash.update(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    in_chunk += static_cast<std::uint64_t>(got);
    list.size += static_cast<std::uint64_t>(got);
    if (in_chunk == chunk || (got == 0 && in_chunk > 0)) {
      list.sha256.push_back(hash.hex());
      hash = Sha256();
      in_chunk = 0;
    }
    if (got == 0) return list;
  }
}

}  // namespace enginehost::publish
