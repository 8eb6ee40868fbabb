#include "cache/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#include <array>
#include <barrier>
#include <chrono>
#include <thread>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;
using test::install_small_build;

class StoreTest : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  Store store = Store::open(folder / "cache", {}, "store_test");
  Installed install(const std::string& build = "one") {
    auto installed = install_small_build(store, build);
    EXPECT_TRUE(installed) << (installed ? "" : std::string(installed.error().code_text()));
    return installed ? *installed : Installed{};
  }
  // Installed files are read-only. Damages a file as a user with the right to do so would, and keeps its
  // mode.
  static void damage(const fs::path& file, std::string_view bytes) {
    calls::chmod(file.c_str(), 0644);
    test::write_text(file, bytes);
    calls::chmod(file.c_str(), 0444);
  }
  std::string code_of_find(const std::string& build = "one") {
    const auto found = store.find(build);
    if (!found) return std::string(found.error().code_text());
    return *found ? "found" : "none";
  }
};

TEST_F(StoreTest, FindsNothingInACacheThatDoesNotExist) {
  EXPECT_EQ(code_of_find(), "none");
  EXPECT_TRUE(store.list().empty());
  EXPECT_FALSE(fs::exists(folder / "cache")) << "looking must not make anything";
}

TEST_F(StoreTest, FindsWhatWasInstalledWithEverythingAnOpenNeeds) {
  install();
  const auto found = store.find("one");
  ASSERT_TRUE(found && *found);
  const Installed& installed = **found;
  EXPECT_EQ(installed.engine, "small");
  EXPECT_EQ(installed.search, std::vector<std::string>{"lib"});
  EXPECT_EQ(installed.options.at(0).second, "1");
  EXPECT_EQ(installed.manifest, "{\"format\": 1}");
  EXPECT_EQ(installed.files.size(), 2u) << "the loadable ones";
  EXPECT_EQ(installed.digest, digest_of_trees(installed.trees));
#ifndef _WIN32  // Wine 8 makes no links
  EXPECT_EQ(test::read_text(installed.folder / "lib/shared.so").substr(1, 3), "ELF");
#endif
  EXPECT_EQ(installed.size,
            test::library_bytes("plugin one").size() + test::large_library_bytes().size() + 5);
}

TEST_F(StoreTest, ListsSummariesSortedById) {
  install("two");
  install("one");
  const auto list = store.list();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].build, "one");
  EXPECT_EQ(list[1].flavor, "cpu");
  EXPECT_GT(list[1].size, 0u);
}

TEST_F(StoreTest, NamesTheFileThatIsMissing) {
  const Installed installed = install();
  fs::remove(installed.folder / "lib/shared.so.1");
  const auto found = store.find("one");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "EH-F01");
  EXPECT_EQ(found.error().value(Key::file), path_text(installed.folder / "lib/shared.so.1"));
  EXPECT_EQ(found.error().value(Key::build), "one");
  EXPECT_FALSE(found.error().value(Key::needed_size).empty());
}

TEST_F(StoreTest, DistinguishesEmptyCutAndChangedFiles) {
  const Installed installed = install();
  const fs::path file = installed.folder / "lib/shared.so.1";
  const std::string bytes = test::read_text(file);
  damage(file, "");
  EXPECT_EQ(code_of_find(), "EH-F02");
  damage(file, bytes.substr(0, 100));
  const auto cut = store.find("one");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, "EH-F04");
  EXPECT_EQ(cut.error().value(Key::size), "100");
  EXPECT_EQ(cut.error().value(Key::needed_size), std::to_string(bytes.size()));
  std::string changed = bytes;
  changed[10] ^= 1;
  damage(file, changed);
  const auto other = store.find("one");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "EH-F08");
  EXPECT_FALSE(other.error().value(Key::found).empty());
}

TEST_F(StoreTest, AcceptsACopiedCacheAndRemembersItsStamps) {
  install();
  fs::copy(folder / "cache", folder / "copy", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const Store copy = Store::open(folder / "copy");
  const auto found = copy.find("one");
  ASSERT_TRUE(found && *found);
  const auto record = copy.record_of("one");
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->files.at(0).inode, stamp_of((*record)->folder / (*record)->files.at(0).path)->inode);
}

