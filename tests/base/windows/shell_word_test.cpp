// Printed commands can be pasted.
#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace enginehost {
namespace {

TEST(ShellWord, IsQuotedAsProgramsReadIt) {
  EXPECT_EQ(shell_word("C:\\cache\\x-1.2"), "C:\\cache\\x-1.2");
  EXPECT_EQ(shell_word("C:\\Program Files\\x"), "\"C:\\Program Files\\x\"");
  EXPECT_EQ(shell_word("C:\\my cache\\"), "\"C:\\my cache\\\\\"");
  EXPECT_EQ(shell_word("C:\\100%\\x"), "\"C:\\100%\\x\"");
  EXPECT_EQ(shell_word("C:\\a&b"), "\"C:\\a&b\"");
  EXPECT_EQ(shell_word("say \"x\""), "\"say \\\"x\\\"\"");
  EXPECT_EQ(shell_word("a\\\"b"), "\"a\\\\\\\"b\"");
  EXPECT_EQ(shell_word("f\xc3\xb6r"), "\"f\xc3\xb6r\"");
  EXPECT_EQ(shell_word(""), "\"\"");
}

}  // namespace
}  // namespace enginehost
