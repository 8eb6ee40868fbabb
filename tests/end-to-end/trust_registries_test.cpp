// The column of registries in the table of attacks of docs/threat-model.md.
#include "tests/end-to-end/trust_table.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::StartsWith;

// A registry gives the archives that a signed manifest names, and nothing else.
class TrustTableRegistry : public TrustTable {
 protected:
  void SetUp() override {
    TrustTable::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!RegistryServer::installed()) GTEST_SKIP() << "docker-registry is not installed";
    images = &site->registry();
    site->push(site->first);
    before = images->requests();
  }
  void expect_refused_without_asking(const std::string& code) const {
    expect_refused(open(), code);
    EXPECT_EQ(images->requests(), before) << images->server.log();
  }

  const PushedImages* images = nullptr;
  int before = 0;
};

TEST_F(TrustTableRegistry, SignedImageOpens) {
  site->serve("image-1");
  trust();
  expect_opened(open(), site->first);
  EXPECT_GT(images->requests(), before);
}

TEST_F(TrustTableRegistry, GivesNoDocuments) {
  use_repository(false);
  const std::string url = images->server.url(), image = images->server.host() + "/engines/toy:stable";
  for (const auto& [location, code] :
       {std::pair(url, "EH-N04"), {url + "/v2/engines/toy", "EH-N04"}, {image, "EH-M07"}})
    expect_refused(open("reference", {"--repository", location, "--allow-unsigned"}), code);
  // An image holds a manifest for other tools, which an installation does not read.
  const Json listed = parse_json(read_text(images->server.blob(images->first)), "image").value();
  const std::string described = listed["config"]["digest"].as_string();
  EXPECT_THAT(described, StartsWith("sha256:"));
  use_repository(true);
  site->serve("image-1");
  trust();
  const int asked = images->server.requests(described);
  expect_opened(open(), site->first);
  EXPECT_EQ(images->server.requests(described), asked);
}

TEST_F(TrustTableRegistry, ImageOfAnUnsignedIndexIsNotFetched) {
  site->serve("image-1");
  site->take_from("unsigned", "root");
  expect_refused_without_asking("EH-M10");
}

TEST_F(TrustTableRegistry, ImageOfAnExpiredIndexIsNotFetched) {
  site->serve("image-1");
  site->expire_index(9);
  trust();
  expect_refused_without_asking("EH-M12");
}

TEST_F(TrustTableRegistry, ImageOfARevokedKeyIsNotFetched) {
  site->serve("image-1");
  site->take_from("revoked", "root");
  site->sign_index("stolen", TrustSite::serial(9));
  trust();
  expect_refused_without_asking("EH-M13");
}

TEST_F(TrustTableRegistry, BlockedImageIsNotFetched) {
  site->serve("image-1");
  const Json blocking = parse_json(read_text(site->in_state("blocked", "index.json")), "index").value();
  site->sign_index("safe", TrustSite::serial(9).set("blocked", blocking["blocked"]));
  trust();
  expect_blocked(open());
  EXPECT_EQ(images->requests(), before);
}

// A tag leads wherever the registry says, a digest does not.
TEST_F(TrustTableRegistry, RolledBackTagIsRefused) {
  site->push(site->second);
  site->serve("tag-2");
  trust();
  expect_opened(open(), site->second);
  ASSERT_EQ(cache({"remove", site->second}).status, 0);
  site->push(site->first);
  expect_refused(open(), "EH-N34");
  site->serve("image-2");
  site->sign_index("safe", TrustSite::serial(9));
  an_hour_passes();
  expect_opened(open(), site->second);
}

TEST_F(TrustTableRegistry, FastForwardedTagIsRefused) {
  site->serve("tag-1");
  trust();
  site->push(site->second);
  expect_refused(open(), "EH-N34");
  site->serve("image-1");
  site->sign_index("safe", TrustSite::serial(9));
  an_hour_passes();
  expect_opened(open(), site->first);
}

TEST_F(TrustTableRegistry, MixedImagesAreRefused) {
  site->serve("image-1");
  trust();
  const fs::path image = images->server.blob(images->first);
  const std::string genuine = read_text(image);
  write_text(image, read_text(images->server.blob(images->second)));
  expect_refused(open(), "EH-N33");
  write_text(image, genuine);
}

TEST_F(TrustTableRegistry, ImageOfAStrippedIndexIsNotFetched) {
  site->serve("image-1");
  trust();
  read_repository();
  site->take_from("unsigned", "root");
  site->take_from("unsigned", "index.json.");
  expect_refused_without_asking("EH-M08");
}

TEST_F(TrustTableRegistry, ForgedBlobIsRefused) {
  site->serve("image-1");
  trust();
  const Json manifest = parse_json(read_text(TrustSite::manifest_in(site->served())), "manifest").value();
  std::vector<std::pair<fs::path, std::string>> genuine;
  for (const auto& [id, component] : manifest["components"].as_object()) {
    const fs::path blob = images->server.blob(component["artifacts"].as_array().at(0)["sha256"].as_string());
    genuine.emplace_back(blob, damage(blob));
  }
  expect_refused(open(), "EH-N08");
  for (const auto& [blob, bytes] : genuine) write_text(blob, bytes);
}

}  // namespace
}  // namespace enginehost::test
