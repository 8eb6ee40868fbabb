#include "tests/manifest/documents.hpp"

#include <gmock/gmock.h>

#include "host/manifest/repository.hpp"

namespace enginehost::manifest {
namespace {

class Documents : public testing::TestWithParam<DocumentCase> {};

TEST_P(Documents, AreReadAsTheTableSays) {
  const Json& description = GetParam().description;
  const Json document =
      changed(documents()[GetParam().base], description["path"].as_string(), description.find("value"));
  std::string verdict = "accept", member;
  const auto note = [&](const auto& result) {
    if (result) return;
    verdict = std::string(result.error().code_text());
    member = result.error().value(Key::member);
    EXPECT_EQ(result.error().value(Key::document), "here.json");
    EXPECT_TRUE(verdict != "EH-M02" || !result.error().value(Key::problem).empty());
  };
  if (GetParam().base == "manifest")
    note(read_manifest(document, "/repository", "here.json"));
  else
    note(read_index(document, "here.json"));
  EXPECT_EQ(verdict, description["reader"].as_string()) << document.dump();
  if (const Json* place = description.find("member")) {
    EXPECT_EQ(member, place->as_string());
  }
}

INSTANTIATE_TEST_SUITE_P(Manifest, Documents, testing::ValuesIn(cases_of("manifest")));
INSTANTIATE_TEST_SUITE_P(Index, Documents, testing::ValuesIn(cases_of("index")));

TEST(DocumentsTest, TheTableExists) {
  EXPECT_GT(cases_of("manifest").size(), 140u);
  EXPECT_GT(cases_of("index").size(), 15u);
}

TEST(DocumentsTest, UnknownFieldsAreWarnedOfWithTheirPlaceAndTheNearestName) {
  const Json document = changed(documents()["manifest"], "/builds/0/componets", Json("x"));
  const auto manifest = read_manifest(document, "/repository", "here.json");
  ASSERT_TRUE(manifest);
  EXPECT_THAT((*manifest)->warnings,
              testing::ElementsAre(
                  "here.json: builds[0].componets is not a known field; did you mean \"components\"?"));
}

TEST(DocumentsTest, TheSameBuildTwiceIsRefused) {
  const Json& base = documents()["manifest"];
  const auto manifest =
      read_manifest(changed(base, "/builds/1", base["builds"].as_array()[0]), "/r", "here.json");
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().value(Key::member), "builds[1].id");
}

TEST(DocumentsTest, ALongWrongTextIsNotRepeatedWhole) {
  const Json document = changed(documents()["manifest"], "/builds/0/flavor", Json(std::string(100000, 'X')));
  const auto manifest = read_manifest(document, "/r", "here.json");
  ASSERT_FALSE(manifest);
  EXPECT_LT(manifest.error().value(Key::problem).size(), 400u);
}

}  // namespace
}  // namespace enginehost::manifest
