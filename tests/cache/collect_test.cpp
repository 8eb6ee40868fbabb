// Which builds and trees a collection removes and which it keeps.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "cache/check.hpp"
#include "cache/lock.hpp"
#include "cache/store.hpp"
#include "cache/store_inside.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t day = 24 * 3600;

class Collecting : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  Store store = Store::open(folder / "cache", {}, "collect_test");

  Installed install(const std::string& build, std::int64_t used_days_ago = 0) {
    auto installed = test::install_small_build(store, build);
    EXPECT_TRUE(installed) << (installed ? "" : std::string(installed.error().code_text()));
    used(*installed, used_days_ago);
    return std::move(*installed);
  }
  fs::path lease_of(const Installed& installed) const {
    return folder / ("cache/leases/" + installed.digest + ".lk");
  }
  // Makes the build look as if its last lease had been then. The time in its record is overwritten too.
  void used(const Installed& installed, std::int64_t days_ago) const {
    const timespec then{std::time(nullptr) - days_ago * day, 0};
    const timespec times[2] = {then, then};
    ASSERT_EQ(::utimensat(AT_FDCWD, lease_of(installed).c_str(), times, 0), 0);
    const fs::path ref = folder / ("cache/refs/" + installed.build + ".ref");
    std::string text = test::read_text(ref);
    const std::size_t at = text.find("installed_at ");
    text.replace(at, text.find('\n', at) - at, "installed_at " + std::to_string(then.tv_sec));
    test::write_text(ref, text);
  }
  Collected collect(const CollectOptions& options) const {
    auto collected = store.collect(options);
    EXPECT_TRUE(collected) << (collected ? "" : std::string(collected.error().code_text()));
    return collected ? std::move(*collected) : Collected{};
  }
  static CollectOptions older_than_days(std::int64_t days) {
    CollectOptions options;
    options.max_age = std::chrono::seconds(days * day);
    return options;
  }
  static std::vector<std::string> names(const std::vector<Collected::Build>& builds) {
    std::vector<std::string> all;
    for (const auto& build : builds) all.push_back(build.build);
    return all;
  }
  std::vector<std::string> installed() const {
    std::vector<std::string> all;
    for (const Installed& build : store.list()) all.push_back(build.build);
    return all;
  }
  void expect_sound(bool at_rest = true) const {
    CheckOptions options;
    options.at_rest = at_rest;
    const auto violations = check(store.root(), options);
    ASSERT_TRUE(violations);
    for (const Violation& violation : *violations)
      ADD_FAILURE() << violation.invariant << " " << violation.build << " " << violation.problem.path;
  }
};

TEST_F(Collecting, WithoutABoundRemovesOnlyUnreferencedTrees) {
  install("one", 400);
  fs::create_directories(folder / "cache/trees/0000");
  fs::create_directories(folder / "cache/stage/dead/s1");
  const Collected done = collect({});
  EXPECT_THAT(done.removed, IsEmpty());
  EXPECT_THAT(installed(), ElementsAre("one"));
  EXPECT_FALSE(fs::exists(folder / "cache/trees/0000"));
  expect_sound();
}

TEST_F(Collecting, RemovesBuildsUnusedForTheGivenTime) {
  install("old", 40);
  install("young", 20);
  const Collected done = collect(older_than_days(30));
  EXPECT_THAT(names(done.removed), ElementsAre("old"));
  EXPECT_EQ(done.removed.at(0).why, "not used for 40 days");
  EXPECT_THAT(installed(), ElementsAre("young"));
  EXPECT_GT(done.physical_before, done.physical_after);
  expect_sound();
}

TEST_F(Collecting, ALeaseIsAUse) {
  const Installed old = install("old", 40);
  { ASSERT_TRUE(store.lease(old)); }
  EXPECT_THAT(collect(older_than_days(30)).removed, IsEmpty());
}

TEST_F(Collecting, ACollectionIsNoUse) {
  const Installed old = install("old", 40);
  CollectOptions look = older_than_days(30);
  look.dry_run = true;
  EXPECT_THAT(names(collect(look).removed), ElementsAre("old"));
  EXPECT_THAT(names(collect(look).removed), ElementsAre("old"));
}

