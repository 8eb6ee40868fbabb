// The possible answers of a server to a range request, one in each row.
#include <gtest/gtest.h>

#include "host/transfer/transfer.hpp"
#include "tests/support/fault_server.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/transfer/memory_sink.hpp"

namespace enginehost::transfer {
namespace {

using namespace std::chrono_literals;
using test::FaultServer;
using Connection = FaultServer::Connection;
using Request = FaultServer::Request;

class ResumeTest : public testing::Test {
 protected:
  ResumeTest() {
    options.first_backoff = 5ms;
    options.stall_limit = 500ms;
    options.retries = 3;
    sink.bytes = payload.substr(0, 100'000);
  }
  std::string code(const std::string& url) {
    UrlRequest request;
    request.url = url;
    request.expected_size = payload.size();
    const auto result = fetch_url(request, sink, options);
    if (result) report = *result;
    return result ? "ok" : std::string(result.error().code_text());
  }
  std::string_view from(std::size_t start) const { return std::string_view(payload).substr(start); }

  TransferOptions options;
  test::MemorySink sink;
  TransferReport report;
  const std::string payload = test::noise(300'000);
};

TEST_F(ResumeTest, SkipsPartialContentThatBeginsEarlier) {
  FaultServer server([&](const Request&, Connection& connection) {
    connection.answer("206 Partial", from(60'000), "Content-Range: bytes 60000-299999/300000");
  });
  EXPECT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, payload);
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(ResumeTest, PartialContentThatBeginsLaterIsRefused) {
  FaultServer server([&](const Request& request, Connection& connection) {
    if (request.range_start)
      connection.answer("206 Partial", from(100'001), "Content-Range: bytes 100001-299999/300000");
    else
      connection.answer("200 OK", payload);
  });
  EXPECT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, payload);
}

TEST_F(ResumeTest, RestartsForPartialContentOfAnotherTotal) {
  FaultServer server([&](const Request& request, Connection& connection) {
    if (request.range_start)
      connection.answer("206 Partial", from(100'000), "Content-Range: bytes 100000-299999/300001");
    else
      connection.answer("200 OK", payload);
  });
  EXPECT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, payload);
}

// Without a known size, from a server without ETag.
TEST_F(ResumeTest, RestartsWhenTheFileIsReplacedBetweenTwoParts) {
  const std::string newer = test::noise(400'000) + "newer";
  FaultServer server([&](const Request& request, Connection& connection) {
    if (request.number == 1)
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + payload.substr(0, 150'000));
    else if (request.range_start)
      connection.answer("206 Partial", std::string_view(newer).substr(150'000),
                        "Content-Range: bytes 150000-400004/400005");
    else
      connection.answer("200 OK", newer);
  });
  sink.bytes.clear();
  UrlRequest request;
  request.url = server.url("file");
  const auto result = fetch_url(request, sink, options);
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_TRUE(sink.bytes == newer);
  EXPECT_EQ(server.requests(), 3);
}

TEST_F(ResumeTest, PartialContentThatEndsEarlyIsContinued) {
  FaultServer server([&](const Request& request, Connection& connection) {
    const std::uint64_t start = request.range_start.value_or(0);
    const std::string_view piece = from(start).substr(0, 50'000);
    connection.answer("206 Partial", piece,
                      "Content-Range: bytes " + std::to_string(start) + "-" +
                          std::to_string(start + piece.size() - 1) + "/300000");
  });
  EXPECT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, payload);
  EXPECT_EQ(server.requests(), 4);
}

TEST_F(ResumeTest, AnOkWithTheRequestedRangeIsAContinuation) {
  FaultServer server([&](const Request&, Connection& connection) {
    connection.answer("200 OK", from(100'000), "Content-Range: bytes 100000-299999/300000");
  });
  EXPECT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, payload);
}

TEST_F(ResumeTest, RestartsAfterAnOkWithoutARange) {
  FaultServer server([&](const Request&, Connection& connection) { connection.answer("200 OK", payload); });
  EXPECT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, payload);
  EXPECT_EQ(sink.starts, std::vector<std::uint64_t>{0});
}

TEST_F(ResumeTest, RestartsAfterNotSatisfiableWithoutKeepingItsPage) {
  FaultServer server([&](const Request& request, Connection& connection) {
    if (request.range_start)
      connection.answer("416 Range Not Satisfiable", "<html>416</html>", "Content-Range: bytes */300000");
    else
      connection.answer("200 OK", payload);
  });
  EXPECT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, payload);
}

TEST_F(ResumeTest, AWeakETagIsNeverSentBack) {
  FaultServer server([&](const Request& request, Connection& connection) {
    const std::uint64_t start = request.range_start.value_or(0);
    connection.send(
        "HTTP/1.1 206 Partial\r\nETag: W/\"v1\"\r\nContent-Length: " + std::to_string(300'000 - start) +
        "\r\nContent-Range: bytes " + std::to_string(start) + "-299999/300000\r\n\r\n");
    connection.send(from(start).substr(0, 120'000));
  });
  EXPECT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, payload);
  for (const Request& request : server.seen()) EXPECT_EQ(request.header("If-Range"), "");
}

TEST_F(ResumeTest, AContinuationWithAnotherStrongETagIsAnotherFile) {
  FaultServer server([&](const Request& request, Connection& connection) {
    const std::uint64_t start = request.range_start.value_or(0);
    const std::string tag = request.number == 1 ? "\"old\"" : "\"new\"";
    const std::string_view body = request.number == 1 ? from(start).substr(0, 50'000) : from(start);
    connection.send("HTTP/1.1 " + std::string(start > 0 ? "206 Partial" : "200 OK") + "\r\nETag: " + tag +
                    "\r\nContent-Length: " + std::to_string(300'000 - start) + "\r\nContent-Range: bytes " +
                    std::to_string(start) + "-299999/300000\r\n\r\n");
    connection.send(body);
  });
  EXPECT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, payload);
  EXPECT_FALSE(server.seen().back().range_start) << "from the beginning";
}

TEST_F(ResumeTest, NoCompressedFormIsRequested) {
  FaultServer server([&](const Request&, Connection& connection) { connection.answer("200 OK", payload); });
  EXPECT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(server.seen().at(0).header("Accept-Encoding"), "identity");
}

TEST_F(ResumeTest, EveryAttemptRequestsTheOriginalUrl) {
  FaultServer server([&](const Request& request, Connection& connection) {
    if (request.path == "/file") {
      connection.answer("302 Found", "", "Location: /target" + std::to_string(request.number));
      return;
    }
    const std::uint64_t start = request.range_start.value_or(0);
    connection.send("HTTP/1.1 206 Partial\r\nContent-Length: " + std::to_string(300'000 - start) +
                    "\r\nContent-Range: bytes " + std::to_string(start) + "-299999/300000\r\n\r\n");
    connection.send(from(start).substr(0, 120'000));
  });
  EXPECT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, payload);
  EXPECT_EQ(server.seen().at(2).path, "/file");
}

}  // namespace
}  // namespace enginehost::transfer
