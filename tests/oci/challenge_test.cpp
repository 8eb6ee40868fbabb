#include "host/oci/authorization.hpp"

#include <gtest/gtest.h>

#include "host/oci/registry.hpp"

namespace enginehost::oci {
namespace {

TEST(Challenge, ABearerChallengeIsReadWithItsQuotedValues) {
  const auto all = read_challenges(
      R"(Bearer realm="https://auth.example/token",service="registry.example",scope="repository:a/b:pull,push")");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].scheme, "bearer");
  EXPECT_EQ(all[0]["realm"], "https://auth.example/token");
  EXPECT_EQ(all[0]["service"], "registry.example");
  EXPECT_EQ(all[0]["scope"], "repository:a/b:pull,push");
  EXPECT_EQ(all[0]["error"], "");
}

TEST(Challenge, SeveralInOneHeaderAreSeparated) {
  const auto all =
      read_challenges(R"(Negotiate, BASIC Realm = "a \"b\" c" , Bearer realm=x;y, error=insufficient)");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].scheme, "negotiate");
  EXPECT_EQ(all[1].scheme, "basic");
  EXPECT_EQ(all[1]["realm"], "a \"b\" c");
  EXPECT_EQ(all[2]["realm"], "x");
}

TEST(Challenge, HalfAValueEndsTheList) {
  EXPECT_TRUE(read_challenges("").empty());
  EXPECT_TRUE(read_challenges("Bearer realm=\"never closed").empty());
  EXPECT_TRUE(read_challenges("=\"\"").empty());
  EXPECT_EQ(read_challenges("Basic realm=\"x\", Bearer realm=\"open").size(), 1u);
}

TEST(Challenge, FloodsAreBounded) {
  std::string flood;
  for (int i = 0; i < 1000; ++i) flood += "scheme" + std::to_string(i) + " ";
  EXPECT_LE(read_challenges(flood).size(), 8u);
  flood = "Bearer ";
  for (int i = 0; i < 1000; ++i) flood += "p" + std::to_string(i) + "=1,";
  ASSERT_EQ(read_challenges(flood).size(), 1u);
  EXPECT_LE(read_challenges(flood)[0].parameters.size(), 16u);
}

TEST(Token, OnlyOneThatMayStandInAHeaderIsTaken) {
  EXPECT_EQ(*token_in(R"({"token": "abc.def"})"), "abc.def");
  EXPECT_EQ(*token_in(R"({"token": "", "access_token": "xyz"})"), "xyz");
  for (const char* answer :
       {"", "[]", "{}", R"({"token": 5})", R"({"token": "a\r\nX-Header: b"})", R"({"token": "a b"})"})
    EXPECT_EQ(token_in(answer).error().code, "EH-N30") << answer;
}

}  // namespace
}  // namespace enginehost::oci
