// The table of attacks in docs/threat-model.md: what an attacker may do to a publisher's documents and files,
// by a web server, a bundle and a layer.
#include "tests/end-to-end/trust_table.hpp"
#include "base/text.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(TrustTable, SignedRepositoryOpens) {
  site->serve("first");
  trust();
  expect_opened(open(), site->first);
}

TEST_F(TrustTable, UnsignedRepositoryIsRefused) {
  site->serve("unsigned");
  expect_refused(open(), "EH-M10");
  trust();
  expect_refused(open(), "EH-M08");
}

TEST_F(TrustTable, FastForwardedRepositoryIsRefused) {
  site->serve("first");
  trust();
  read_repository();
  site->sign_index("stolen", TrustSite::serial(far_serial));
  expect_refused(open(), "EH-M11");
  site->serve("second");
  an_hour_passes();
  expect_opened(open(), site->second);
}

TEST_F(TrustTable, MixedRepositoryIsRefused) {
  trust();
  site->serve("first");
  site->take_from("second", "index.json.");
  expect_refused(open(), "EH-M09");
  site->serve("first");
  write_text(TrustSite::manifest_in(site->served()),
             read_text(TrustSite::manifest_in(site->in_state("second"))));
  an_hour_passes();
  expect_refused(open(), "EH-M05");
}

TEST_F(TrustTable, StrippedRepositoryIsRefused) {
  site->serve("first");
  trust();
  read_repository();
  site->serve("unsigned");
  expect_refused(open(), "EH-M08");
  an_hour_passes();
  expect_refused(open("reference", {"--repository", site->location(), "--allow-unsigned"}), "EH-M08");
}

TEST_F(TrustTable, ForgedArchiveOfARepositoryIsRefused) {
  site->serve("first");
  trust();
  for (const auto& archive : fs::directory_iterator(site->served("files"))) damage(archive);
  expect_refused(open(), "EH-N08");
}

TEST_F(TrustTable, SignedBundleOpens) {
  site->serve("first");
  trust();
  const Ended imported = import(site->bundle());
  ASSERT_EQ(imported.status, 0) << imported.said();
  EXPECT_EQ(imported.document["builds"].as_array().at(0)["signed_by"].as_array().size(), 1u);
  expect_opened(open_offline(), site->first);
}

TEST_F(TrustTable, UnsignedBundleIsRefused) {
  site->serve("unsigned");
  expect_import_refused(import(site->bundle()), "EH-M40");
  site->serve("first");
  expect_import_refused(import(site->bundle()), "EH-M10");
}

TEST_F(TrustTable, ExpiredBundleOpensWithAWarning) {
  site->serve("first");
  site->expire_index(2);
  trust();
  const Ended imported = import(site->bundle());
  ASSERT_EQ(imported.status, 0) << imported.said();
  EXPECT_THAT(imported.document["warnings"].dump(),
              HasSubstr(site->location() + " expired at 2020-01-01T00:00:00Z"));
  expect_opened(open_offline(), site->first);
}

TEST_F(TrustTable, RevokedKeyOfABundleIsRefused) {
  site->serve("revoked");
  trust("stolen");
  expect_import_refused(import(site->bundle()), "EH-M13");
  // An export takes along only signatures of keys that the root lists.
  trust();
  site->sign_index("stolen", TrustSite::serial(9));
  expect_import_refused(import(site->bundle()), "EH-M10");
}

// By the bundle's own index, for all users and for one.
TEST_F(TrustTable, BlockedBuildOfABundleIsRefused) {
  site->serve("blocked");
  trust();
  const std::string bundle = site->bundle();
  expect_import_refused(import(bundle), "EH-M14");
  expect_refused(cache({"import", bundle, "--json"}), "EH-M14");
}

TEST_F(TrustTable, RolledBackBundleIsRefused) {
  site->serve("second");
  trust();
  read_repository();
  site->serve("first");
  expect_import_refused(import(site->bundle()), "EH-M11");
}

TEST_F(TrustTable, FastForwardedBundleIsRefused) {
  site->serve("first");
  trust();
  read_repository();
  site->sign_index("stolen", TrustSite::serial(far_serial));
  expect_import_refused(import(site->bundle()), "EH-M11");
}

TEST_F(TrustTable, MixedBundleIsRefused) {
  site->serve("first");
  site->take_from("second", "index.json.");
  trust();
  expect_import_refused(import(site->bundle()), "EH-M09");
}

TEST_F(TrustTable, StrippedBundleIsRefused) {
  site->serve("unsigned");
  trust();
  expect_import_refused(import(site->bundle()), "EH-M08");
}