TEST_F(Collecting, RemovesTheLongestUnusedFirstDownToNineTenths) {
  // They share most of their bytes, so that removing one frees only its own.
  for (int i = 0; i < 12; ++i) install("b" + std::to_string(10 + i), 100 - i);
  const std::uint64_t before = store.usage().physical;
  const std::uint64_t own = before - collect(older_than_days(100)).physical_after;
  ASSERT_GT(own, 0u);
  CollectOptions options;
  options.max_bytes = before - own - 1;
  const std::uint64_t low_water = *options.max_bytes / 10 * 9;
  const Collected done = collect(options);
  ASSERT_GE(done.removed.size(), 2u);
  ASSERT_LT(done.removed.size(), 11u);
  for (std::size_t i = 0; i < done.removed.size(); ++i)
    EXPECT_EQ(done.removed[i].build, "b" + std::to_string(11 + i)) << "in the order of their last use";
  EXPECT_LE(done.physical_after, low_water);
  EXPECT_GT(done.physical_after + 2 * own, low_water) << "and no more than that";
  expect_sound();
}

TEST_F(Collecting, RemovesNothingBelowTheBound) {
  install("one", 400);
  CollectOptions options;
  options.max_bytes = std::uint64_t{1} << 40;
  EXPECT_THAT(collect(options).removed, IsEmpty());
}

TEST_F(Collecting, RemovesUnreferencedTreesBeforeAnyBuild) {
  install("one", 90);
  const std::uint64_t builds = store.usage().physical;
  const std::string digest(64, 'a'), busy(64, 'b');
  test::write_text(folder / ("cache/rejected/" + digest + ".0123/file"), std::string(1 << 20, 'r'));
  test::write_text(folder / ("cache/partial/" + digest), std::string(1 << 20, 'p'));
  test::write_text(folder / ("cache/partial/" + busy), std::string(1 << 20, 'q'));
  CollectOptions options;
  options.max_bytes = builds + (2u << 20);
  options.dry_run = true;
  EXPECT_LE(collect(options).physical_after, *options.max_bytes);
  options.dry_run = false;
  {
    const auto downloading = store.stage("archive-" + busy);
    ASSERT_TRUE(downloading);
    const Collected done = collect(options);
    EXPECT_THAT(done.removed, IsEmpty());
    EXPECT_FALSE(done.bound_missed);
  }
  EXPECT_TRUE(fs::is_empty(folder / "cache/rejected"));
  EXPECT_FALSE(fs::exists(folder / ("cache/partial/" + digest)));
  EXPECT_TRUE(fs::exists(folder / ("cache/partial/" + busy))) << "somebody is at work on it";
}

TEST_F(Collecting, RemovesNoBuildWhereThatCannotReachTheBound) {
  install("pinned", 90);
  install("free", 90);
  ASSERT_TRUE(store.pin("pinned"));
  CollectOptions options;
  options.max_bytes = 1000;
  const Collected done = collect(options);
  EXPECT_THAT(done.removed, IsEmpty());
  EXPECT_TRUE(done.bound_missed);
  EXPECT_THAT(names(done.kept), ElementsAre("pinned"));
  EXPECT_EQ(installed().size(), 2u);
  ASSERT_TRUE(store.unpin("pinned"));
  EXPECT_EQ(collect(options).removed.size(), 2u);
}

TEST_F(Collecting, AnUnreadableRecordIsReportedAndLosesNoBuild) {
  install("one", 90);
  test::write_text(folder / "cache/refs/bad.ref", "no record\n");
  CollectOptions everything;
  everything.max_bytes = 0;
  everything.max_age = 0s;
  const Collected done = collect(everything);
  EXPECT_THAT(done.removed, IsEmpty());
  ASSERT_EQ(done.stayed.size(), 1u);
  EXPECT_THAT(std::string(done.stayed[0].value(Key::file)), testing::HasSubstr("bad.ref"));
  fs::remove(folder / "cache/refs/bad.ref");
  EXPECT_THAT(collect(everything).stayed, IsEmpty());
  EXPECT_THAT(installed(), IsEmpty());
}

