// Row 10 of the fault plan for the store's own entries: a folder in the place of a record or a list; a file,
// a pipe or a link in the place of a view or a tree. All are reported, nothing behind a link is changed, and
// the next install, repair, removal or collection succeeds without manual cleanup.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>

#include "cache/check.hpp"
#include "cache/store.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;

struct Odd {
  const char* name;
  std::function<void(const fs::path& place, const fs::path& elsewhere)> make;
};

const std::vector<Odd> odd_objects{
    {"AFile", [](const fs::path& place, const fs::path&) { test::write_text(place, "hello"); }},
    {"APipe", [](const fs::path& place, const fs::path&) { ASSERT_EQ(::mkfifo(place.c_str(), 0644), 0); }},
    {"ALoop", [](const fs::path& place, const fs::path&) { fs::create_symlink(place.filename(), place); }},
    {"ALink", [](const fs::path& place, const fs::path& elsewhere) { fs::create_symlink(elsewhere, place); }},
    {"AFolder", [](const fs::path& place, const fs::path&) { test::write_text(place / "x", "x"); }},
};

class UnexpectedEntries : public testing::TestWithParam<Odd> {
 protected:
  UnexpectedEntries() {
    installed = *test::install_small_build(store, "one");
    test::write_text(elsewhere / "stranger", "mine");
  }
  void put_at(const fs::path& place) const {
    fs::remove_all(place);
    GetParam().make(place, elsewhere);
  }
  bool is_folder() const { return std::string_view(GetParam().name) == "AFolder"; }
  void expect_reported(const fs::path& place) const {
    const auto found = check(store.root());
    ASSERT_TRUE(found);
    EXPECT_TRUE(std::any_of(found->begin(), found->end(), [&](const Violation& violation) {
      return violation.problem.diagnosis.value(Key::file) == place.native();
    })) << place;
  }
  void expect_whole() const {
    const auto found = check(store.root());
    ASSERT_TRUE(found);
    for (const Violation& violation : *found)
      ADD_FAILURE() << violation.invariant << " " << name_of(violation.problem.kind) << " "
                    << violation.problem.path;
    EXPECT_TRUE(store.find("one") && *store.find("one"));
    EXPECT_EQ(test::read_text(elsewhere / "stranger"), "mine");
  }
  // The reinstallation that an open or `verify --repair` makes of a damaged build.
  void install_again() {
    const auto again = test::install_small_build(store, "one");
    ASSERT_TRUE(again) << again.error().code << " " << again.error().value(Key::file);
  }
  Result<Repaired> repair() const {
    TRY_ASSIGN(Stage stage, store.stage(Store::key_of("one")));
    return store.repair("one", stage, test::bring_small_files);
  }

  test::TemporaryFolder folder;
  const fs::path elsewhere = folder / "elsewhere";
  Store store = Store::open(folder / "cache", {}, "unexpected_entries_test");
  Installed installed;
};

TEST_P(UnexpectedEntries, AtTheViewAreRepaired) {
  if (is_folder()) GTEST_SKIP() << "a folder belongs there";
  put_at(installed.folder);
  expect_reported(installed.folder);
  const auto repaired = repair();
  ASSERT_TRUE(repaired) << repaired.error().code;
  EXPECT_TRUE(repaired->left.empty());
  expect_whole();
}

TEST_P(UnexpectedEntries, AtTheViewStopNoInstall) {
  if (is_folder()) GTEST_SKIP() << "a folder belongs there";
  put_at(installed.folder);
  install_again();
  expect_whole();
}

TEST_P(UnexpectedEntries, AtATreeAreRepaired) {
  if (is_folder()) GTEST_SKIP() << "a folder belongs there";
  const fs::path tree = folder / ("cache/trees/" + installed.trees.at(1));
  put_at(tree);
  expect_reported(tree);
  const auto repaired = repair();
  ASSERT_TRUE(repaired) << repaired.error().code;
  EXPECT_TRUE(repaired->left.empty());
  expect_whole();
}

