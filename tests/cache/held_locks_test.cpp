// Removal while another process holds the locks of a cache, as every user may who can open their files.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "cache/store.hpp"
#include "cache/store_inside.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A process that holds each of the files which it can open, until it is destroyed.
class Holder {
 public:
  explicit Holder(const std::vector<fs::path>& files, uid_t user = ::geteuid()) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[0]);
      if (user != ::geteuid() && ::setuid(user) != 0) ::_exit(1);
      for (const fs::path& file : files)
        ::flock(::open(file.c_str(), O_RDONLY | O_CLOEXEC), LOCK_EX | LOCK_NB);
      ::close(ends[1]);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char nothing;
    while (::read(ends[0], &nothing, 1) < 0 && errno == EINTR) {
    }
    ::close(ends[0]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  pid_t process() const { return process_; }

 private:
  pid_t process_ = -1;
};

class HeldLocks : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* build : {"one", "two"}) {
      auto installed = test::install_small_build(store, build);
      ASSERT_TRUE(installed);
      builds.push_back(std::move(*installed));
    }
  }
  fs::path root() const { return store.root(); }
  fs::path key_of(const std::string& build) const { return inside::lock_file(root(), Store::key_of(build)); }
  fs::path lease_of(const Installed& build) const { return inside::lease_file(root(), build.digest); }
  // Every lock file of the cache, also of a tree that is being checked.
  std::vector<fs::path> all_locks() const {
    test::write_text(inside::lock_file(root(), "tree-" + builds[0].trees[0]), "");
    test::write_text(inside::publishing_lock(root()), "");
    std::vector<fs::path> files;
    for (const char* folder : {"leases", "locks"})
      for (const auto& file : fs::directory_iterator(root() / folder)) files.push_back(file.path());
    return files;
  }
  Collected collect_all() const {
    CollectOptions everything;
    everything.max_age = std::chrono::seconds(0);
    auto done = store.collect(everything);
    EXPECT_TRUE(done) << (done ? "" : std::string(done.error().code_text()));
    return done ? std::move(*done) : Collected{};
  }
  static std::vector<std::string> names(const std::vector<Collected::Build>& builds) {
    std::vector<std::string> all;
    for (const auto& build : builds) all.push_back(build.build);
    return all;
  }
  static void expect_named(const std::optional<LockHolder>& holder, const Holder& by, const fs::path& file) {
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->pid, by.process());
    EXPECT_EQ(holder->program, read_kernel_file("/proc/self/comm"));
    EXPECT_EQ(holder->file, file);
  }

  test::TemporaryFolder folder;
  Store store = Store::open(folder / "cache", {}, "held_locks_test");
  std::vector<Installed> builds;
};

TEST_F(HeldLocks, ALeaseKeepsItsBuildFromACollectionThatNamesItsHolder) {
  const Holder holder({lease_of(builds[0])});
  const Collected done = collect_all();
  EXPECT_THAT(names(done.removed), ElementsAre("two"));
  ASSERT_THAT(names(done.kept), ElementsAre("one"));
  EXPECT_EQ(done.kept[0].why, "in use");
  expect_named(done.kept[0].holder, holder, lease_of(builds[0]));
  EXPECT_FALSE(fs::exists(builds[1].folder));
  EXPECT_TRUE(fs::exists(builds[0].folder));
}

TEST_F(HeldLocks, TheLockOfABuildKeepsOnlyThatBuild) {
  const Holder holder({key_of("one")});
  const Collected done = collect_all();
  EXPECT_THAT(names(done.removed), ElementsAre("two"));
  ASSERT_THAT(names(done.kept), ElementsAre("one"));
  EXPECT_EQ(done.kept[0].why, "being made");
  expect_named(done.kept[0].holder, holder, key_of("one"));
}

TEST_F(HeldLocks, TheLockOfATreeKeepsNothing) {
  all_locks();
  const Holder holder({inside::lock_file(root(), "tree-" + builds[0].trees[0])});
  ASSERT_TRUE(store.remove("one"));
  EXPECT_THAT(names(collect_all().removed), ElementsAre("two"));
}

TEST_F(HeldLocks, ThePublishingLockDelaysTheSweepUntilItIsFree) {
  all_locks();
  {
    const Holder holder({inside::publishing_lock(root())});
    const Collected done = collect_all();
    EXPECT_THAT(names(done.removed), UnorderedElementsAre("one", "two"));
    EXPECT_TRUE(done.left_to_maker);
    expect_named(done.maker, holder, inside::publishing_lock(root()));
    EXPECT_EQ(store.sweep().value(), 0u);
    EXPECT_TRUE(fs::exists(builds[0].folder));
  }
  EXPECT_FALSE(collect_all().left_to_maker);
  EXPECT_FALSE(fs::exists(builds[0].folder));
}

TEST_F(HeldLocks, WhenAllAreHeldEveryCommandEndsAndNamesTheHolder) {
  const Holder holder(all_locks());
  const Collected done = collect_all();
  EXPECT_THAT(names(done.removed), IsEmpty());
  ASSERT_THAT(names(done.kept), UnorderedElementsAre("one", "two"));
  for (const auto& kept : done.kept) expect_named(kept.holder, holder, key_of(kept.build));
  const auto removed = store.remove("one");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code, "EH-F18");
  EXPECT_EQ(removed.error().value(Key::build), "one");
  EXPECT_EQ(removed.error().value(Key::holder), std::to_string(holder.process()));
  EXPECT_EQ(removed.error().value(Key::holder_name), read_kernel_file("/proc/self/comm"));
  EXPECT_EQ(store.sweep().value(), 0u);
}

// An object in the place of a folder is moved aside under a lock beside the folders.
TEST_F(HeldLocks, TheLockOfUnexpectedEntriesIsWaitedForBriefly) {
  fs::remove_all(root() / "rejected");
  test::write_text(root() / "rejected", "");
  test::write_text(root() / ".places.lk", "");
  std::optional<Holder> holder(std::in_place, std::vector{root() / ".places.lk"});
  const auto removed = store.remove("one");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code, "EH-F18");
  EXPECT_EQ(removed.error().value(Key::holder), std::to_string(holder->process()));
  holder.reset();
  EXPECT_TRUE(store.remove("one"));
}

TEST_F(HeldLocks, AnotherUserCanHoldLeasesOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "becoming another user needs root";
  constexpr uid_t nobody_else = 65534;
  // The cache as an earlier version made it, below a folder that everybody may enter.
  ASSERT_EQ(::chmod((root() / "locks").c_str(), 0755), 0);
  ASSERT_EQ(::chmod((folder / "").c_str(), 0755), 0);
  const std::vector<fs::path> files = all_locks();
  ASSERT_TRUE(store.prepare());
  const Holder holder(files, nobody_else);
  const Collected done = collect_all();
  EXPECT_FALSE(done.left_to_maker);
  ASSERT_THAT(names(done.kept), UnorderedElementsAre("one", "two"));
  for (const auto& kept : done.kept) {
    EXPECT_EQ(kept.why, "in use");
    ASSERT_TRUE(kept.holder);
    EXPECT_EQ(kept.holder->pid, holder.process());
  }
  // Repair and installation wait for none of these.
  EXPECT_TRUE(store.stage(Store::key_of("one")));
}

}  // namespace
}  // namespace enginehost::cache
