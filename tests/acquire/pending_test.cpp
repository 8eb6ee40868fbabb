// The download of a build, as its manifest and the store know it.
#include "host/acquire/pending.hpp"

#include <gmock/gmock.h>

#include "tests/acquire/sample_build.hpp"

namespace enginehost::acquire {
namespace {

using test::SampleBuild;
using test::TemporaryFolder;
using test::write_text;
using testing::ElementsAre;

class PendingTest : public testing::Test {
 protected:
  PendingTest() {
    sample.manifest->repository = path_text(folder.path());
    sample.manifest->licenses["engine"].id = "MIT";
    sample.manifest->components["plugin"].license = sample.runtime().license = "engine";
    write_text(folder / "plugin.zip", "1234567");
    manifest::Artifact plugin = SampleBuild::artifact("1234567", "zip", {SampleBuild::file("plugin.zip")});
    plugin.size.reset();
    sample.manifest->components["plugin"].artifacts = {plugin};
    runtime =
        SampleBuild::artifact("runtime", "zip", {SampleBuild::url("https://engines.example/runtime.zip")});
    runtime.size = 1000;
  }
  Pending pending() {
    sample.runtime().artifacts = {runtime};
    return pending_download(*sample.build, &store);
  }

  TemporaryFolder folder;
  SampleBuild sample;
  manifest::Artifact runtime;
  cache::Store store = cache::Store::open(folder / "cache");
};

TEST_F(PendingTest, AddsSizesOfTheManifestAndOfLocalFiles) {
  const Pending both = pending();
  EXPECT_EQ(both.bytes, 1007u);
  EXPECT_TRUE(both.bytes_known);
  EXPECT_TRUE(both.over_network);
  EXPECT_EQ(both.parts, 2u);
  EXPECT_THAT(both.sources, ElementsAre("folder", "URL"));
  EXPECT_THAT(both.licenses, ElementsAre("MIT"));
}

// A file of this machine is read whole.
TEST_F(PendingTest, CountsTheRangesThatAreFetched) {
  using Kind = manifest::Source::Kind;
  runtime.ranges = {{0, 100}, {500, 600}};
  EXPECT_EQ(pending().bytes, 207u);
  for (const auto& [kind, bytes] :
       {std::pair{Kind::package_index, 207u}, {Kind::oci, 207u}, {Kind::file, 1007u}}) {
    runtime.sources.front().kind = kind;
    EXPECT_EQ(pending().bytes, bytes);
  }
  sample.manifest->repository = "https://engines.example/repository";
  runtime.sources.front() = SampleBuild::file("runtime.zip");
  sample.runtime().artifacts = {runtime};
  EXPECT_EQ(pending_download(*sample.build, nullptr).bytes, 200u);
}

TEST_F(PendingTest, NamesPackageIndexAndRegistry) {
  runtime.sources.front().kind = manifest::Source::Kind::package_index;
  EXPECT_THAT(pending().sources, ElementsAre("folder", "package index"));
  runtime.sources.front().kind = manifest::Source::Kind::oci;
  EXPECT_THAT(pending().sources, ElementsAre("folder", "registry"));
}

TEST_F(PendingTest, NeedsNoNetworkIfEverythingIsInAFolder) {
  runtime.sources = {SampleBuild::file("runtime.zip")};
  EXPECT_FALSE(pending().over_network);
}

TEST_F(PendingTest, AnUnknownSizeIsNotGuessed) {
  runtime.size.reset();
  EXPECT_FALSE(pending().bytes_known);
  EXPECT_EQ(pending().bytes, 7u);
  runtime.sources.clear();
  EXPECT_FALSE(pending().bytes_known);
}

}  // namespace
}  // namespace enginehost::acquire