TEST_F(Collecting, AnUnreadableRecordIsReportedBesideWhatElseStays) {
  install("one");
  test::write_text(folder / "cache/refs/bad.ref", "no record\n");
  test::write_text(folder / "cache/partial/half", "half");
  const fs::path lock = inside::lock_file(store.root(), "archive-half");
  fs::create_symlink(lock, lock);  // ELOOP, also for root
  // Another process is installing, so the sweep, which would report the record, is left to it.
  const auto making = FileLock::try_exclusive(inside::publishing_lock(store.root()), "another");
  ASSERT_TRUE(making && *making);
  CollectOptions everything;
  everything.max_bytes = 0;
  const Collected done = collect(everything);
  EXPECT_TRUE(done.left_to_maker);
  ASSERT_EQ(done.stayed.size(), 2u);
  EXPECT_THAT(std::string(done.stayed[0].value(Key::file)), testing::HasSubstr("archive-half"));
  EXPECT_THAT(std::string(done.stayed[1].value(Key::file)), testing::HasSubstr("bad.ref"));
}

TEST_F(Collecting, OrphanedTreesStayUnlessTheirRemovalIsRequested) {
  const auto trees_here = [&] {
    std::size_t count = 0;
    for (const auto& tree : fs::directory_iterator(folder / "cache/trees"))
      count += tree.is_directory() ? 1 : 0;
    return count;
  };
  const Installed one = install("one");
  install("other");
  const std::size_t all = trees_here();
  ASSERT_GE(all, 2u);
  for (const bool a_file : {false, true}) {
    fs::remove_all(folder / "cache/refs");
    if (a_file) {
      test::write_text(folder / "cache/refs", "mine");
      ASSERT_TRUE(store.move_aside(folder / "cache/refs"));
    }
    CollectOptions looking;
    looking.dry_run = true;
    EXPECT_EQ(collect(looking).orphaned.size(), all);
    const Collected kept = collect({});
    EXPECT_EQ(kept.orphaned.size(), all);
    EXPECT_GT(kept.orphaned.front().size, 0u);
    EXPECT_EQ(trees_here(), all);
  }
  // A reinstalled build is a normal one; the other trees stay even when everything removable is removed.
  install("one");
  CollectOptions nothing_left;
  nothing_left.max_bytes = 0;
  EXPECT_THAT(names(collect(nothing_left).removed), ElementsAre("one"));
  EXPECT_EQ(trees_here(), all - one.trees.size());
  install("one");
  EXPECT_EQ(collect({}).orphaned.size(), all - one.trees.size());
  CollectOptions what_would_go;
  what_would_go.orphaned = what_would_go.dry_run = true;
  EXPECT_LT(collect(what_would_go).physical_after, collect({}).physical_after);
  CollectOptions asked;
  asked.orphaned = true;
  EXPECT_EQ(collect(asked).orphaned.size(), all - one.trees.size());
  EXPECT_EQ(trees_here(), one.trees.size());
  EXPECT_FALSE(fs::exists(folder / "cache/unrecorded"));
  EXPECT_THAT(collect({}).orphaned, IsEmpty());
  expect_sound();
  ASSERT_TRUE(store.remove("one"));
  EXPECT_EQ(trees_here(), 0u);
}

// A folder that may exist is never treated as empty, because everything that it might refer to would be
// freed.
TEST_F(Collecting, UnreadableRecordsAndTreesAreNotTakenForNone) {
  install("one");
  const auto hide = [&](const char* name) {
    fs::rename(folder / "cache" / name, folder / name);
    fs::create_symlink(std::string(300, 'x'), folder / "cache" / name);  // ENAMETOOLONG, also for root
  };
  hide("refs");
  const auto records = inside::referred(store.root());
  ASSERT_FALSE(records);
  EXPECT_EQ(records.error().code, "EH-F23");
  fs::remove(folder / "cache/refs");
  hide("trees");
  const auto noted = inside::note_orphaned_trees(store.root());
  ASSERT_FALSE(noted);
  EXPECT_EQ(noted.error().code, "EH-F23");
  EXPECT_FALSE(fs::exists(folder / "cache/unrecorded"));
}

TEST_F(Collecting, KeepsWhatCannotBeRemovedAndRemovesTheRest) {
  install("one");
  for (const char* id : {"0000", "ffff"}) fs::create_directories(folder / "cache/trees" / id / "lib");
  const fs::path busy = folder / "cache/trees/0000";
  if (::mount("none", busy.c_str(), "tmpfs", 0, nullptr) != 0) GTEST_SKIP() << "mounting needs root";
  const Collected done = collect({});
  EXPECT_EQ(::umount(busy.c_str()), 0);
  ASSERT_EQ(done.stayed.size(), 1u);
  EXPECT_THAT(std::string(done.stayed[0].value(Key::file)), testing::HasSubstr("0000"));
  EXPECT_FALSE(fs::exists(folder / "cache/trees/ffff"));
}