TEST_P(UnexpectedEntries, AtAListStopNoInstall) {
  const fs::path list = folder / ("cache/lists/" + installed.trees.at(1));
  put_at(list);
  fs::remove_all(installed.folder);
  // The lists of intact trees are rebuilt from the trees; see AtAListAreRebuiltFromTheTree.
  {
    auto stage = store.stage(Store::key_of("one"));
    ASSERT_TRUE(stage);
    ASSERT_TRUE(store.reject_damaged("one", *stage));
  }
  install_again();
  expect_whole();
}

// Nothing is fetched again, because there may be no network.
TEST_P(UnexpectedEntries, AtAListAreRebuiltFromTheTree) {
  const std::string tree = installed.trees.at(1);
  const fs::path list = folder / ("cache/lists/" + tree);
  const auto before = test::read_text(list);
  const FetchFiles nothing_comes = [](const auto&, const auto&, const auto&) -> Result<std::string> {
    return fail(diagnose(Code::host_not_found));
  };
  put_at(list);
  expect_reported(list);
  {
    auto stage = store.stage(Store::key_of("one"));
    ASSERT_TRUE(stage);
    const auto repaired = store.repair("one", *stage, nothing_comes);
    ASSERT_TRUE(repaired) << repaired.error().code;
    EXPECT_TRUE(repaired->left.empty());
    ASSERT_EQ(repaired->files.size(), 1u);
    EXPECT_EQ(repaired->files[0].problem.path, "lists/" + tree);
    EXPECT_EQ(repaired->files[0].from, "tree " + tree);
  }
  EXPECT_EQ(test::read_text(list), before);
  expect_whole();

  put_at(list);
  const auto damage = store.reject_if_damaged(tree);
  ASSERT_TRUE(damage);
  EXPECT_FALSE(*damage) << "the tree stays where it is";
  expect_whole();

  // But not for a tree that is damaged as well.
  put_at(list);
  const fs::path file = folder / ("cache/trees/" + tree + "/NOTICE");
  fs::remove(file);
  test::write_text(file, "Text\n");
  ASSERT_TRUE(*store.reject_if_damaged(tree));
  EXPECT_FALSE(fs::exists(folder / ("cache/trees/" + tree)));
}

// A user's file at the top of the layer is moved aside, and the next install makes the folder.
TEST_P(UnexpectedEntries, AtAFolderOfTheCacheAreMovedAside) {
  if (is_folder() || std::string_view(GetParam().name) == "ALink") GTEST_SKIP() << "that is one";
  for (const std::string name :
       {"trees", "lists", "views", "refs", "leases", "locks", "stage", "partial", "rejected", "pins"}) {
    SCOPED_TRACE(name);
    const fs::path place = folder / ("cache/" + name);
    put_at(place);
    ASSERT_EQ(store.unexpected_entries().size(), 1u);
    EXPECT_EQ(store.unexpected_entries()[0].value(Key::in_the_way), place.native());
    const auto collected = store.collect({});
    ASSERT_FALSE(collected) << "what keeps builds may be what cannot be read";
    EXPECT_EQ(collected.error().code, "EH-F23");
    install_again();
    EXPECT_TRUE(store.unexpected_entries().empty());
    EXPECT_TRUE(fs::is_directory(place));
    std::vector<fs::path> aside;
    for (const auto& entry : fs::directory_iterator(folder / "cache"))
      if (entry.path().filename().native().starts_with(name + ".aside-")) aside.push_back(entry.path());
    ASSERT_EQ(aside.size(), 1u);
    EXPECT_FALSE(fs::is_directory(fs::symlink_status(aside[0]))) << "as it was";
    auto stage = store.stage(Store::key_of("one"));
    ASSERT_TRUE(stage);
    const auto repaired = store.repair("one", *stage, test::bring_small_files);
    ASSERT_TRUE(repaired) << repaired.error().code;
    expect_whole();
  }
}

