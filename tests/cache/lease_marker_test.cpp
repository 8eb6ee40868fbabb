// A crash marker in a lease outlives the process that wrote it, and is found once.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/cache/small_build.hpp"
#include "tests/support/posix/dying_child.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

class LeaseMarker : public testing::Test {
 protected:
  void SetUp() override {
    auto made = test::install_small_build(store, "one");
    ASSERT_TRUE(made);
    installed = *made;
  }
  Lease take() const {
    auto lease = store.lease(installed);
    EXPECT_TRUE(lease);
    return lease ? std::move(*lease) : Lease();
  }
  // Counts the markers of living and dead processes.
  std::size_t words() const {
    std::string text = test::read_text(folder / ("cache/leases/" + installed.digest + ".lk"));
    std::size_t count = 0;
    for (; !text.empty(); text.erase(0, 1024)) count += text.front() != '\0' ? 1 : 0;
    return count;
  }
  void die_with(const std::string& word) const {
    test::in_dying_child([&] {
      Lease lease = take();
      if (lease.write_marker(word)) test::die();
    });
  }

  test::TemporaryFolder folder;
  Store store = Store::open(folder / "cache");
  Installed installed;
};

TEST_F(LeaseMarker, IsGoneAfterItsErasure) {
  Lease lease = take();
  EXPECT_EQ(words(), 0u);
  ASSERT_TRUE(lease.write_marker("something"));
  EXPECT_FALSE(lease.write_marker("another")) << "one at a time";
  EXPECT_EQ(words(), 1u);
  EXPECT_TRUE(lease.stale_markers().empty()) << "its own is of the living";
  lease.erase_marker();
  EXPECT_EQ(words(), 0u);
  EXPECT_TRUE(take().stale_markers().empty());
}

TEST_F(LeaseMarker, OfADeadProcessIsFoundOnce) {
  die_with("the first");
  Lease lease = take();
  Lease other = take();
  EXPECT_EQ(other.stale_markers(), std::vector<std::string>{"the first"}) << "to look takes nothing";
  EXPECT_EQ(lease.take_stale_markers(), std::vector<std::string>{"the first"});
  EXPECT_TRUE(other.take_stale_markers().empty());
  EXPECT_TRUE(take().take_stale_markers().empty());
  EXPECT_EQ(words(), 0u);
}

TEST_F(LeaseMarker, OfALivingProcessIsNotStale) {
  Lease living = take();
  ASSERT_TRUE(living.write_marker("still at it"));
  die_with("dead");
  Lease lease = take();
  EXPECT_EQ(lease.take_stale_markers(), std::vector<std::string>{"dead"});
  ASSERT_TRUE(lease.write_marker("beside it"));
  lease.erase_marker();
  EXPECT_EQ(words(), 1u);
  EXPECT_TRUE(take().take_stale_markers().empty());
  living.erase_marker();
  EXPECT_EQ(words(), 0u);
}

TEST_F(LeaseMarker, OfADeadProcessOutlivesAnEarlierOne) {
  Lease living = take();
  ASSERT_TRUE(living.write_marker("a long word, from the first place"));
  die_with("from the second");
  living.erase_marker();
  die_with("short");
  const std::vector<std::string> both = {"from the second", "short"};
  EXPECT_EQ(take().take_stale_markers(), both) << "nothing of the long one is left";
}

TEST_F(LeaseMarker, GoesWithItsLease) {
  {
    Lease lease = take();
    ASSERT_TRUE(lease.write_marker("something"));
    const Lease moved = std::move(lease);
    EXPECT_EQ(words(), 1u);
  }
  EXPECT_EQ(words(), 0u);
}

TEST_F(LeaseMarker, IsRefusedWhenAllSlotsAreTaken) {
  std::vector<Lease> leases;
  int left = 0;
  for (int i = 0; i < 20; ++i) {
    leases.push_back(take());
    left += leases.back().write_marker("word " + std::to_string(i)) ? 1 : 0;
  }
  EXPECT_EQ(left, 12);
  leases.clear();
  EXPECT_EQ(take().take_stale_markers(), std::vector<std::string>{});
}

TEST_F(LeaseMarker, IsNotWrittenWhereAWriteWouldEndTheProcess) {
  test::in_dying_child([&] {
    const rlimit none{0, 0};
    Lease lease = take();
    if (::setrlimit(RLIMIT_FSIZE, &none) == 0 && !lease.write_marker("something")) test::die();
  });
  EXPECT_EQ(words(), 0u);
}

TEST_F(LeaseMarker, IsErasedAlsoUnderAFileSizeLimitOfZero) {
  test::in_dying_child([&] {
    const rlimit none{0, 0};
    Lease lease = take();
    if (!lease.write_marker("something") || ::setrlimit(RLIMIT_FSIZE, &none) != 0) return;
    lease.erase_marker();
    test::die();
  });
  EXPECT_EQ(words(), 0u);
}

TEST_F(LeaseMarker, IsRefusedIfTooLongOrWithAZeroByte) {
  Lease lease = take();
  EXPECT_FALSE(lease.write_marker(std::string(Lease::longest_marker + 1, 'x')));
  EXPECT_FALSE(lease.write_marker(std::string("two\0words", 9)));
  EXPECT_EQ(words(), 0u);
  EXPECT_TRUE(lease.write_marker(std::string(Lease::longest_marker, 'x')));
}

TEST_F(LeaseMarker, IsNotWrittenInAReadOnlyLayer) {
  const Store reader = Store::open(folder / "own", {folder / "cache"});
  ASSERT_TRUE(reader.prepare());
  const auto found = reader.find("one");
  ASSERT_TRUE(found && *found);
  auto lease = reader.lease(**found);
  ASSERT_TRUE(lease);
  EXPECT_FALSE(lease->write_marker("something"));
  EXPECT_EQ(words(), 0u);
}

}  // namespace
}  // namespace enginehost::cache
