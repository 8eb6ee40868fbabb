// Words wrapped to a width, and colors.
#include "host/commands/say.hpp"

#include <gmock/gmock.h>

namespace enginehost::commands {
namespace {

using testing::ElementsAre;

TEST(ScreenTest, BreaksLinesAtSpaces) {
  EXPECT_THAT(wrapped("needs driver 580.65.06 or newer", 12),
              ElementsAre("needs driver", "580.65.06 or", "newer"));
  EXPECT_THAT(wrapped("", 10), ElementsAre(""));
}

TEST(ScreenTest, BreaksALongPathBehindASeparatorOnly) {
  EXPECT_THAT(wrapped("in /usr/lib/x86_64-linux-gnu/nvidia", 12),
              ElementsAre("in", "/usr/lib/", "x86_64-linux-gnu/", "nvidia"));
  EXPECT_THAT(wrapped("abcdefghijklmnop", 8), ElementsAre("abcdefghijklmnop"));
}

TEST(ScreenTest, ContinuesBelowTheValue) {
  EXPECT_EQ(wrapped_lines("  key   some words here\nshort\n", 16),
            "  key   some\n        words\n        here\nshort\n");
  EXPECT_EQ(wrapped_lines("one\n\ntwo", 16), "one\n\ntwo");
}

TEST(ScreenTest, MeasuresCharactersAndNotBytes) {
  EXPECT_EQ(width_of("größe…"), 6u);
  EXPECT_EQ(padded("ü", 3), "ü  ");
  EXPECT_EQ(shortened("üüüü", 4), "üüüü");
  EXPECT_EQ(shortened("üüüüü", 4), "üüü…");
}

TEST(ScreenTest, ColorsOnlyWhereTheyAreWanted) {
  Screen screen;
  EXPECT_EQ(inked(screen, Ink::good, "opens"), "opens");
  screen.colored = true;
  EXPECT_EQ(inked(screen, Ink::good, "opens"), "\033[32mopens\033[0m");
  EXPECT_EQ(inked(screen, Ink::name, ""), "");
}

}  // namespace
}  // namespace enginehost::commands
