#include "base/first_bytes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace enginehost {
namespace {

// The compiler and a running program compute the same number for the same word.
TEST(FirstBytes, AreTheSameForTheSameWord) {
  constexpr std::uint64_t made[] = {first_bytes(""), first_bytes("a"), first_bytes("stamp"),
                                    first_bytes("identity"), first_bytes("passed-over")};
  const std::string words[] = {"", "a", "stamp", "identity", "passed-over"};
  for (std::size_t i = 0; i < std::size(words); ++i) EXPECT_EQ(first_bytes(words[i]), made[i]) << words[i];
  EXPECT_EQ(made[0], 0u);
  EXPECT_EQ(made[1], std::uint64_t{'a'});
}

TEST(FirstBytes, DifferForWordsThatDifferThere) {
  EXPECT_NE(first_bytes("there"), first_bytes("the"));
  EXPECT_NE(first_bytes("if-there"), first_bytes("if-absent"));
  EXPECT_EQ(first_bytes("passed-over"), first_bytes("passed-on"));
}

}  // namespace
}  // namespace enginehost
