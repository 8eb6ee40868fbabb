// Several documents at once, and one connection for documents one after the other.
#include "host/transfer/document_fetcher.hpp"

#include <gmock/gmock.h>

#include <atomic>

#include "tests/support/delayed_link.hpp"
#include "tests/support/fault_server.hpp"
#include "tests/support/nginx_server.hpp"

namespace enginehost::transfer {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::FaultServer;

constexpr Patience patient{20s, 1s};
constexpr std::uint64_t largest = 1u << 20;

class DocumentFetcherTest : public testing::Test {
 protected:
  DocumentFetcherTest() {
    options.first_backoff = 5ms;
    options.retries = 0;
  }
  TransferOptions options;
};

TEST_F(DocumentFetcherTest, AnswersAreInTheOrderOfTheRequests) {
  // The first ones take longest, and every seventh is missing.
  FaultServer server([](const FaultServer::Request& request, FaultServer::Connection& connection) {
    const int number = std::stoi(request.path.substr(1));
    connection.stall(std::chrono::milliseconds(60 - 2 * number));
    if (number % 7 == 3) return static_cast<void>(connection.answer("404 Not Found", ""));
    connection.answer("200 OK", "document " + std::to_string(number));
  });
  std::vector<WantedDocument> wanted;
  for (int i = 0; i < 30; ++i) wanted.push_back({server.url(std::to_string(i)), largest});
  DocumentFetcher fetcher(options, {});
  const auto answers = fetcher.fetch(wanted, "text/plain", patient);
  ASSERT_EQ(answers.size(), 30u);
  for (int i = 0; i < 30; ++i) {
    const auto& answer = answers[static_cast<std::size_t>(i)];
    if (i % 7 == 3) {
      ASSERT_FALSE(answer);
      EXPECT_EQ(answer.error().value(Key::status), "404");
      EXPECT_EQ(answer.error().value(Key::url), server.url(std::to_string(i)));
    } else {
      ASSERT_TRUE(answer) << answer.error().code;
      EXPECT_EQ(*answer, "document " + std::to_string(i));
    }
  }
  EXPECT_TRUE(fetcher.fetch({}, "", patient).empty());
}

TEST_F(DocumentFetcherTest, AServerIsAskedForEightAtOnce) {
  std::atomic<int> running = 0, most = 0;
  FaultServer server([&](const FaultServer::Request&, FaultServer::Connection& connection) {
    const int now = ++running;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    connection.stall(100ms);
    --running;
    connection.answer("200 OK", "x");
  });
  DocumentFetcher fetcher(options, {});
  for (const auto& answer :
       fetcher.fetch(std::vector<WantedDocument>(24, {server.url("a"), largest}), "", patient))
    EXPECT_TRUE(answer);
  EXPECT_EQ(most, 8);
  EXPECT_EQ(server.requests(), 24);
}

TEST_F(DocumentFetcherTest, ConnectionsAreUsedAgain) {
  test::NginxServer server("location /number { return 200 \"$connection\"; }");
  test::DelayedLink link(server.port(), 20ms);
  const WantedDocument one{"http://127.0.0.1:" + std::to_string(link.port()) + "/number", largest};
  DocumentFetcher fetcher(options, {});
  const auto first = fetcher.fetch({one}, "", patient).at(0);
  ASSERT_TRUE(first) << first.error().code;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fetcher.fetch({one}, "", patient).at(0).value_or(""), *first);
  EXPECT_EQ(link.connections(), 1);
  for (int i = 0; i < 3; ++i)
    for (const auto& answer : fetcher.fetch(std::vector<WantedDocument>(16, one), "", patient))
      EXPECT_TRUE(answer);
  EXPECT_EQ(link.connections(), 8);
}

TEST_F(DocumentFetcherTest, AnAnswerBeyondItsLimitIsRefused) {
  test::NginxServer server("location /ten { return 200 \"0123456789\"; }");
  DocumentFetcher fetcher(options, {});
  const auto answers = fetcher.fetch({{server.url("ten"), 9}, {server.url("ten"), 10}}, "", patient);
  ASSERT_FALSE(answers.at(0));
  EXPECT_EQ(answers[0].error().code, "EH-N07");
  EXPECT_EQ(answers[0].error().value(Key::actual), "10");
  EXPECT_EQ(answers.at(1).value_or(""), "0123456789");
}

// Otherwise a server that answers slowly could hold up a request for as long as it has documents.
TEST_F(DocumentFetcherTest, AllDocumentsTogetherHaveOneTimeLimit) {
  options.document_limit = 10s;
  FaultServer server(
      [](const FaultServer::Request&, FaultServer::Connection& connection) { connection.stall(60s); });
  DocumentFetcher fetcher(options, {});
  const auto began = Clock::now();
  const auto answers =
      fetcher.fetch(std::vector<WantedDocument>(40, {server.url("a"), largest}), "", {600ms, 10s});
  EXPECT_LT(Clock::now() - began, 5s);
  for (const auto& answer : answers) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, "EH-N03");
  }
}

TEST_F(DocumentFetcherTest, ACanceledRequestEndsAllOfThem) {
  FaultServer server(
      [](const FaultServer::Request&, FaultServer::Connection& connection) { connection.stall(60s); });
  const CancelToken cancel;
  DocumentFetcher fetcher(options, cancel);
  std::thread canceling([&] {
    std::this_thread::sleep_for(200ms);
    cancel.cancel();
  });
  const auto began = Clock::now();
  for (const auto& answer :
       fetcher.fetch(std::vector<WantedDocument>(20, {server.url("a"), largest}), "", patient))
    EXPECT_EQ(answer ? "" : std::string(answer.error().code_text()), "EH-P10");
  EXPECT_LT(Clock::now() - began, 5s);
  canceling.join();
}

TEST_F(DocumentFetcherTest, OfflineNoSocketIsOpened) {
  FaultServer server([](const FaultServer::Request&, FaultServer::Connection& connection) {
    connection.answer("200 OK", "x");
  });
  options.offline = true;
  DocumentFetcher fetcher(options, {});
  for (const auto& answer :
       fetcher.fetch(std::vector<WantedDocument>(3, {server.url("a"), largest}), "", patient))
    EXPECT_EQ(answer ? "" : std::string(answer.error().code_text()), "EH-N10");
  EXPECT_EQ(server.requests(), 0);
}

}  // namespace
}  // namespace enginehost::transfer