TEST_F(TrustTable, ForgedFilesOfABundleAreRefused) {
  trust();
  expect_import_refused(import(site->forged_bundle()), "EH-F40");
}

TEST_F(TrustTable, SignedLayerOpens) {
  site->serve("first");
  fill_layer();
  use_repository(false);
  expect_opened(open_offline(), site->first);
}

// The owner of the folder is what a user trusts, so a layer that everybody may change gives nothing.
TEST_F(TrustTable, UnsignedLayerOpensUnlessOthersMayChangeIt) {
  site->serve("unsigned");
  maintain("engine-cache",
           {"fetch", "reference", "--allow-unsigned", "--keep", "--repository", site->location()});
  use_repository(false);
  expect_opened(open_offline(), site->first, 0);
  fs::permissions(layer, fs::perms::all);
  const Ended ignored = open_offline();
  expect_refused(ignored, "EH-S02");
  EXPECT_THAT(ignored.document["warnings"].dump(), HasSubstr("EH-F22"));
}

TEST_F(TrustTable, ExpiredLayerOpensAndNothingNewIsInstalled) {
  site->serve("first");
  fill_layer();
  site->serve("second");
  site->expire_index(3);
  const Ended run = open();
  expect_opened(run, site->first);
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("expired at 2020-01-01T00:00:00Z"));
  expect_refused(open("reference@1.0.1"), "EH-M12");
  use_repository(false);
  expect_opened(open_offline(), site->first);
}

TEST_F(TrustTable, RevokedKeyOfALayerIsRefused) {
  site->serve("first");
  fill_layer();
  site->serve("revoked");
  site->sign_index("stolen", TrustSite::serial(9));
  expect_only_the_layer_serves(site->first, "EH-M13");
}

TEST_F(TrustTable, BlockedBuildOfALayerDoesNotOpen) {
  site->serve("first");
  fill_layer();
  use_repository(false);
  expect_opened(open_offline(), site->first);
  site->serve("blocked");
  // The user reads the block, or the administrator does so for all users.
  use_repository(true);
  read_repository();
  use_repository(false);
  expect_blocked(open_offline());
  fs::remove_all(user.cache());
  expect_opened(open_offline(), site->first);
  maintain("engine-info", {"reference", "--plan", "--refresh", "--repository", site->location()});
  expect_blocked(open_offline());
}

// A layer's memory of the repository counts for a user who reads it for the first time.
TEST_F(TrustTable, RolledBackRepositoryIsRefusedByALayersMemory) {
  site->serve("second");
  fill_layer();
  site->serve("first");
  expect_only_the_layer_serves(site->second, "EH-M11");
}

TEST_F(TrustTable, FastForwardedRepositoryIsRefusedByALayersMemory) {
  site->serve("first");
  fill_layer();
  site->sign_index("stolen", TrustSite::serial(far_serial));
  expect_only_the_layer_serves(site->first, "EH-M11");
}

TEST_F(TrustTable, StrippedRepositoryIsRefusedByALayersMemory) {
  site->serve("first");
  fill_layer();
  site->serve("unsigned");
  expect_only_the_layer_serves(site->first, "EH-M08");
}

// The record of one build names the files of another.
TEST_F(TrustTable, MixedRecordOfALayerDoesNotOpen) {
  site->serve("second");
  fill_layer("reference@1.0.0");
  fill_layer("reference@1.0.1");
  use_repository(false);
  expect_opened(open_offline("reference@1.0.0"), site->first);
  const auto lines = [&](const std::string& build) {
    return split(read_text(layer / "refs" / (build + ".ref")), '\n');
  };
  std::vector<std::string> mixed = lines(site->first);
  const std::vector<std::string> other = lines(site->second);
  ASSERT_EQ(mixed.size(), other.size());
  for (std::size_t i = 0; i < mixed.size(); ++i)
    for (const char* key : {"digest ", "tree ", "file "})
      if (other[i].starts_with(key)) mixed[i] = other[i];
  write_text(layer / "refs" / (site->first + ".ref"), join(mixed, "\n"));
  expect_refused(open_offline("reference@1.0.0"), "EH-N10");
}

TEST_F(TrustTable, ForgedFileOfALayerDoesNotOpen) {
  site->serve("first");
  fill_layer();
  for (const auto& view : fs::directory_iterator(layer / "views"))
    write_text(view.path() / "libengine_toy.so", reference_plugin() + "forged");
  use_repository(false);
  expect_refused(open_offline(), "EH-F08");
  use_repository(true);
  const Ended run = open();
  expect_opened(run, site->first);
  EXPECT_THAT(run.outcome()["library"].as_string(), StartsWith(user.cache().native())) << "fetched again";
}

}  // namespace
}  // namespace enginehost::test
