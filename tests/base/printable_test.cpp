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

TEST(Printable, ShowsInvisibleAndReorderingCharacters) {
  for (const auto& [text, shown] : {std::pair("\u200b", "\\u{200b}"),  // zero width space
                                    {"\u202e", "\\u{202e}"},           // right-to-left override
                                    {"\u2066", "\\u{2066}"},           // left-to-right isolate
                                    {"\u061c", "\\u{61c}"},            // Arabic letter mark
                                    {"\u00ad", "\\u{ad}"},             // soft hyphen
                                    {"\ufeff", "\\u{feff}"},           // not at the beginning of a file
                                    {"\U000e0041", "\\u{e0041}"},      // a tag character
                                    {"\u3164", "\\u{3164}"}})          // a letter that looks like a space
    EXPECT_EQ(printable_line("a" + std::string(text) + "b"), "a" + std::string(shown) + "b");
  EXPECT_EQ(printable("\ufeffMIT License"), "MIT License");
  EXPECT_EQ(printable_line("\u4e2d\u6587 \u05e2\u05d1\u05e8\u05d9\u05ea"),
            "\u4e2d\u6587 \u05e2\u05d1\u05e8\u05d9\u05ea");
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