TEST_F(StoreTest, VerifyNamesEveryBadFileAndForeignFiles) {
#ifdef _WIN32
  GTEST_SKIP() << "Wine 8 makes no links";
#endif
  const Installed installed = install();
  EXPECT_TRUE(store.verify("one", true)->empty());
  std::string bytes = test::read_text(installed.folder / "NOTICE");
  damage(installed.folder / "NOTICE", "TEXT\n");
  fs::remove(installed.folder / "lib/shared.so");
  test::write_text(installed.folder / "lib/stranger.so", "x");
  EXPECT_EQ(store.verify("one", false)->size(), 2u) << "sizes are right: only a deep look sees NOTICE";
  const auto problems = store.verify("one", true);
  ASSERT_TRUE(problems);
  std::vector<std::string> seen;
  for (const Problem& problem : *problems)
    seen.push_back(std::string(name_of(problem.kind)) + " " + problem.path);
  EXPECT_THAT(seen, testing::UnorderedElementsAre("wrong bytes NOTICE", "missing lib/shared.so",
                                                  "unexpected lib/stranger.so"));
  EXPECT_FALSE(store.verify("two", false));
}

TEST_F(StoreTest, ReinstallingRepairsADamagedBuild) {
  const Installed installed = install();
  damage(installed.folder / "lib/shared.so.1", "cut");
  fs::remove(installed.folder / "lib/plugin-one.so.1");
  test::write_text(installed.folder / "lib/stranger.so", "x");
  ASSERT_EQ(code_of_find().substr(0, 4), "EH-F");
  install();
  EXPECT_EQ(code_of_find(), "found");
  EXPECT_TRUE(store.verify("one", true)->empty());
  EXPECT_FALSE(fs::is_empty(folder / "cache/rejected"));
}

TEST_F(StoreTest, RepairDoesNotDisturbAProcessThatHasTheFileOpen) {
  const Installed installed = install();
  const FileDescriptor open(
      calls::open((installed.folder / "lib/shared.so.1").c_str(), O_RDONLY | O_CLOEXEC));
  calls::Status before{};
  calls::fstat(open.get(), &before);
  damage(installed.folder / "NOTICE", "TEXT\n");
  install();
  calls::Status after{};
  calls::fstat(open.get(), &after);
  EXPECT_EQ(before.st_size, after.st_size);
  EXPECT_GT(after.st_nlink, 0u);
}

TEST_F(StoreTest, RefusesTwoTreesWithDifferentBytesUnderOnePath) {
  auto stage = store.stage("key");
  ASSERT_TRUE(stage);
  const auto one = test::publish(store, *stage, "one", {{"lib/one.so.1", "1"}, {"LICENSE", "mit"}});
  const auto two = test::publish(store, *stage, "two", {{"lib/two.so.1", "2"}, {"LICENSE", "bsd"}});
  ASSERT_TRUE(one && two);
  const auto view = store.make_view({*one, *two}, *stage);
  ASSERT_FALSE(view);
  EXPECT_EQ(view.error().code, "EH-F20");
  EXPECT_EQ(view.error().value(Key::path), "LICENSE");
}

TEST_F(StoreTest, RemovesOneBuildAndKeepsWhatOthersShare) {
  install("one");
  const Installed two = install("two");
  ASSERT_TRUE(store.remove("one"));
  EXPECT_EQ(code_of_find("one"), "none");
  EXPECT_TRUE(store.verify("two", true)->empty());
  const auto freed = store.remove("two");
  ASSERT_TRUE(freed);
  EXPECT_GT(*freed, 3000u);
  EXPECT_TRUE(fs::is_empty(folder / "cache/trees"));
  EXPECT_TRUE(fs::is_empty(folder / "cache/views"));
  EXPECT_TRUE(fs::is_empty(folder / "cache/lists"));
  EXPECT_TRUE(fs::is_empty(folder / "cache/stage"));
  EXPECT_EQ(store.remove("two").error().code, "EH-S23");
}

TEST_F(StoreTest, ABuildRemovedDuringAnInstallIsFreedByTheInstaller) {
  install("one");
  {
    const auto stage = store.stage("something");
    ASSERT_TRUE(stage);
    EXPECT_EQ(store.remove("one").value(), 0u);
    EXPECT_EQ(code_of_find("one"), "none");
    EXPECT_FALSE(fs::is_empty(folder / "cache/trees")) << "it could be one that is just being used again";
    EXPECT_EQ(store.sweep_if_wanted().value(), 0u) << "not while a stage lives";
    EXPECT_FALSE(fs::is_empty(folder / "cache/trees"));
  }
  EXPECT_GT(store.sweep_if_wanted().value(), 3000u);
  EXPECT_TRUE(fs::is_empty(folder / "cache/trees"));
  EXPECT_TRUE(fs::is_empty(folder / "cache/views"));
  install("two");
  EXPECT_EQ(store.sweep_if_wanted().value(), 0u) << "done once";
}

TEST_F(StoreTest, DoesNotRemoveABuildInUse) {
  const Installed installed = install();
  {
    const auto lease = store.lease(installed);
    ASSERT_TRUE(lease);
    const auto removed = store.remove("one");
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code, "EH-F18");
    EXPECT_EQ(code_of_find(), "found");
  }
  EXPECT_TRUE(store.remove("one"));
  EXPECT_FALSE(store.lease(installed)) << "it is gone";
}

