#include "base/version.hpp"

#include <gtest/gtest.h>

namespace enginehost {
namespace {

TEST(Version, ComparesPartByPart) {
  struct Row {
    const char *left, *right;
    int order;
  };
  for (const auto& [left, right, order] : {Row{"1.9", "1.10", -1},
                                           Row{"2.0", "2.0.0", 0},
                                           Row{"2", "2.0.0.0", 0},
                                           Row{"2.17", "2.3", 1},
                                           Row{"1.0rc1", "1.0", -1},
                                           Row{"1.0.dev1", "1.0", -1},
                                           Row{"1.0a1", "1.0b1", -1},
                                           Row{"1.0b2", "1.0rc1", -1},
                                           Row{"1.0rc1", "1.1", -1},
                                           Row{"1.0rc1", "0.9", 1},
                                           Row{"1.0.post1", "1.0", 1},
                                           Row{"2.0.1+cu118", "2.0.1", 0},
                                           Row{"2.0.1+cu118", "2.0.1+cpu", 0},
                                           Row{"1.0rc9", "1.0rc10", -1},
                                           Row{"1.0.dev9", "1.0a1", -1},
                                           Row{"1.0a1.dev1", "1.0a1", -1},
                                           Row{"1.0.post1.dev1", "1.0.post1", -1},
                                           Row{"1.0.post2", "1.0.post10", -1},
                                           Row{"1.0.post1", "1.0.1", -1},
                                           Row{"1.0-1", "1.0.post1", 0},
                                           Row{"1.0-rc.1", "1.0RC1", 0},
                                           Row{"1.0.alpha2", "1.0a2", 0},
                                           Row{"1.0.0.dev3", "1.0.0", -1},
                                           Row{"1!0.1", "2024.1", 1},
                                           Row{"v1.2", "1.2", 0},
                                           Row{"6.1.0-18-amd64", "6.1.0", 1},
                                           Row{"1.1.1-fips", "1.1.1", 1},
                                           Row{"007", "7", 0},
                                           Row{"3.4.29", "3.4.19", 1},
                                           Row{"535.183.01", "535.54.03", 1},
                                           Row{"580.65.06", "470.256.02", 1},
                                           Row{"10", "9", 1},
                                           Row{"99999999999999999999", "99999999999999999998", 1},
                                           Row{"100000000000000000000", "99999999999999999999", 1},
                                           Row{"", "0", 0},
                                           Row{"1.2", "1.2", 0}}) {
    const auto found = compare_versions(left, right);
    EXPECT_EQ(found < 0 ? -1 : found > 0 ? 1 : 0, order) << left << " against " << right;
    EXPECT_TRUE(compare_versions(right, left) == (found < 0   ? std::strong_ordering::greater
                                                  : found > 0 ? std::strong_ordering::less
                                                              : std::strong_ordering::equal))
        << right << " against " << left;
  }
}

TEST(Version, APrefixEndsAtAPart) {
  EXPECT_TRUE(has_version_prefix("2.0.1", "2.0"));
  EXPECT_TRUE(has_version_prefix("2.0", "2.0"));
  EXPECT_TRUE(has_version_prefix("2.0+cu118", "2.0"));
  EXPECT_FALSE(has_version_prefix("2.01", "2.0"));
  EXPECT_FALSE(has_version_prefix("1.10", "1.1"));
  EXPECT_TRUE(has_version_prefix("2", "2.0"));
  EXPECT_TRUE(has_version_prefix("2rc1", "2.0.0"));
  EXPECT_FALSE(has_version_prefix("2", "2.1"));
  EXPECT_FALSE(has_version_prefix("nightly", "0"));
  EXPECT_TRUE(has_version_prefix("2.0rc1", "2.0"));
  EXPECT_TRUE(has_version_prefix("2.00.1", "2.0"));
  EXPECT_FALSE(has_version_prefix("2.0.1+cu118", "2.0.1+cpu"));
  EXPECT_FALSE(has_version_prefix("2.0", ""));
}

TEST(Version, IsWholeOrNone) {
  for (const char* good : {"1", "1.27.0", "2.0.1+cu118", "1.0rc1", "1.0.post1.dev2", "1!2.0", "1.0-1",
                           "1.0.dev", "2.0+cu118.post1"})
    EXPECT_TRUE(is_version(good)) << good;
  for (const char* bad :
       {"", "x", "1.x", "1..2", "1.", "1.0foo", "1.0+", "1.0+-", "1.0 ", ">=1", "1.0rc1x", "nightly"})
    EXPECT_FALSE(is_version(bad)) << bad;
}

TEST(Version, RecognizesPrereleases) {
  for (const char* before : {"1.0a1", "1.0b2", "1.0rc1", "1.0.dev3", "1.0.post1.dev1", "2.0rc1+cu118"})
    EXPECT_TRUE(is_prerelease(before)) << before;
  for (const char* released : {"1.0", "1.0.post1", "1.0+cpu", "1.0+dev", "nightly", "6.1.0-18-amd64"})
    EXPECT_FALSE(is_prerelease(released)) << released;
}

TEST(Version, RequirementsAreSatisfiedOrNot) {
  struct Row {
    const char *version, *requirement;
    bool holds;
  };
  for (const auto& [version, requirement, holds] :
       {Row{"2.17", ">=2.17", true}, Row{"2.9", ">=2.17", false}, Row{"2.36", "2.17", true},
        Row{"2.16", "2.17", false}, Row{"1.0", ">1", false}, Row{"1.0.1", ">1", true},
        Row{"3.0", "<=3", true}, Row{"3.0.1", "<=3", false}, Row{"2.9.9", "<3", true}, Row{"3", "<3", false},
        Row{"1.2.0", "==1.2", true}, Row{"1.2.1", "==1.2", false}, Row{"2.0.1", ">=2,<3", true},
        Row{"3.0", ">=2,<3", false}, Row{"1.9", ">=2 , <3", false}, Row{"2.1", ">= 2.0 ,< 2.2", true},
        Row{"3.0rc1", "<3", true}, Row{"2.0.1+cu118", "==2.0.1", true}})
    EXPECT_EQ(satisfies(version, requirement), holds) << version << " against " << requirement;
}

}  // namespace
}  // namespace enginehost