TEST_P(UnexpectedEntries, AtTheListOfOrphanedTreesAreMovedAside) {
  if (std::string_view(GetParam().name) == "AFile") GTEST_SKIP() << "a file belongs there";
  const fs::path note = folder / "cache/unrecorded";
  put_at(note);
  ASSERT_EQ(store.unexpected_entries().size(), 1u);
  EXPECT_EQ(store.unexpected_entries()[0].value(Key::in_the_way), note.native());
  const auto collected = store.collect({});
  ASSERT_FALSE(collected) << "the list of orphaned trees cannot be read";
  EXPECT_EQ(collected.error().code, "EH-F23");
  fs::remove_all(folder / "cache/refs");
  install_again();
  EXPECT_TRUE(store.unexpected_entries().empty());
  const auto is_aside = [](const fs::directory_entry& entry) {
    return entry.path().filename().native().starts_with("unrecorded.aside-");
  };
  EXPECT_EQ(std::count_if(fs::directory_iterator(folder / "cache"), fs::directory_iterator(), is_aside), 1);
  EXPECT_TRUE(store.collect({}));
  expect_whole();
}

TEST(CacheFolders, ALinkToAFolderElsewhereStays) {
  const test::TemporaryFolder folder;
  const Store store = Store::open(folder / "cache", {}, "unexpected_entries_test");
  ASSERT_TRUE(test::install_small_build(store, "one"));
  fs::rename(folder / "cache/trees", folder / "large-disk");
  fs::create_directory_symlink(folder / "large-disk", folder / "cache/trees");
  EXPECT_TRUE(store.unexpected_entries().empty());
  ASSERT_TRUE(test::install_small_build(store, "two"));
  EXPECT_TRUE(fs::is_symlink(folder / "cache/trees"));
}

TEST_P(UnexpectedEntries, AtTheRecordStopNeitherInstallNorRemovalNorCollection) {
  const fs::path ref = folder / "cache/refs/one.ref";
  const std::string_view name = GetParam().name;
  if (name == "ALoop" || name == "ALink") GTEST_SKIP() << "a link may lead to a record";
  put_at(ref);
  install_again();
  expect_whole();
  put_at(ref);
  if (is_folder()) {
    expect_reported(ref);
    const auto removed = store.remove("one");
    EXPECT_TRUE(removed) << removed.error().code << " " << removed.error().value(Key::os_said);
    install_again();
    put_at(ref);
    const auto collected = store.collect({});
    ASSERT_TRUE(collected);
    EXPECT_TRUE(collected->stayed.empty());
    EXPECT_FALSE(fs::exists(ref));
    EXPECT_FALSE(fs::exists(installed.folder)) << "freed";
  }
}

TEST(ClosedFolder, AViewWithoutPermissionsGetsThemBack) {
  const test::TemporaryFolder folder;
  const Store store = Store::open(folder / "cache", {}, "unexpected_entries_test");
  const Installed installed = *test::install_small_build(store, "one");
  ASSERT_EQ(::chmod(installed.folder.c_str(), 0), 0);
  {
    auto stage = store.stage(Store::key_of("one"));
    ASSERT_TRUE(stage);
    ASSERT_TRUE(store.repair("one", *stage, test::bring_small_files));
  }
  struct stat status {};
  ASSERT_EQ(::stat(installed.folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0700, 0700u);
}

TEST(NoStateFolder, AFileInItsPlaceStopsNoCollection) {
  const test::TemporaryFolder folder;
  const Store store = Store::open(folder / "cache", {}, "unexpected_entries_test");
  ASSERT_TRUE(test::install_small_build(store, "one"));
  fs::remove_all(folder / "cache/state");
  test::write_text(folder / "cache/state", "x");
  const auto collected = store.collect({});
  EXPECT_TRUE(collected) << collected.error().value(Key::folder);
}

INSTANTIATE_TEST_SUITE_P(Every, UnexpectedEntries, testing::ValuesIn(odd_objects),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace enginehost::cache