TEST_F(StoreTest, LooksIntoReadOnlyLayersFirst) {
  install("one");
  const Store layered = Store::open(folder / "user", {folder / "cache"});
  const auto found = layered.find("one");
  ASSERT_TRUE(found && *found);
  EXPECT_TRUE((*found)->read_only);
  EXPECT_EQ((*found)->layer, folder / "cache");
  EXPECT_TRUE(layered.lease(**found));
  EXPECT_EQ(layered.list().size(), 1u);
}

TEST_F(StoreTest, RefusesToWriteIntoACacheOfANewerFormat) {
  install();
  test::write_text(folder / "cache/LAYER.json", "{\"format\": 2}");
  EXPECT_EQ(code_of_find(), "found");
  const auto stage = store.stage("key");
  ASSERT_FALSE(stage);
  EXPECT_EQ(stage.error().code, "EH-F16");
  EXPECT_EQ(stage.error().value(Key::format), "2");
}

TEST_F(StoreTest, AnEmptyCacheIsMadeByManyAtOnce) {
  for (int round = 0; round < 60; ++round) {
    const Store fresh = Store::open(folder / std::to_string(round), {}, "store_test");
    std::array<std::string, 6> reported;
    std::barrier<> at_once(reported.size());
    std::vector<std::thread> threads;
    for (std::string& one : reported)
      threads.emplace_back([&] {
        at_once.arrive_and_wait();
        const auto made = fresh.prepare();
        one = made ? "made" : std::string(made.error().code_text());
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(reported, testing::Each("made"));
    EXPECT_FALSE(fs::exists(fresh.root() / "unrecorded"));
  }
}

TEST_F(StoreTest, ReportsNeededAndFreeSpace) {
  ASSERT_TRUE(store.prepare());
  EXPECT_TRUE(store.require_space(1));
  const auto refused = store.require_space(std::uint64_t{1} << 62);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-F15");
  EXPECT_EQ(refused.error().value(Key::folder), path_text(folder / "cache"));
  // Plain numbers for programs; the sentence for people has "4.0 TiB".
  EXPECT_EQ(refused.error().value(Key::needed), std::to_string(std::uint64_t{1} << 62));
  EXPECT_TRUE(parse_integer(refused.error().value(Key::free)));
}

TEST_F(StoreTest, SweepingKeepsUnfinishedBuilds) {
  auto stage = store.stage("key");
  ASSERT_TRUE(stage);
  ASSERT_TRUE(test::publish(store, *stage, "orphan", {{"lib/orphan.so.1", "1"}}));
  ASSERT_TRUE(store.sweep());
  EXPECT_FALSE(fs::is_empty(folder / "cache/trees"));
  { const Stage ended = std::move(*stage); }
  ASSERT_TRUE(store.sweep());
  EXPECT_TRUE(fs::is_empty(folder / "cache/trees"));
}

TEST_F(StoreTest, I5LeftoversOfAKilledWriterGoAfterADay) {
  install();
  const fs::path fresh = folder / "cache/refs/.one.ref.0123456789ab",
                 old = folder / "cache/refs/.one.ref.ba9876543210",
                 of_others = folder / "cache/state/machine/history/.one.json.ba9876543210",
                 record = folder / "cache/state/machine/history/one.json";
  for (const fs::path& file : {fresh, old, of_others, record}) test::write_text(file, "half");
  for (const fs::path& file : {old, of_others, record})
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(25));
  ASSERT_TRUE(store.sweep());
  EXPECT_TRUE(fs::exists(fresh)) << "it may be someone's who writes just now";
  EXPECT_EQ(code_of_find(), "found");
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(of_others));
  EXPECT_TRUE(fs::exists(record));
}

#ifndef _WIN32
// Several users may keep their state below one cache.
TEST_F(StoreTest, I5AClosedStateFolderDoesNotKeepOtherLeftovers) {
  install();
  constexpr ::uid_t nobody = 65534;
  std::vector<fs::path> old, closed;
  for (int i = 0; i < 8; ++i) {
    const std::string number = std::to_string(i);
    old.push_back(folder / ("cache/state/open" + number + "/.one.json.ba9876543210"));
    closed.push_back(folder / ("cache/state/closed" + number));
    test::write_text(old.back(), "half");
    fs::last_write_time(old.back(), fs::file_time_type::clock::now() - std::chrono::hours(25));
    fs::create_directories(closed.back());
  }
  const bool as_root = ::geteuid() == 0;
  if (as_root) {
    ASSERT_EQ(::chown(folder.path().c_str(), nobody, nobody), 0);
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      ASSERT_EQ(::lchown(entry.path().c_str(), nobody, nobody), 0);
  }
  for (const fs::path& one : closed) fs::permissions(one, fs::perms::none);
  ASSERT_TRUE(!as_root || ::seteuid(nobody) == 0);
  const bool swept = store.sweep().has_value();
  ASSERT_TRUE(!as_root || ::seteuid(0) == 0);
  for (const fs::path& one : closed) fs::permissions(one, fs::perms::owner_all);
  EXPECT_TRUE(swept);
  for (const fs::path& one : old) EXPECT_FALSE(fs::exists(one)) << one;
}