TEST_F(Collecting, I4LeasedPinnedAndUnfinishedBuildsStay) {
  const Installed leased = install("leased", 90), pinned = install("pinned", 90), made = install("made", 90);
  install("free", 90);
  const auto lease = store.lease(leased);
  ASSERT_TRUE(lease && lease->holds());
  ASSERT_TRUE(store.pin("pinned"));
  EXPECT_FALSE(store.pin("absent"));
  const std::string before =
      fingerprint_of(leased.folder) + fingerprint_of(pinned.folder) + fingerprint_of(made.folder);
  CollectOptions everything;
  everything.max_bytes = 0;
  {
    const auto stage = store.stage(Store::key_of("made"));
    ASSERT_TRUE(stage);
    const Collected done = collect(everything);
    EXPECT_THAT(names(done.removed), ElementsAre("free"));
    EXPECT_TRUE(done.left_to_maker);
    std::map<std::string, std::string> why;
    for (const auto& build : done.kept) why[build.build] = build.why;
    EXPECT_EQ(why["leased"], "in use");
    EXPECT_EQ(why["pinned"], "pinned");
    EXPECT_EQ(why["made"], "being made");
  }
  EXPECT_EQ(fingerprint_of(leased.folder) + fingerprint_of(pinned.folder) + fingerprint_of(made.folder),
            before);
  EXPECT_THAT(names(collect(everything).removed), ElementsAre("made"));
  EXPECT_TRUE(store.unpin("pinned").value());
  EXPECT_FALSE(store.unpin("pinned").value());
  EXPECT_THAT(names(collect(everything).removed), ElementsAre("pinned"));
  EXPECT_THAT(installed(), ElementsAre("leased"));
  expect_sound();
}

TEST_F(Collecting, ADryRunChangesNothingAndReportsWhatARealOneDoes) {
  install("old", 40);
  install("young", 1);
  CollectOptions options = older_than_days(30);
  options.dry_run = true;
  const std::string before = fingerprint_of(store.root());
  const Collected reported = collect(options);
  EXPECT_EQ(fingerprint_of(store.root()), before);
  options.dry_run = false;
  const Collected done = collect(options);
  EXPECT_EQ(names(reported.removed), names(done.removed));
  EXPECT_EQ(reported.logical_after, done.logical_after);
  EXPECT_EQ(reported.physical_after, done.physical_after);
}

TEST_F(Collecting, ACacheThatDoesNotExistStaysSo) {
  CollectOptions options;
  options.max_bytes = 0;
  EXPECT_THAT(collect(options).removed, IsEmpty());
  EXPECT_FALSE(fs::exists(folder / "cache"));
}

TEST_F(Collecting, ReportsTheSumOfBuildsAndTheDiskUse) {
  const Installed one = install("one"), two = install("two");
  const Usage usage = store.usage();
  EXPECT_EQ(usage.logical, one.size + two.size);
  // Both share the large library; files of views are hard links to those of the trees.
  EXPECT_LT(usage.physical, usage.logical);
  EXPECT_GT(usage.physical, test::large_library_bytes().size());
}

TEST_F(Collecting, AClockThatIsYearsAheadRemovesNothingForItsAge) {
  // After a clock that ran ten years ahead, everything here seems to have been used ten years ago.
  install("one", 3650);
  const timespec then{std::time(nullptr) - 3650 * day, 0};
  const timespec times[2] = {then, then};
  for (const char* below : {"cache/refs", "cache/refs/one.ref"})
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder / below).c_str(), times, 0), 0);
  const Collected done = collect(older_than_days(1));
  EXPECT_THAT(done.removed, IsEmpty());
  EXPECT_TRUE(done.clock_in_doubt);
  ASSERT_TRUE(store.lease(*store.record_of("one").value()));
  EXPECT_FALSE(collect(older_than_days(1)).clock_in_doubt) << "used now, it is now";
}

