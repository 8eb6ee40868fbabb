// Unpacks archives into trees. libarchive reads them, cache::TreeWriter writes.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "cache/tree_writer.hpp"
#include "host/acquire/growing_file.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::acquire {

// An entry of the archive as the reader found it, selected or not, with its full name.
struct MetEntry {
  std::string name;
  std::string path;  // in the tree; empty: not selected, or a folder
};

struct Unpacked {
  std::vector<MetEntry> entries;
};

// Returns true for zip, tar, tar.gz, tar.xz, tar.zst and none.
bool is_known_archive(std::string_view archive);

// How an archive is read. `fast` is for zip only; it reads ordinary archives and fails with EH-F21 for
// others. `seeking` needs a complete file and reads zip archives from their directory, which no stream reader
// can.
enum class Way { fast, streaming, seeking };

// Unpacks while the file grows. EH-F21 ("problem", "archive") if it cannot be decoded, EH-F19 for a refused
// entry, disk failures as TreeWriter. EH-P10 with "problem" = "abandoned" if the file was abandoned or
// started again.
Result<Unpacked> unpack(const manifest::Artifact& artifact, GrowingFile& file, Way way,
                        cache::TreeWriter& writer, const std::optional<CancelToken>& cancel,
                        const std::function<void(std::uint64_t)>& on_read);

// Returns the path of an entry in the tree: without "." parts and without `strip` leading parts. Returns an
// empty path if nothing remains or `select` excludes it. EH-F19 if the name is absolute or has a "..".
Result<std::string> path_in_tree(const manifest::Artifact& artifact, std::string_view name);

}  // namespace enginehost::acquire
