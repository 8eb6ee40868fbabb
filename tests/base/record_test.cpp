// The common parts of record files.
#include "base/record.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace enginehost {
namespace {

TEST(Record, LinesAreTakenWithTheirEndOnly) {
  std::string_view text = "first\n\nlast";
  EXPECT_EQ(take_line(text), "first");
  EXPECT_EQ(take_line(text), "");
  EXPECT_FALSE(take_line(text));
  EXPECT_EQ(text, "last");
}

TEST(Record, AKeyEndsAtTheFirstSpace) {
  std::string_view text = "name a b\nend\n";
  const auto line = take_key_and_value(text), end = take_key_and_value(text);
  EXPECT_EQ(line->key, "name");
  EXPECT_EQ(line->value, "a b");
  EXPECT_EQ(end->key, "end");
  EXPECT_EQ(end->value, "");
  EXPECT_FALSE(take_key_and_value(text));
}

TEST(Record, ANumberEndsAtItsSeparatorOrAtTheEnd) {
  std::string_view text = "12 -3";
  std::uint64_t size = 0;
  std::int64_t time = 0;
  EXPECT_TRUE(take_number(text, size));
  EXPECT_FALSE(take_number(text, size));
  EXPECT_TRUE(take_number(text, time));
  EXPECT_EQ(size, 12u);
  EXPECT_EQ(time, -3);
  EXPECT_FALSE(take_number(text, time));
  text = "12x";
  EXPECT_FALSE(take_number(text, size));
  EXPECT_EQ(text, "12x");
}

TEST(Record, AValueIsOneLineAndComesBack) {
  for (const std::string_view text : {"plain", "", "two\nlines\r", "C:\\new", "\\", "\\\\n"}) {
    const std::string line = escaped_line(text);
    EXPECT_EQ(line.find_first_of("\n\r"), std::string::npos);
    EXPECT_EQ(unescaped_line(line), text);
  }
  EXPECT_EQ(unescaped_line("cut\\"), "cut\\");
}

}  // namespace
}  // namespace enginehost
