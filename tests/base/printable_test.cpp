#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace enginehost {
namespace {

TEST(Printable, EscapesTerminalControlCharacters) {
  EXPECT_EQ(printable("\x1b[2Jx\x07\x7f"), "\\x1b[2Jx\\x07\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\x9b2J")
      << "C1 as UTF-8";
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J")
      << "C1 as it is";
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("over\rwritten"), "over\\x0dwritten");
}

TEST(Printable, LeavesPlainTextUnchanged) {
  EXPECT_EQ(printable("a\tb\nc \xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8d"),
            "a\tb\nc \xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8d");
  EXPECT_EQ(printable("one\r\ntwo\fthree"), "one\ntwo\nthree");
  EXPECT_EQ(printable("C:\\x1b"), "C:\\x1b");
}

TEST(Printable, KeepsALineInOneLine) {
  EXPECT_EQ(printable_line("a\nEH-S99 fake\r\n\tb"), "a EH-S99 fake  b");
  EXPECT_EQ(printable_line("a\xe2\x80\xa8"
                           "b"),
            "a b")
      << "U+2028 separates lines, too";
}

TEST(Printable, DistinguishesBinaryFromText) {
  EXPECT_TRUE(is_utf8("/tmp/\xc3\xa4"));
  EXPECT_TRUE(is_utf8(""));
  for (const char* wrong :
       {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x80"})
    EXPECT_FALSE(is_utf8(wrong)) << printable(wrong);
  EXPECT_EQ(printable("/tmp/x\xff"), "/tmp/x\\xff");
}

}  // namespace
}  // namespace enginehost
