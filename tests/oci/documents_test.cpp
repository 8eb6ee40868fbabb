#include "host/oci/documents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace enginehost::oci {
namespace {

const std::string digest(64, 'b');
const std::string descriptor = R"({"mediaType": "x/y", "size": 3, "digest": "sha256:)" + digest + "\"}";

std::string problem_of(const std::string& text) {
  const auto document = read_document(text, "registry.example/a");
  if (document) return "";
  EXPECT_EQ(document.error().code, "EH-N32") << text;
  EXPECT_EQ(document.error().value(Key::reference), "registry.example/a");
  return std::string(document.error().value(Key::problem));
}

TEST(Document, DistinguishesManifestsFromIndexes) {
  const std::string body = R"("config": )" + descriptor + R"(, "layers": [)" + descriptor + "]}";
  const auto manifest = read_document(R"({"schemaVersion": 2, )" + body, "m");
  ASSERT_TRUE(manifest);
  EXPECT_FALSE(manifest->is_index);
  ASSERT_EQ(manifest->layers.size(), 1u);
  EXPECT_EQ(manifest->layers[0].digest, digest);
  EXPECT_EQ(manifest->layers[0].size, 3u);
  const auto index = read_document(
      R"({"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.list.v2+json", "manifests": [{
         "mediaType": "m", "size": 1, "digest": "sha256:)" +
          digest + R"(", "platform": {"os": "linux", "architecture": "arm", "variant": "v7"},
         "annotations": {"org.enginehost.flavor": "cu118", "odd": 5}}]})",
      "i");
  ASSERT_TRUE(index);
  EXPECT_TRUE(index->is_index);
  EXPECT_EQ(index->manifests[0].variant, "v7");
  EXPECT_EQ(index->manifests[0].annotation(flavor_annotation), "cu118");
}

TEST(Document, OneThatCouldBeTakenForTwoThingsIsRefused) {
  EXPECT_THAT(
      problem_of(R"({"schemaVersion": 2, "layers": [], "config": )" + descriptor + R"(, "manifests": []})"),
      testing::HasSubstr("at once"));
}

TEST(Document, OtherMediaTypesAndDamageAreRefusedByName) {
  EXPECT_THAT(problem_of(R"({"schemaVersion": 1, "name": "a"})"), testing::HasSubstr("schemaVersion"));
  EXPECT_THAT(problem_of(R"({"schemaVersion": 2, "mediaType": "text/html", "layers": []})"),
              testing::HasSubstr("neither"));
  EXPECT_THAT(problem_of("<html>"), testing::HasSubstr("JSON"));
  EXPECT_THAT(problem_of("[]"), testing::HasSubstr("object"));
  EXPECT_THAT(problem_of(R"({"schemaVersion": 2})"), testing::HasSubstr("layers"));
  EXPECT_THAT(problem_of(R"({"schemaVersion": 2, "manifests": 7})"), testing::HasSubstr("manifests"));
  for (const char* bad : {R"({"mediaType": "x", "size": -1, "digest": "sha256:)",
                          R"({"mediaType": "x", "digest": "sha256:)", R"({"size": 1, "digest": "sha256:)"})
    EXPECT_NE(problem_of(R"({"schemaVersion": 2, "manifests": [)" + std::string(bad) + digest + "\"}]}"), "")
        << bad;
  EXPECT_THAT(
      problem_of(
          R"({"schemaVersion": 2, "manifests": [{"mediaType": "x", "size": 1, "digest": "sha512:aa"}]})"),
      testing::HasSubstr("sha256"));
}

TEST(Document, ListsAreBounded) {
  std::string many;
  for (int i = 0; i < 1001; ++i) many += (i == 0 ? "" : ",") + descriptor;
  EXPECT_THAT(problem_of(R"({"schemaVersion": 2, "manifests": [)" + many + "]}"),
              testing::HasSubstr("too many"));
  std::string values;
  for (int i = 0; i < 1'000'000; ++i) values += "[],";
  EXPECT_THAT(problem_of(R"({"schemaVersion": 2, "annotations": [)" + values + "0]}"),
              testing::HasSubstr("more than 500000 values"));
  EXPECT_THAT(problem_of(R"({"schemaVersion": 2, "manifests": )" + std::string(1'000'000, '[')),
              testing::HasSubstr("nested deeper than 16 levels"));
  EXPECT_THAT(problem_of(R"({"schemaVersion": 2, "x": ")" + std::string(largest_document, 'x') + "\"}"),
              testing::HasSubstr("the limit is 4194304"));
  EXPECT_THAT(problem_of(R"({"schemaVersion": 2, "schemaVersion": 2})"), testing::HasSubstr("occurs twice"));
}

TEST(PlatformName, IsWhatRegistriesSay) {
  const auto text = [](const PlatformName& name) {
    return name.os + "/" + name.architecture + "/" + name.variant;
  };
  EXPECT_EQ(text(platform_name("linux", "x86_64")), "linux/amd64/");
  EXPECT_EQ(text(platform_name("linux", "aarch64")), "linux/arm64/");
  EXPECT_EQ(text(platform_name("macos", "arm64")), "darwin/arm64/");
  EXPECT_EQ(text(platform_name("windows", "x86_64")), "windows/amd64/");
  EXPECT_EQ(text(platform_name("linux", "armv7l")), "linux/arm/v7");
}

}  // namespace
}  // namespace enginehost::oci