TEST_F(Collecting, TimesInTheFutureCountAsNow) {
  const Installed installed = install("future", -3650);
  EXPECT_LE(store.last_used(installed), std::time(nullptr));
  EXPECT_THAT(collect(older_than_days(1)).removed, IsEmpty());
  EXPECT_TRUE(store.lease(installed)) << "and can be used";
  EXPECT_THAT(names(collect(older_than_days(0)).removed), ElementsAre("future"));
}

TEST_F(Collecting, AReaderIsNotBlockedByAnEndlessLease) {
  const Installed installed = install("one");
  const FileDescriptor foreign(::open(lease_of(installed).c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(foreign.get(), LOCK_EX | LOCK_NB), 0) << "anyone who may read may do this";
  const auto began = std::chrono::steady_clock::now();
  const auto lease = store.lease(installed);
  ASSERT_TRUE(lease);
  EXPECT_FALSE(lease->holds());
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  EXPECT_TRUE(*store.find("one"));
  CollectOptions everything;
  everything.max_bytes = 0;
  EXPECT_THAT(collect(everything).removed, IsEmpty()) << "only writers are held up";
}

// Row 8 of the fault plan: builds are used while a collection repeatedly removes everything else.
TEST_F(Collecting, AnOpenDuringARemovalMissesAndReinstalls) {
  const int rounds = std::getenv("ENGINEHOST_EXHAUSTIVE") != nullptr ? 400 : 25;
  install("one");
  std::atomic<bool> ending = false;
  std::atomic<int> removed = 0;
  std::thread collector([&] {
    CollectOptions everything;
    everything.max_bytes = 0;
    while (!ending) {
      const auto done = store.collect(everything);
      EXPECT_TRUE(done) << (done ? "" : std::string(done.error().code_text()));
      if (done) removed += static_cast<int>(done->removed.size());
      std::this_thread::sleep_for(1ms);
    }
  });
  int misses = 0, used = 0;
  std::chrono::milliseconds gap{0};
  const auto deadline = std::chrono::steady_clock::now() + 120s;
  while ((used < rounds || misses < 3) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::exchange(gap, 0ms));
    const auto found = store.find("one");
    ASSERT_TRUE(found || found.error().code == "EH-F01") << found.error().code;
    if (!found || !*found) {
      ++misses;
      ASSERT_TRUE(test::install_small_build(store, "one"));
      continue;
    }
    const auto lease = store.lease(**found);
    if (!lease) {
      ++misses;
      ASSERT_EQ(lease.error().code, "EH-F01");
      continue;
    }
    // From here on nothing may change, however long it takes.
    for (const LoadableFile& file : (*found)->files) {
      const std::string bytes = test::read_text((*found)->folder / file.path);
      ASSERT_EQ(bytes.size(), file.size) << file.path;
      ASSERT_EQ(sha256_hex(bytes),
                sha256_hex(file.path == "lib/shared.so.1" ? test::large_library_bytes()
                                                          : test::library_bytes("plugin one")));
    }
    ASSERT_TRUE(fs::exists((*found)->folder / "NOTICE")) << "what is opened late is there, too";
    ++used;
    // A build that is opened again as soon as it is released is never removed, and on a slow machine that
    // would be the whole test. The gap varies, so that the collector gets its turn at times.
    gap = std::chrono::milliseconds(used % 4 * 3);
  }
  ending = true;
  collector.join();
  EXPECT_GE(used, rounds);
  EXPECT_GT(removed, 0);
  EXPECT_GE(misses, 3);
  ASSERT_TRUE(store.sweep());
  expect_sound();
}

// Two builds may have the same files, and so one view and one lease.
TEST_F(Collecting, BuildsThatShareAViewGoTogether) {
  const Installed one = install("one", 9);
  {
    auto stage = store.stage("build-two");
    ASSERT_TRUE(stage);
    Installed two = one;
    two.build = "two";
    ASSERT_TRUE(store.write_ref(std::move(two)));
  }
  CollectOptions options;
  options.max_bytes = 0;
  const Collected collected = collect(options);
  EXPECT_THAT(names(collected.removed), testing::UnorderedElementsAre("one", "two"));
  EXPECT_THAT(names(collected.kept), IsEmpty()) << "nobody but the collection holds the view";
  EXPECT_FALSE(fs::exists(one.folder));
  EXPECT_FALSE(collected.bound_missed);
}

}  // namespace
}  // namespace enginehost::cache
