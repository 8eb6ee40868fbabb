// Members of a manifest whose length would become time, memory or text of every report are bounded where they
// are read.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "host/manifest/catalog.hpp"
#include "tests/manifest/documents.hpp"

namespace enginehost::manifest {
namespace {

using testing::HasSubstr;

Json many(std::size_t count, const std::string& text) {
  return Json::strings(std::vector<std::string>(count, text));
}

// "place: problem", or nothing for a manifest that is read.
std::string problem_of(const std::string& pointer, const Json& value) {
  const auto manifest = read_manifest(changed(documents()["manifest"], pointer, value), "/r", "here.json");
  if (manifest) return "";
  EXPECT_EQ(manifest.error().code, "EH-M02");
  return std::string(manifest.error().value(Key::member)) + ": " +
         std::string(manifest.error().value(Key::problem));
}

std::string component() { return documents()["manifest"]["components"].as_object().begin()->first; }

TEST(ManifestLimits, ListsHaveAThousandEntries) {
  for (const char* member : {"lazy", "search", "capabilities", "requires/libraries", "requires/cpu"}) {
    const std::string pointer = std::string("/builds/0/") + member;
    EXPECT_EQ(problem_of(pointer, many(1000, "x")), "") << member;
    EXPECT_THAT(problem_of(pointer, many(1001, "x")),
                HasSubstr("it has 1001 entries, and at most 1000 are read"));
  }
  EXPECT_THAT(problem_of("/builds/0/components", many(3000, component())), HasSubstr("at most 1000"));
}

TEST(ManifestLimits, OptionsHaveAThousandEntries) {
  Json options = Json::object();
  for (int i = 0; i < 1000; ++i) options.set("o" + std::to_string(i), "x");
  EXPECT_EQ(problem_of("/builds/0/options", options), "");
  options.set("one more", "x");
  EXPECT_THAT(problem_of("/builds/0/options", options), HasSubstr("at most 1000"));
}

TEST(ManifestLimits, PatternsHave4096CharactersTogether) {
  for (const std::string& member : {std::string("/optional"), std::string("/artifacts/0/select")}) {
    const std::string pointer = "/components/" + component() + member;
    EXPECT_EQ(problem_of(pointer, many(1, "*" + std::string(1000, 'a'))), "");
    EXPECT_THAT(problem_of(pointer, many(5, "*" + std::string(1000, 'a'))), HasSubstr("at most 4096"));
    EXPECT_THAT(problem_of(pointer, many(1000, "**/*a")), HasSubstr("5000 characters"));
    EXPECT_THAT(problem_of(pointer, many(6000, "*")), HasSubstr("6000 entries"));
  }
}

TEST(ManifestLimits, UnknownRequirementsAreFew) {
  Json requirements = Json::object();
  for (int i = 0; i < 100; ++i) requirements.set("later" + std::to_string(i), 1);
  EXPECT_EQ(problem_of("/builds/0/requires", requirements), "");
  requirements.set("one_more", 1);
  EXPECT_THAT(problem_of("/builds/0/requires", requirements), HasSubstr("101 unknown requirements"));
}

TEST(ManifestLimits, AVersionBoundHas1024Characters) {
  std::string bound = ">=1.0";
  while (bound.size() < 1000) bound += ",>=1.0";
  EXPECT_EQ(problem_of("/builds/0/requires/glibc", Json(bound)), "");
  EXPECT_THAT(problem_of("/builds/0/requires/glibc", Json(bound + bound)), HasSubstr("1024 characters"));
}

}  // namespace
}  // namespace enginehost::manifest
