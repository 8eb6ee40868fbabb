// Archives into trees: libarchive reads, cache::TreeWriter writes.
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

// An entry of the archive as its reader met it, selected or not, under its full name.
struct MetEntry {
  std::string name;
  std::string path;  // in the tree; empty: not selected, or a folder
};

struct Unpacked {
  std::vector<MetEntry> entries;
};

// True for zip, tar, tar.gz, tar.xz, tar.zst and none.
bool is_known_archive(std::string_view archive);

// How an archive is read. `fast`, of zip only, reads ordinary archives and fails with EH-F21 for the others;
// `seeking` is for a complete file, which may be read from its end (zip archives that no stream reader can
// read).
enum class Way { fast, streaming, seeking };

// Unpacks while the file grows. EH-F21 ("problem", "archive") when it cannot be decoded, EH-F19 for a
// refused entry, disk failures as TreeWriter. EH-P10 with "problem" = "abandoned" when the file was abandoned
// or started again.
Result<Unpacked> unpack(const manifest::Artifact& artifact, GrowingFile& file, Way way,
                        cache::TreeWriter& writer, const std::optional<CancelToken>& cancel,
                        const std::function<void(std::uint64_t)>& on_read);

// Where an entry of that name belongs in the tree: after dropping "." parts and `strip` leading ones; empty
// when nothing is left or `select` does not want it. EH-F19 when it is absolute or has a "..".
Result<std::string> path_in_tree(const manifest::Artifact& artifact, std::string_view name);

}  // namespace enginehost::acquire
