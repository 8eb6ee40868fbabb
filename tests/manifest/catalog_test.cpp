#include "host/manifest/catalog.hpp"

#include <gmock/gmock.h>

#include "base/sha256.hpp"
#include "tests/manifest/documents.hpp"

namespace enginehost::manifest {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::shared_ptr<const Manifest> read(const Json& document, const std::string& repository = "/one") {
  auto manifest = read_manifest(document, repository, repository + "/pytorch.json");
  if (!manifest)
    ADD_FAILURE() << manifest.error().value(Key::member) << ": " << manifest.error().value(Key::problem);
  return manifest ? *manifest : nullptr;
}

TEST(CatalogTest, EveryFieldOfAManifestIsRead) {
  const auto manifest = read(documents()["manifest"]);
  ASSERT_NE(manifest, nullptr);
  EXPECT_EQ(manifest->engine, "pytorch");
  EXPECT_EQ(manifest->serial, 7);
  EXPECT_EQ(manifest->expires, "2027-11-20T00:00:00Z");
  EXPECT_TRUE(manifest->licenses.at("nvidia-cudnn").explicit_consent);
  EXPECT_FALSE(manifest->licenses.at("pytorch").explicit_consent);
  const Component& torch = manifest->components.at("torch-2.0.1-cu118-linux-x86_64");
  EXPECT_EQ(torch.license, "pytorch");
  EXPECT_THAT(torch.optional, ElementsAre("torch/lib/libnvfuser_codegen.so"));
  ASSERT_EQ(torch.artifacts.size(), 1u);
  EXPECT_FALSE(torch.artifacts[0].size.has_value());
  EXPECT_THAT(torch.artifacts[0].select, ElementsAre("torch/lib/*.so*"));
  std::vector<std::string> sources;
  for (const Source& source : torch.artifacts[0].sources) sources.push_back(source.text());
  EXPECT_THAT(sources,
              ElementsAre("https://download.example/whl/torch-2.0.1%2Bcu118-cp310-cp310-linux_x86_64.whl",
                          "package index: torch, torch-2.0.1-cp310-cp310-linux_x86_64.whl",
                          testing::StartsWith("registry: registry.example/engines/torch@sha256:"),
                          "wheels/torch.whl"));
  const Build& build = *manifest->builds.at(0);
  EXPECT_EQ(build.flavor, "cu118");
  EXPECT_EQ(build.requires_.glibc, ">=2.17");
  EXPECT_EQ(build.requires_.cuda->toolkit, "11.8");
  EXPECT_THAT(build.requires_.cuda->sass, ElementsAre("3.7", "5.0", "9.0"));
  EXPECT_THAT(build.options, ElementsAre(Pair("threads", "4"), Pair("pool", "arena"), Pair("eager", "true")));
  EXPECT_THAT(build.capabilities, ElementsAre("device.cuda", "format.torchscript"));
  EXPECT_THAT(build.search, ElementsAre("torch/lib", "."));
  EXPECT_EQ(build.priority, 50);
  EXPECT_EQ(build.probe_seconds, 0);
}

TEST(CatalogTest, TheHintOfTheProbesTimeIsReadAndBounded) {
  const auto hinted = [](int seconds) {
    return changed(documents()["manifest"], "/builds/0/probe_seconds", Json(seconds));
  };
  EXPECT_EQ(read(hinted(90))->builds[0]->probe_seconds, 90);
  const auto too_long = read_manifest(hinted(601), "/one", "pytorch.json");
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, "EH-M02");
}

TEST(CatalogTest, AnUnknownRequirementIsKeptWithItsText) {
  const auto manifest =
      read(changed(documents()["manifest"], "/builds/0/requires/npu", Json(Json::Object{{"tops", 40}})));
  EXPECT_THAT(manifest->builds[0]->requires_.unknown, ElementsAre(Pair("npu", R"({"tops":40})")));
}

TEST(CatalogTest, TheArtifactsDigestCoversEveryByteOrIsEmpty) {
  const Json& base = documents()["manifest"];
  const std::string place = "/components/torch-2.0.1-cu118-linux-x86_64/artifacts/0/sha256";
  const auto first = read(base);
  const std::string digest = first->builds[0]->artifacts_digest();
  EXPECT_TRUE(is_sha256_hex(digest));
  const std::string a(64, 'b'), b = "a7a49d459bf4862f64f7bc1a68beccf8881c2fa9f3e0569608e16ba6f85ebf7b";
  EXPECT_EQ(digest, sha256_hex(b + "\n" + a + "\n")) << "sha256 of the sorted digests, one a line";
  const auto other = read(changed(base, place, Json(std::string(64, 'c'))));
  EXPECT_NE(other->builds[0]->artifacts_digest(), digest);
  const auto unknown = read(changed(base, place, nullptr));
  EXPECT_EQ(unknown->builds[0]->artifacts_digest(), "");
}

TEST(CatalogTest, TheEarlierRepositoryWinsAndTheLaterBuildIsListedAsShadowed) {
  const Json& base = documents()["manifest"];
  const auto first = read(base, "/one");
  const auto second = read(changed(base, "/builds/0/priority", Json(99)), "/two");
  const auto third = read(changed(base, "/builds/0/id", Json("pytorch-2.0.2")), "/three");
  Catalog catalog;
  for (const auto& manifest : {first, second, third}) merge(catalog, manifest);
  ASSERT_EQ(catalog.builds.size(), 2u);
  EXPECT_EQ(catalog.builds[0]->priority, 50);
  EXPECT_EQ(catalog.builds[1]->id, "pytorch-2.0.2");
  ASSERT_EQ(catalog.shadowed.size(), 1u);
  EXPECT_EQ(catalog.shadowed[0].build, "pytorch-2.0.1-cu118-linux-x86_64");
  EXPECT_EQ(catalog.shadowed[0].repository, "/two");
  EXPECT_EQ(catalog.shadowed[0].by, "/one");
  EXPECT_THAT(catalog.engines(), ElementsAre("pytorch"));
}

TEST(CatalogTest, AKeptBuildKeepsItsComponents) {
  std::shared_ptr<const Build> kept;
  {
    Catalog catalog;
    merge(catalog, read(documents()["manifest"]));
    kept = catalog.builds[0];
  }
  const auto components = kept->all_components();
  ASSERT_EQ(components.size(), 2u);
  EXPECT_EQ(components[0]->id, "pytorch-plugin-2.0.1-linux-x86_64");
  EXPECT_EQ(components[1]->id, "torch-2.0.1-cu118-linux-x86_64");
}

}  // namespace
}  // namespace enginehost::manifest
