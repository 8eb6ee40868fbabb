// A word in a lease outlives the process that left it, and is found once.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/cache/small_build.hpp"
#include "tests/support/posix/dying_child.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

class LeaseWord : public testing::Test {
 protected:
  void SetUp() override {
    auto made = test::install_small_build(store, "one");
    ASSERT_TRUE(made);
    installed = *made;
  }
  Lease take() const {
    auto leased = store.find_leased("one", installed.digest);
    EXPECT_TRUE(leased);
    return leased ? std::move(leased->lease) : Lease();
  }
  // Of the living and of the dead.
  std::size_t words() const {
    std::string text = test::read_text(folder / ("cache/leases/" + installed.digest + ".lk"));
    std::size_t count = 0;
    for (; !text.empty(); text.erase(0, 1024)) count += text.front() != '\0' ? 1 : 0;
    return count;
  }
  void die_with(const std::string& word) const {
    test::in_dying_child([&] {
      Lease lease = take();
      if (lease.leave_word(word)) test::die();
    });
  }

  test::TemporaryFolder folder;
  Store store = Store::open(folder / "cache");
  Installed installed;
};

TEST_F(LeaseWord, IsGoneWhenItIsTakenBack) {
  Lease lease = take();
  EXPECT_EQ(words(), 0u);
  ASSERT_TRUE(lease.leave_word("something"));
  EXPECT_FALSE(lease.leave_word("another")) << "one at a time";
  EXPECT_EQ(words(), 1u);
  EXPECT_TRUE(lease.words_of_the_dead().empty()) << "its own is of the living";
  lease.take_word_back();
  EXPECT_EQ(words(), 0u);
  EXPECT_TRUE(take().words_of_the_dead().empty());
}

TEST_F(LeaseWord, OfTheDeadIsFoundOnce) {
  die_with("the first");
  Lease lease = take();
  Lease other = take();
  EXPECT_EQ(other.words_of_the_dead(), std::vector<std::string>{"the first"}) << "to look takes nothing";
  EXPECT_EQ(lease.take_words_of_the_dead(), std::vector<std::string>{"the first"});
  EXPECT_TRUE(other.take_words_of_the_dead().empty());
  EXPECT_TRUE(take().take_words_of_the_dead().empty());
  EXPECT_EQ(words(), 0u);
}

TEST_F(LeaseWord, OfTheLivingIsNotGivenOut) {
  Lease living = take();
  ASSERT_TRUE(living.leave_word("still at it"));
  die_with("dead");
  Lease lease = take();
  EXPECT_EQ(lease.take_words_of_the_dead(), std::vector<std::string>{"dead"});
  ASSERT_TRUE(lease.leave_word("beside it"));
  lease.take_word_back();
  EXPECT_EQ(words(), 1u);
  EXPECT_TRUE(take().take_words_of_the_dead().empty());
  living.take_word_back();
  EXPECT_EQ(words(), 0u);
}

TEST_F(LeaseWord, OfTheDeadOutlivesThatOfOneWhoCameBefore) {
  Lease living = take();
  ASSERT_TRUE(living.leave_word("a long word, from the first place"));
  die_with("from the second");
  living.take_word_back();
  die_with("short");
  const std::vector<std::string> both = {"from the second", "short"};
  EXPECT_EQ(take().take_words_of_the_dead(), both) << "nothing of the long one is left";
}

TEST_F(LeaseWord, GoesWithTheLeaseInAnOrderlyEnd) {
  {
    Lease lease = take();
    ASSERT_TRUE(lease.leave_word("something"));
    const Lease moved = std::move(lease);
    EXPECT_EQ(words(), 1u);
  }
  EXPECT_EQ(words(), 0u);
}

TEST_F(LeaseWord, ManyAtOnceFindNoPlaceAndLeaveNone) {
  std::vector<Lease> leases;
  int left = 0;
  for (int i = 0; i < 20; ++i) {
    leases.push_back(take());
    left += leases.back().leave_word("word " + std::to_string(i)) ? 1 : 0;
  }
  EXPECT_EQ(left, 12);
  leases.clear();
  EXPECT_EQ(take().take_words_of_the_dead(), std::vector<std::string>{});
}

TEST_F(LeaseWord, IsNotLeftWhereAWriteWouldEndTheProcess) {
  test::in_dying_child([&] {
    const rlimit none{0, 0};
    Lease lease = take();
    if (::setrlimit(RLIMIT_FSIZE, &none) == 0 && !lease.leave_word("something")) test::die();
  });
  EXPECT_EQ(words(), 0u);
}

TEST_F(LeaseWord, IsTakenBackAlsoWhereNothingMayBeWrittenAnyMore) {
  test::in_dying_child([&] {
    const rlimit none{0, 0};
    Lease lease = take();
    if (!lease.leave_word("something") || ::setrlimit(RLIMIT_FSIZE, &none) != 0) return;
    lease.take_word_back();
    test::die();
  });
  EXPECT_EQ(words(), 0u);
}

TEST_F(LeaseWord, OneThatIsTooLongOrHoldsAZeroByteIsNotLeft) {
  Lease lease = take();
  EXPECT_FALSE(lease.leave_word(std::string(Lease::longest_word + 1, 'x')));
  EXPECT_FALSE(lease.leave_word(std::string("two\0words", 9)));
  EXPECT_EQ(words(), 0u);
  EXPECT_TRUE(lease.leave_word(std::string(Lease::longest_word, 'x')));
}

TEST_F(LeaseWord, IsLeftInNoLayerThatIsOnlyRead) {
  const Store reader = Store::open(folder / "own", {folder / "cache"});
  ASSERT_TRUE(reader.prepare());
  auto leased = reader.find_leased("one", installed.digest);
  ASSERT_TRUE(leased);
  EXPECT_FALSE(leased->lease.leave_word("something"));
  EXPECT_EQ(words(), 0u);
}

}  // namespace
}  // namespace enginehost::cache
