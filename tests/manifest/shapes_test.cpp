#include "host/manifest/shapes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace enginehost::manifest {
namespace {

TEST(ShapesTest, AnIdIsAlwaysASafeFileName) {
  // Every text of up to three bytes: an accepted one has no byte that a shell, a path or Windows would
  // interpret.
  const std::string safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-.";
  int passed = 0;
  for (int a = 0; a < 256; ++a)
    for (int b = -1; b < 256; ++b) {
      std::string text(1, static_cast<char>(a));
      if (b >= 0) text += static_cast<char>(b);
      if (!is_id(text)) continue;
      ++passed;
      EXPECT_EQ(text.find_first_not_of(safe), std::string::npos);
      EXPECT_NE(text.front(), '.');
      EXPECT_NE(text.front(), '-');
      EXPECT_NE(text.back(), '.');
    }
  EXPECT_EQ(passed, 62 + 62 * 65);
}

TEST(ShapesTest, AViewPathNeverLeavesTheView) {
  for (const char* text : {"a", "a/b", "..a", "a..", "...", "a/.b", "lib/x.so.1", "*", "**/x"})
    EXPECT_TRUE(is_view_path(text)) << text;
  for (const char* text : {"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/../b", "a/./b", "./a",
                           "C:x", "a\\..\\b", "a\tb"})
    EXPECT_FALSE(is_view_path(text)) << text;
}

TEST(ShapesTest, VersionsAndTimes) {
  for (const char* text : {"2.17", ">=2.17", "> 1", ">=1.0, <2", "==3.4.19", "525.60.13"})
    EXPECT_TRUE(is_version_bound(text)) << text;
  for (const char* text : {"", ">=", "new", "~1", ">=1,", ",1", "1 2", ">=>=1", "=1", "1;2"})
    EXPECT_FALSE(is_version_bound(text)) << text;
  EXPECT_TRUE(is_time("2028-02-29T23:59:59Z"));
  EXPECT_FALSE(is_time("2028-02-29 23:59:59Z"));
}

}  // namespace
}  // namespace enginehost::manifest
