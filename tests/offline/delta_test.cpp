#include "tests/offline/site.hpp"

namespace enginehost::offline {
namespace {

using testing::HasSubstr;

class Delta : public test::SiteTest {
 protected:
  Delta() {
    test::SiteComponent newer = test::runtime();
    newer.id = "runtime-2";
    newer.files.push_back({"lib/new.so", test::library("new")});
    site.add("sample-2", {test::plugin_of("2"), newer}, "2.0.0");
    bundle({"sample-1", "sample-2"});
    EXPECT_TRUE(site.export_to(site.request({"sample-1"}, "old.bundle")));
  }
  ExportRequest difference() {
    ExportRequest request = site.request({"sample-2"}, "new.bundle");
    EXPECT_TRUE(leave_out(request.selection, folder / "old.bundle"));
    return request;
  }
};

TEST_F(Delta, HoldsOnlyTheFilesThatTheEarlierBundleLacks) {
  const auto exported = site.export_to(difference());
  ASSERT_TRUE(exported) << exported.error().code;
  std::set<std::uint64_t> sizes;
  for (const Blob& blob : exported->list.files) sizes.insert(blob.size);
  EXPECT_EQ(exported->list.files.size(), 2u) << "the new plugin and the new library";
  EXPECT_FALSE(exported->list.needs.empty());
  EXPECT_LT(exported->size * 10, std::filesystem::file_size(folder / "site.bundle"));
  ASSERT_TRUE(exported->list.base);
  EXPECT_EQ(exported->list.base->name, "old.bundle");
}

TEST_F(Delta, IsImportedAfterItsBase) {
  ASSERT_TRUE(site.export_to(difference()));
  ASSERT_EQ(outcome(folder / "old.bundle"), "ok");
  ASSERT_EQ(outcome(folder / "new.bundle"), "ok");
  EXPECT_TRUE(store().verify("sample-2", true)->empty());
}

TEST_F(Delta, WithoutItsBaseTheMissingBundleIsNamed) {
  ASSERT_TRUE(site.export_to(difference()));
  const auto imported = import(folder / "new.bundle");
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, "EH-F44");
  EXPECT_EQ(imported.error().value(Key::base), "old.bundle");
  EXPECT_EQ(imported.error().values(Key::base_build), std::vector<std::string>{"sample-1"});
  expect_nothing();
}

TEST_F(Delta, ABaseInPartsOrAnotherDeltaServes) {
  ASSERT_TRUE(site.export_to(difference()));
  ExportRequest third = site.request({"sample-2"}, "third.bundle");
  ASSERT_TRUE(leave_out(third.selection, folder / "new.bundle"));
  const auto exported = site.export_to(third);
  ASSERT_TRUE(exported);
  EXPECT_TRUE(exported->list.files.empty()) << "new.bundle and what it builds upon have everything";
  ExportRequest parts = site.request({"sample-1"}, "parts.bundle");
  parts.largest_part = 100'000;
  ASSERT_TRUE(site.export_to(parts));
  ExportRequest fourth = site.request({"sample-1"}, "fourth.bundle");
  ASSERT_TRUE(leave_out(fourth.selection, folder / "parts.bundle"));
  ASSERT_TRUE(site.export_to(fourth));
  EXPECT_LT(std::filesystem::file_size(folder / "fourth.bundle"), 10'000u);
}

TEST_F(Delta, FilesOfAReadOnlyLayerServeAsBaseAndStayUntouched) {
  ASSERT_TRUE(site.export_to(difference()));
  ASSERT_EQ(outcome(folder / "old.bundle", "system"), "ok");
  const auto before = test::snapshot(folder / "system");
  ImportRequest request;
  request.file = folder / "new.bundle";
  const auto lab = cache::Store::open(folder / "lab", {folder / "system"});
  const auto imported = import_bundle(lab, request);
  ASSERT_TRUE(imported) << imported.error().code;
  EXPECT_EQ(imported->builds[0].installed.layer, folder / "lab");
  EXPECT_TRUE(lab.verify("sample-2", true)->empty());
  EXPECT_EQ(test::snapshot(folder / "system"), before);
}

TEST_F(Delta, ADamagedBaseIsDetected) {
  ASSERT_TRUE(site.export_to(difference()));
  ASSERT_EQ(outcome(folder / "old.bundle"), "ok");
  const auto installed = store().find("sample-1");
  const auto file = cache::Store::tree_folder(folder / "lab", (*installed)->trees[1]) / "lib/libruntime.so.1";
  std::string bytes = test::read_text(file);
  bytes[1000] ^= 1;
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  test::write_text(file, bytes);
  const auto imported = import(folder / "new.bundle");
  // The same bytes are there twice; either of the two may be used.
  if (!imported) {
    EXPECT_EQ(imported.error().code, "EH-F08");
    EXPECT_THAT(std::string(imported.error().value(Key::file)), HasSubstr("libruntime"));
  } else {
    EXPECT_TRUE(store().verify("sample-2", true)->empty());
  }
}

}  // namespace
}  // namespace enginehost::offline
