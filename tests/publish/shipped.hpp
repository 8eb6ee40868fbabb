// The manifests of this tree in a publisher's folder, as the build completed them.
#pragma once
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tools/publish/lint.hpp"
#include "tools/publish/workspace.hpp"

namespace enginehost::publish::shipped {

namespace fs = std::filesystem;

inline fs::path repository() { return fs::path(test::build_path()) / "share/enginehost/repository"; }
// The facts of the published payloads; payloads_test.cpp makes and checks them.
inline fs::path facts() { return fs::path(test::source_path()) / "manifests/facts"; }

// engines/, files/ and facts/ below `folder`; nothing when one of them cannot be copied.
inline std::optional<Workspace> workspace_in(const fs::path& folder) {
  auto workspace = Workspace::create(folder, "enginehost");
  if (!workspace) return std::nullopt;
  std::error_code error;
  const auto from = fs::copy_options::recursive | fs::copy_options::overwrite_existing;
  fs::copy(repository() / "manifests", folder / "engines", from, error);
  if (!error) fs::copy(repository() / "files", folder / "files", from, error);
  if (!error && fs::exists(facts())) fs::copy(facts(), folder / "facts", from, error);
  if (error) return std::nullopt;
  return std::move(*workspace);
}

inline std::vector<std::shared_ptr<const manifest::Manifest>> manifests(const Workspace& workspace) {
  std::vector<std::shared_ptr<const manifest::Manifest>> all;
  const auto files = workspace.engine_files();
  EXPECT_TRUE(files);
  if (!files) return all;
  for (const fs::path& file : *files) {
    const auto text = read_file(file, 8u << 20);
    const auto document = text ? parse_json(*text, path_text(file)) : Json();
    auto manifest = manifest::read_manifest(document ? *document : Json(), path_text(workspace.folder()),
                                            path_text(file.filename()));
    EXPECT_TRUE(manifest) << file << ": " << (manifest ? "" : manifest.error().value(Key::problem));
    if (manifest) all.push_back(std::move(*manifest));
  }
  return all;
}

// Whether the package index has it, so that it was examined.
inline const manifest::Source* in_the_index(const manifest::Artifact& artifact) {
  for (const manifest::Source& source : artifact.sources)
    if (source.kind == manifest::Source::Kind::package_index) return &source;
  return nullptr;
}

}  // namespace enginehost::publish::shipped
