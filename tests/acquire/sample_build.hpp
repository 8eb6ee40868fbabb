// A build of two components whose archives a test makes and serves.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/acquire/acquire.hpp"
#include "host/acquire/partial_zip.hpp"
#include "tests/support/archives.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tools/publish/partial_downloads.hpp"

namespace enginehost::test {

struct SampleBuild {
  std::shared_ptr<manifest::Manifest> manifest = std::make_shared<manifest::Manifest>();
  std::shared_ptr<manifest::Build> build = std::make_shared<manifest::Build>();

  SampleBuild() {
    manifest->engine = build->engine = "sample";
    build->id = "sample-1.0-cpu-linux-x86_64";
    build->version = "1.0";
    build->flavor = "cpu";
    build->os = "linux";
    build->arch = "x86_64";
    build->plugin_component = "plugin";
    build->plugin_path = "libengine_sample.so";
    build->components = {"runtime"};
    build->search = {"lib"};
    build->manifest = manifest;
    manifest->builds.push_back(build);
    add("plugin").license = "";
    add("runtime");
  }
  manifest::Component& add(const std::string& id) {
    manifest::Component& component = manifest->components[id];
    component.id = id;
    component.version = "1.0";
    return component;
  }
  manifest::Component& runtime() { return manifest->components["runtime"]; }

  static manifest::Source url(const std::string& where) {
    manifest::Source source;
    source.location = where;
    return source;
  }
  static manifest::Source file(const std::string& where) {
    manifest::Source source;
    source.kind = manifest::Source::Kind::file;
    source.location = where;
    return source;
  }
  static manifest::Artifact artifact(const std::string& bytes, const std::string& archive,
                                     std::vector<manifest::Source> sources) {
    manifest::Artifact result;
    result.sha256 = sha256_hex(bytes);
    result.size = bytes.size();
    result.archive = archive;
    result.sources = std::move(sources);
    return result;
  }
};

inline const std::string plugin_bytes =
    "\x7f"
    "ELF plugin";

// The plugin as a file source in `folder`, which becomes the repository.
inline void give_plugin(SampleBuild& sample, const std::filesystem::path& folder) {
  const std::string archive = make_archive("tar.gz", {{"libengine_sample.so", plugin_bytes}});
  write_text(folder / "plugin.tar.gz", archive);
  sample.manifest->repository = path_text(folder);
  sample.manifest->components["plugin"].artifacts = {
      SampleBuild::artifact(archive, "tar.gz", {SampleBuild::file("plugin.tar.gz")})};
}

// Describes a zip archive of these entries, which lies in `file`, as engine-manifest add does with `select`.
inline void name_files(manifest::Artifact& artifact, const std::vector<ArchiveEntry>& entries,
                       std::vector<std::string> select, const std::filesystem::path& file) {
  cache::TreeList list;
  for (const ArchiveEntry& entry : entries) {
    if (std::none_of(select.begin(), select.end(),
                     [&](const std::string& pattern) { return matches_pattern(entry.path, pattern); }))
      continue;
    cache::TreeEntry named{cache::TreeEntry::Kind::file, entry.bytes.size(), entry.path,
                           sha256_hex(entry.bytes)};
    if ((entry.mode & 0111) != 0) named.kind = cache::TreeEntry::Kind::executable;
    if (!entry.link.empty())
      named = {cache::TreeEntry::Kind::link, entry.link.size(), entry.path, entry.link};
    list.entries.push_back(std::move(named));
  }
  std::sort(list.entries.begin(), list.entries.end(),
            [](const auto& left, const auto& right) { return left.path < right.path; });
  artifact.select = std::move(select);
  artifact.tree = list.id();
  artifact.files = std::move(list.entries);
  auto ranges = publish::ranges_to_fetch(file, artifact, artifact.files);
  EXPECT_TRUE(ranges);
  if (ranges) artifact.ranges = std::move(*ranges);
}

}  // namespace enginehost::test
