// An installed build of two components; the archive of one is gone, so that it must be packed.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>

#include "host/acquire/acquire.hpp"
#include "tests/acquire/sample_build.hpp"
#include "tests/support/links.hpp"
#include "tools/oci/artifact.hpp"

namespace enginehost::test {

class InstalledBuildTest : public testing::Test {
 protected:
  InstalledBuildTest() {
    give_plugin(sample, folder / "repository");
    install(sample);
  }

  // The runtime's archive exists only during the install.
  void install(SampleBuild& what) {
    std::setlocale(LC_ALL, "C.UTF-8");  // make_archive's libarchive needs it; ours must not
    std::vector<ArchiveEntry> entries{
        {"lib/libruntime.so.1",
         "\x7f"
         "ELF " +
             noise(400'000)},
        {"bin/tool", "#!/bin/sh\n", 0755},
        {"share/" + std::string(120, 'n') + "/ä.txt", std::string(50'000, 'x')}};
    if (makes_links(folder.path())) entries.push_back({"lib/libruntime.so", "", 0777, "libruntime.so.1"});
    const std::string archive = make_archive("tar.gz", entries);
    std::setlocale(LC_ALL, "C");
    write_text(folder / "repository/runtime.tar.gz", archive);
    what.runtime().artifacts = {
        SampleBuild::artifact(archive, "tar.gz", {SampleBuild::file("runtime.tar.gz")})};
    const auto acquired = acquire::acquire(*what.build, store, options);
    ASSERT_TRUE(acquired) << acquired.error().code << " " << acquired.error().value(Key::problem);
    std::filesystem::remove(folder / "repository/runtime.tar.gz");
  }

  Result<oci::Artifact> make(const std::string& build, const std::string& name = "pack") {
    const auto installed = store.record_of(build);
    if (!installed || !*installed) throw std::runtime_error("not installed: " + build);
    oci::ArtifactRequest request;
    request.folder = folder / name;
    request.redistribute = redistribute;
    std::filesystem::create_directories(request.folder);
    return oci::make_artifact(**installed, request);
  }
  Result<oci::Artifact> make() { return make(sample.build->id); }

  // The build for a fresh machine, with its components' artifacts from `reference`.
  static void offer_from(SampleBuild& what, const oci::Artifact& artifact, const std::string& reference) {
    for (std::size_t i = 0; i < artifact.components.size(); ++i) {
      const oci::Descriptor& layer = artifact.layers[i].descriptor;
      manifest::Source source;
      source.kind = manifest::Source::Kind::oci;
      source.location = reference;
      manifest::Artifact offered;
      offered.sha256 = layer.digest;
      offered.size = layer.size;
      offered.archive = layer.media_type.ends_with("zstd") ? "tar.zst" : "tar.gz";
      offered.tree = layer.annotation(oci::tree_annotation);
      offered.sources = {source};
      what.manifest->components[artifact.components[i]].artifacts = {offered};
    }
  }

  TemporaryFolder folder;
  SampleBuild sample;
  cache::Store store = cache::Store::open(folder / "cache", {}, "oci_test");
  acquire::AcquireOptions options;
  std::set<std::string> redistribute;
};

}  // namespace enginehost::test
