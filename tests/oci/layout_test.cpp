#include "tools/oci/artifact.hpp"

#include <map>

#include "base/file_calls.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "tests/oci/installed_build.hpp"
#include "tests/support/links.hpp"

namespace enginehost::oci {
namespace {

namespace fs = std::filesystem;

class LayoutTest : public test::InstalledBuildTest {
 protected:
  Result<void> write(const fs::path& layout, const std::vector<std::string>& builds) {
    TRY_ASSIGN(const fs::path packing, begin_layout(layout));
    std::vector<Artifact> artifacts;
    for (const std::string& build : builds) {
      const auto installed = store.record_of(build);
      ArtifactRequest request;
      request.folder = packing / build;
      fs::create_directories(request.folder);
      TRY_ASSIGN(Artifact artifact, make_artifact(**installed, request));
      artifacts.push_back(std::move(artifact));
    }
    return write_layout(layout, artifacts, "all");
  }
  static std::map<std::string, std::string> files_of(const fs::path& root) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(root))
      if (entry.is_regular_file())
        files[generic_text(entry.path().lexically_relative(root))] = test::read_text(entry.path());
    return files;
  }
};

TEST_F(LayoutTest, TheSameBuildGivesTheSameBytes) {
  ASSERT_TRUE(write(folder / "one", {sample.build->id}));
  ASSERT_TRUE(write(folder / "two", {sample.build->id}));
  const auto one = files_of(folder / "one");
  EXPECT_EQ(one, files_of(folder / "two"));
  EXPECT_EQ(one.size(), 2u + 4u) << "oci-layout, index.json; two layers, config, manifest";
  for (const auto& [path, bytes] : one) {
    if (path.starts_with("blobs/sha256/")) {
      EXPECT_EQ(fs::path(path).filename(), sha256_hex(bytes));
    }
  }
}

TEST_F(LayoutTest, NothingOfThisMachineIsInIt) {
  ASSERT_TRUE(write(folder / "one", {sample.build->id}));
  for (const auto& [path, bytes] : files_of(folder / "one"))
    EXPECT_EQ(bytes.find(path_text(folder.path())), std::string::npos) << path;
}

TEST_F(LayoutTest, AnArchiveStillPresentIsPassedOnAsPublished) {
  const auto artifact = make();
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->components, (std::vector<std::string>{"plugin", "runtime"}));
  EXPECT_EQ(artifact->layers[0].descriptor.digest, sample.manifest->components["plugin"].artifacts[0].sha256);
  EXPECT_EQ(artifact->layers[0].descriptor.media_type, "application/vnd.enginehost.component.v1.tar+gzip");
  EXPECT_EQ(artifact->layers[1].descriptor.media_type, "application/vnd.enginehost.component.v1.tar+zstd");
}

TEST_F(LayoutTest, APackedTreeUnpacksToTheSameTree) {
  const auto artifact = make();
  ASSERT_TRUE(artifact);
  test::SampleBuild fresh;
  offer_from(fresh, *artifact, "unused");
  for (std::size_t i = 0; i < 2; ++i)
    fresh.manifest->components[artifact->components[i]].artifacts[0].sources = {
        test::SampleBuild::file(path_text(artifact->layers[i].file))};
  const cache::Store other = cache::Store::open(folder / "other", {}, "oci_test");
  const auto acquired = acquire::acquire(*fresh.build, other, options);
  ASSERT_TRUE(acquired) << acquired.error().code << " " << acquired.error().value(Key::problem);
  EXPECT_EQ(acquired->installed.trees, (**store.record_of(sample.build->id)).trees);
}