// Root worked in the cache once, without --reference to its owner.
TEST_F(StoreTest, FilesOfAnotherUserInACacheAreNamedWithTheirOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving a cache to another user needs root";
  const Installed record = install();
  constexpr ::uid_t nobody = 65534;
  ASSERT_EQ(::chown(folder.path().c_str(), nobody, nobody), 0);
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    ASSERT_EQ(::lchown(entry.path().c_str(), nobody, nobody), 0);
  const fs::path foreign = folder / "cache/trees" / record.trees.at(0);
  ASSERT_EQ(::chown(foreign.c_str(), 0, 0), 0);
  ASSERT_EQ(::seteuid(nobody), 0);
  std::vector<Diagnosis> stayed;
  const auto freed = store.remove(record.build, &stayed);
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_TRUE(freed) << freed.error().code;
  ASSERT_EQ(stayed.size(), 1u) << "its record and its view are the user's own";
  EXPECT_EQ(stayed[0].code, "EH-F16");
  EXPECT_EQ(stayed[0].value(Key::foreign), foreign.native());
  EXPECT_EQ(stayed[0].value(Key::foreign_owner), "0");
}
#endif

TEST_F(StoreTest, BuildIdsCannotNameFilesOutsideTheStore) {
  Installed record = install();
  record.build = "../../evil";
  ASSERT_TRUE(store.write_ref(record));
  ASSERT_TRUE(store.stage("../../evil"));
  EXPECT_EQ(code_of_find("../../evil"), "found");
  for (const auto& entry : fs::directory_iterator(folder.path())) EXPECT_EQ(entry.path().filename(), "cache");
}

TEST(Record, IsReadBackWithAnyText) {
  Installed installed;
  installed.build = "a\nb\\c";
  installed.digest = std::string(64, 'd');
  installed.options = {{"name", "va=l\nue"}};
  installed.manifest = "{\"a\": \"\\n\"}";
  installed.files = {{"lib/a b.so", 1, 2, 3}};
  const auto again = read_record(write_record(installed), "record");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->build, installed.build);
  EXPECT_EQ(again->options, installed.options);
  EXPECT_EQ(again->manifest, installed.manifest);
  EXPECT_EQ(again->files.at(0).path, "lib/a b.so");
  EXPECT_EQ(again->files.at(0).inode, 2u);
}

// Caches hold records of this form, with values of every kind.
TEST(Record, OfBeforeIsReadAndWrittenTheSame) {
  const std::string text =
      "enginehost-ref 1\nbuild reference-1.0-cpu-linux\nengine reference\nversion 1.0\nflavor cpu\ndigest " +
      std::string(64, 'a') + "\nartifacts " + std::string(64, 'b') +
      "\nplugin lib/engine.so\norigin https://a.example/r\nfiles_by archive\ninstalled_at 1764270000\n"
      "size 1234\ntree " +
      std::string(64, 'c') +
      "\nsearch lib\nsigner k1\nsigner k2\nstand_in libcudart.so.13\noptional libodd.so\noption "
      "path=C:\\\\a\\nb\\r\n"
      "file 1200 1764270000123456789 77 lib/engine one.so\nmanifest {\"a\": \"\\\\n\"}\nend\n";
  const auto record = read_record(text, "record");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->options.at(0).second, "C:\\a\nb\r");
  EXPECT_EQ(record->files.at(0).path, "lib/engine one.so");
  EXPECT_EQ(record->files.at(0).modified_ns, 1764270000123456789);
  EXPECT_EQ(record->signers.size(), 2u);
  EXPECT_EQ(write_record(*record), text);
}

TEST(Record, CutAnywhereIsAnErrorAndNeverAnotherRecord) {
  Installed installed;
  installed.build = "one";
  installed.digest = std::string(64, 'd');
  installed.files = {{"lib/a.so", 10, 20, 30}};
  const std::string text = write_record(installed);
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(read_record(text.substr(0, length), "record")) << length;
}

}  // namespace
}  // namespace enginehost::cache
