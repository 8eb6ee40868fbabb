// Installed builds named by an engine, a version or the beginning of an id.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/text.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

class ShortNames : public testing::Test {
 protected:
  ShortNames() : repository(workplace.folder() / "repository") {
    for (const char* version : {"1.0.0", "1.1.0"}) {
      TestBuild build = good_build(std::string("reference-") + version + "-cpu");
      build.version = version;
      repository.add(build);
    }
    repository.write();
    for (const char* engine : {"reference@1.0", "reference@1.1"}) fetch(engine);
  }
  void fetch(const std::string& engine) const {
    const Ended run = cache({"fetch", engine, "--repository", repository.root().native(), "--json"});
    EXPECT_EQ(run.status, 0) << run.said();
  }
  Ended cache(std::vector<std::string> arguments) const {
    return workplace.run("engine-cache", std::move(arguments));
  }

  Workplace workplace;
  TestRepository repository;
  const std::string first = "reference-1.0.0-cpu", second = "reference-1.1.0-cpu";
};

TEST_F(ShortNames, AreAcceptedForOneBuild) {
  EXPECT_EQ(cache({"pin", "reference@1.0", "--json"}).document["build"].as_string(), first);
  EXPECT_EQ(cache({"unpin", "reference-1.0", "--json"}).document["build"].as_string(), first);
  const Ended verified = cache({"verify", "reference-1.1.0", "--json"});
  EXPECT_EQ(verified.status, 0) << verified.said();
  EXPECT_EQ(verified.document["builds"].as_array().at(0)["build"].as_string(), second);
  const std::string bundle = (workplace.folder() / "lab.bundle").native();
  const Ended exported = cache({"export", bundle, "reference@1.1", "reference@1.1.0", "--json"});
  EXPECT_EQ(exported.status, 0) << exported.said();
  EXPECT_EQ(exported.document["builds"].as_array().size(), 1u);
  const Ended layout =
      cache({"export", (workplace.folder() / "layout").native(), "reference@1.1", "--oci", "--json"});
  EXPECT_EQ(layout.status, 0) << layout.said();
  EXPECT_EQ(cache({"remove", "reference@1.0", "--json"}).document["removed"].as_string(), first);
  EXPECT_EQ(cache({"remove", "reference", "--json"}).document["removed"].as_string(), second);
}

TEST_F(ShortNames, AreAcceptedByQuarantine) {
  EXPECT_EQ(cache({"quarantine", "disable", "reference@1.1", "--json"}).document["disabled"].as_string(),
            second);
  const Ended shown = cache({"quarantine", "show", "reference", "--json"});
  EXPECT_EQ(shown.document["records"].as_array().at(0)["build"].as_string(), second) << shown.said();
  EXPECT_EQ(cache({"quarantine", "enable", "reference-1.1"}).status, 0);
  EXPECT_EQ(cache({"quarantine", "enable", "reference-1.1"}).status, 2);
}

TEST_F(ShortNames, OfSeveralBuildsAreRefusedWithTheirIds) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"pin", "reference"},
        {"remove", "reference-1."},
        {"verify", "ref"},
        {"quarantine", "disable", "reference"},
        {"export", (workplace.folder() / "lab.bundle").native(), "reference"}}) {
    const Ended run = cache(arguments);
    EXPECT_EQ(run.status, 2) << run.said();
    EXPECT_THAT(run.error,
                HasSubstr("matches 2 builds, so more of the id is needed: " + first + ", " + second));
  }
  EXPECT_EQ(cache({"list", "--json"}).document["builds"].as_array().size(), 2u);
}

TEST_F(ShortNames, OfNoBuildAreUnknown) {
  EXPECT_EQ(cache({"pin", "mxnet", "--json"}).code(), "EH-S23");
  EXPECT_EQ(cache({"remove", "reference@2", "--json"}).code(), "EH-S23");
}

TEST_F(ShortNames, AreAcceptedForKeys) {
  const char* key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
  const std::string id = cache({"trust", "add", key, "--json"}).document["added"].as_string();
  ASSERT_EQ(id.size(), 16u);
  EXPECT_NE(cache({"trust", "remove", "FFFF"}).status, 0);
  EXPECT_EQ(cache({"trust", "remove", to_lower(id.substr(0, 5)), "--json"}).document["removed"].as_string(),
            id);
}

TEST_F(ShortNames, ListShowsTheLastUse) {
  const Ended list = cache({"list"});
  EXPECT_THAT(list.output, testing::ContainsRegex(first + " +[0-9.]+ [KM]iB  used 20[0-9][0-9]-"))
      << list.said();
}

TEST_F(ShortNames, RemovalOfAPinnedBuildIsReported) {
  ASSERT_EQ(cache({"pin", first}).status, 0);
  EXPECT_THAT(cache({"remove", first}).output, HasSubstr(first + " removed with its pin, "));
}

}  // namespace
}  // namespace enginehost::test
