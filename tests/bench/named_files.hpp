// Manifests of the benchmarks name the files of their archives, as engine-manifest add does.
#pragma once
#include <filesystem>

#include "host/acquire/unpack.hpp"

namespace enginehost::bench {

// Fills in "files" and "tree" of the artifact, whose archive lies in `archive`; false if it cannot be read.
// `scratch` is emptied.
inline bool name_files(manifest::Artifact& artifact, const std::filesystem::path& archive,
                       const std::filesystem::path& scratch) {
  const auto file = acquire::GrowingFile::open(archive, scratch);
  if (!file) return false;
  (*file)->complete();
  auto unpacked = acquire::unpack_into(artifact, **file, false, scratch, {}, {});
  if (!unpacked || !acquire::check_unpacked(artifact, *unpacked, **file, scratch)) return false;
  auto list = unpacked->writer.finish();
  if (!list) return false;
  artifact.tree = list->id();
  artifact.files = std::move(list->entries);
  std::error_code ignored;
  std::filesystem::remove_all(scratch, ignored);
  return true;
}

}  // namespace enginehost::bench