TEST_F(LayoutTest, EntriesUnderOtherNamesStayAndSeveralBuildsGetAnIndex) {
  test::SampleBuild second;
  second.build->id = "sample-1.0-cu118-linux-x86_64";
  second.build->flavor = "cu118";
  test::give_plugin(second, folder / "repository");
  install(second);
  ASSERT_TRUE(write(folder / "layout", {sample.build->id}));
  ASSERT_TRUE(write(folder / "layout", {second.build->id, sample.build->id}));
  const auto index = parse_json(test::read_text(folder / "layout/index.json"), "index");
  ASSERT_TRUE(index);
  const auto& entries = (*index)["manifests"].as_array();
  ASSERT_EQ(entries.size(), 3u);
  const auto names = [&](std::size_t i) {
    return entries[i]["annotations"]["org.opencontainers.image.ref.name"].as_string();
  };
  EXPECT_EQ(names(0), "all");
  EXPECT_EQ(names(1), sample.build->id);
  EXPECT_EQ(names(2), second.build->id);
  const auto blob =
      test::read_text(folder / "layout/blobs/sha256" / entries[0]["digest"].as_string().substr(7));
  const auto both = read_document(blob, "index");
  ASSERT_TRUE(both);
  ASSERT_EQ(both->manifests.size(), 2u);
  EXPECT_EQ(both->manifests[0].architecture, "amd64");
  EXPECT_EQ(both->manifests[1].annotation(flavor_annotation), "cu118");
}

TEST_F(LayoutTest, AFolderWithOtherFilesIsNotChanged) {
  test::write_text(folder / "mine/letter.txt", "dear");
  const auto written = write(folder / "mine", {sample.build->id});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, "EH-P47");
  EXPECT_EQ(files_of(folder / "mine").size(), 1u);
}

TEST_F(LayoutTest, ContinuesAfterAnInterruptedRun) {
  for (const char* left : {"blobs/sha256/x", "blobs/.packing-0123/x", ".oci-layout.0123456789ab"}) {
    const fs::path layout = folder / "cut_off";
    test::write_text(layout / left, "x");
    const auto written = write(layout, {sample.build->id});
    ASSERT_TRUE(written) << left << written.error().code;
    fs::remove(layout / "blobs/sha256/x");
    const auto whole = files_of(layout);
    for (const char* more : {".index.json.0123456789ab", ".oci-layout.0123456789ab",
                             "blobs/sha256/.abcd.0123456789ab", "blobs/sha256/abcd.part-01234567"})
      test::write_text(layout / more, "x");
    ASSERT_TRUE(write(layout, {sample.build->id}));
    EXPECT_EQ(files_of(layout), whole);
    fs::remove_all(layout);
  }
}

// A link to itself exists, and cannot be read.
TEST_F(LayoutTest, AnUnreadableIndexIsNotReplaced) {
  if (!test::makes_links(folder.path())) GTEST_SKIP() << "links cannot be made here";
  ASSERT_TRUE(write(folder / "layout", {sample.build->id}));
  const fs::path index = folder / "layout/index.json";
  fs::remove(index);
  fs::create_symlink(index.filename(), index);
  EXPECT_FALSE(write(folder / "layout", {sample.build->id}));
  EXPECT_TRUE(fs::is_symlink(index));
}

TEST_F(LayoutTest, ADamagedFileIsNeverPassedOn) {
  const auto installed = store.record_of(sample.build->id);
  const fs::path file = (*installed)->layer / "trees" / (*installed)->trees[1] / "bin/tool";
  calls::chmod(file, 0644);
  test::write_text(file, "#!/bin/sH\n");
  const auto artifact = make();
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().code, "EH-F08");
  EXPECT_EQ(artifact.error().value(Key::file), path_text(file));
}

TEST_F(LayoutTest, ALicenseThatForbidsPassingOnMustBeNamed) {
  test::SampleBuild second;
  second.build->id = "sample-2";
  second.runtime().license = "vendor";
  second.manifest->licenses["vendor"].id = "LicenseRef-Vendor";
  second.manifest->licenses["vendor"].explicit_consent = true;
  test::give_plugin(second, folder / "repository");
  install(second);
  const auto refused = make("sample-2");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-P60");
  EXPECT_EQ(refused.error().value(Key::license), "LicenseRef-Vendor");
  EXPECT_EQ(refused.error().value(Key::component), "runtime");
  redistribute = {"LicenseRef-Vendor"};
  EXPECT_TRUE(make("sample-2", "by-order"));
}

TEST(Tag, IsTheBuildsIdInCharactersThatATagMayHave) {
  EXPECT_EQ(tag_of("pytorch-2.0.1+cu118-linux-x86_64"), "pytorch-2.0.1_cu118-linux-x86_64");
  EXPECT_EQ(tag_of(".a"), "_a");
  EXPECT_EQ(tag_of(std::string(200, 'a')).size(), 128u);
}

}  // namespace
}  // namespace enginehost::oci
