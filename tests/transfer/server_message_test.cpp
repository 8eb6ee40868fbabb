// The reason that a server gives in the body of an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/transfer/server_message.hpp"

namespace enginehost::transfer {
namespace {

TEST(ServerMessage, IsTheFirstMessageOfAJsonDocument) {
  // Registries, repository managers, frameworks for web services, problem documents (RFC 9457).
  for (const char* body : {
           R"({"errors": [{"code": "DENIED", "message": "not\nfor you"}]})",
           R"({"errors": [{"status": 403, "message": "not for you"}]})",
           R"({"errors": ["not for you"]})",
           R"({"detail": "not for you"})",
           R"({"detail": [{"loc": ["path"], "msg": "not for you"}]})",
           R"({"timestamp": 1, "status": 403, "error": "Forbidden", "message": "not for you"})",
           R"({"error": {"code": 403, "message": "not for you"}})",
           R"({"error": "not for you"})",
           R"({"type": "about:blank", "title": "Forbidden", "detail": "not for you"})",
           R"("not for you")",
           R"(["not for you"])",
           "\xef\xbb\xbfnot for you",
       })
    EXPECT_THAT(message_of_server(body), testing::EndsWith("not for you")) << body;
  EXPECT_EQ(message_of_server(R"({"errors": [{"code": "DENIED"}]})"), "DENIED");
}

TEST(ServerMessage, IsTheTitleOfAPageOrTheText) {
  EXPECT_EQ(message_of_server("<html><title>Sign in</title><p>x"), "Sign in");
  EXPECT_EQ(message_of_server("<!DOCTYPE html><html><body>no title"), "");
  EXPECT_EQ(message_of_server("Blocked by\r\n\tpolicy 7 \n"), "Blocked by policy 7");
  EXPECT_EQ(message_of_server("<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>Access Denied"
                              "</Message></Error>"),
            "Access Denied");
}

TEST(ServerMessage, IsEmptyWithoutAReason) {
  for (const char* body : {"", " \n", "{", "{}", "[]", R"({"status": 403})", R"({"errors": []})", "\x01\x02",
                           "\xff\xfe\x00", "<Error/>", "</Message><Message>", R"([[[[[["too deep"]]]]]])"})
    EXPECT_EQ(message_of_server(body), "") << body;
}

TEST(ServerMessage, IsOneBoundedLineWithoutControlCharacters) {
  EXPECT_EQ(message_of_server("a\x1b[31mb\xc2\x9b"
                              "c"),
            "a [31mb c");
  for (const std::string_view letter : {"a", "\xc3\xa4", "\xe2\x82\xac"}) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += letter;
    const std::string said = message_of_server(text);
    ASSERT_LE(said.size(), longest_server_message + 3);
    EXPECT_GT(said.size(), longest_server_message - 3);
    EXPECT_TRUE(said.ends_with(std::string(letter) + "\xe2\x80\xa6")) << said;
  }
}

}  // namespace
}  // namespace enginehost::transfer
