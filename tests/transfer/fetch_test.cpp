#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "host/transfer/transfer.hpp"
#include "tests/support/fault_server.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/three_tries.hpp"
#include "tests/transfer/memory_sink.hpp"

namespace enginehost::transfer {
namespace {

using namespace std::chrono_literals;
using test::FaultServer;
using Connection = FaultServer::Connection;
using Request = FaultServer::Request;

class FetchTest : public testing::Test {
 protected:
  FetchTest() {
    options.first_backoff = 5ms;
    options.stall_limit = 500ms;
    options.connect_limit = 500ms;
    options.retries = 3;
  }
  Result<TransferReport> fetch(const std::string& url, std::optional<std::uint64_t> size = {}) {
    UrlRequest request;
    request.url = url;
    request.expected_size = size;
    return fetch_url(request, sink, options, progress, cancel);
  }
  std::string code(const std::string& url, std::optional<std::uint64_t> size = {}) {
    const auto report = fetch(url, size);
    return report ? "ok" : std::string(report.error().code_text());
  }
  TransferOptions options;
  test::MemorySink sink;
  ProgressCallback progress;
  std::optional<CancelToken> cancel;
  const std::string payload = test::noise(300'000);
};

TEST_F(FetchTest, FetchesAFileFromNginx) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  const auto report = fetch(server.url("file"), payload.size());
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_EQ(sink.bytes, payload);
  EXPECT_EQ(report->size, payload.size());
  EXPECT_EQ(report->attempts, 1);
  EXPECT_EQ(report->head, payload.substr(0, 4096));
}

TEST_F(FetchTest, ContinuesWhatIsHeld) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  sink.bytes = payload.substr(0, 100'000);
  const auto report = fetch(server.url("file"), payload.size());
  ASSERT_TRUE(report);
  EXPECT_EQ(sink.bytes, payload);
  EXPECT_EQ(report->received, 200'000u);
  EXPECT_EQ(report->resumed_at, 100'000u);
}

TEST_F(FetchTest, RestartsWhereTheServerKnowsNoRanges) {
  test::NginxServer server("max_ranges 0;");
  test::write_text(server.root() / "file", payload);
  sink.bytes = "other bytes";
  ASSERT_TRUE(fetch(server.url("file"), payload.size()));
  EXPECT_EQ(sink.bytes, payload);
  EXPECT_EQ(sink.starts, std::vector<std::uint64_t>{0});
}

TEST_F(FetchTest, TakesACompleteFileOfUnknownSizeAsComplete) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  sink.bytes = payload;
  const auto report = fetch(server.url("file"));
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_EQ(report->received, 0u);
  EXPECT_EQ(sink.bytes, payload);
}

TEST_F(FetchTest, RestartsWhenMoreIsHeldThanTheServerHas) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  sink.bytes = payload + "more";
  ASSERT_TRUE(fetch(server.url("file"), payload.size()));
  EXPECT_EQ(sink.bytes, payload);
}

// Sends the payload from the requested offset, 90,000 bytes on each connection.
FaultServer::Handler parts_of(const std::string& payload, bool reset) {
  return [&payload, reset](const Request& request, Connection& connection) {
    const std::uint64_t from = request.range_start.value_or(0);
    const std::string_view rest = std::string_view(payload).substr(from);
    connection.send("HTTP/1.1 " + std::string(from > 0 ? "206 Partial" : "200 OK") +
                    "\r\nETag: \"v1\"\r\nContent-Length: " + std::to_string(rest.size()) +
                    "\r\nContent-Range: bytes " + std::to_string(from) + "-299999/300000\r\n\r\n");
    connection.send(rest.substr(0, 90'000));
    if (reset) connection.reset();
  };
}

TEST_F(FetchTest, ContinuesAfterCutConnectionsWithTheStrongETag) {
  FaultServer server(parts_of(payload, false));
  options.retries = 1;
  const auto report = fetch(server.url("file"), payload.size());
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_EQ(sink.bytes, payload);
  EXPECT_GE(report->attempts, 4) << "progress renews the patience";
  EXPECT_EQ(server.seen().at(1).header("If-Range"), "\"v1\"");
}

TEST_F(FetchTest, ContinuesAfterResetConnections) {
  FaultServer server(parts_of(payload, true));
  options.retries = 10;  // bytes that were not read before a reset are lost, so some connections bring none
  const auto report = fetch(server.url("file"), payload.size());
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_EQ(sink.bytes, payload);
  EXPECT_GE(report->attempts, 4);
}

TEST_F(FetchTest, NeverTakesAContinuationFromAnotherPlace) {
  FaultServer server([&](const Request& request, Connection& connection) {
    if (request.range_start)
      connection.answer("206 Partial", std::string_view(payload).substr(1),
                        "Content-Range: bytes 1-299999/300000");
    else
      connection.answer("200 OK", payload);
  });
  sink.bytes = payload.substr(0, 1000);
  ASSERT_TRUE(fetch(server.url("file"), payload.size()));
  EXPECT_EQ(sink.bytes, payload);
}

TEST_F(FetchTest, RestartsWhenTheFileChangedMeanwhile) {
  FaultServer server([&](const Request& request, Connection& connection) {
    if (request.range_start)
      connection.answer("206 Partial", "xyz", "Content-Range: bytes 1000-1002/1003");
    else
      connection.answer("200 OK", payload);
  });
  sink.bytes = payload.substr(0, 1000);
  EXPECT_EQ(code(server.url("file"), payload.size()), "ok");
  EXPECT_EQ(sink.bytes, payload);
}

TEST_F(FetchTest, NamesTheStatusAndKeepsErrorPagesOut) {
  test::NginxServer server;
  const auto report = fetch(server.url("missing?token=secret"));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N04");
  EXPECT_EQ(report.error().value(Key::status), "404");
  EXPECT_EQ(report.error().value(Key::url), server.url("missing"));
  EXPECT_EQ(report.error().value(Key::title), "404 Not Found");
  EXPECT_TRUE(sink.bytes.empty());
  EXPECT_EQ(server.requests("GET"), 1) << "404 is not asked for again";
}

TEST_F(FetchTest, RetriesABusyServerAndHonorsRetryAfter) {
  FaultServer server([&](const Request& request, Connection& connection) {
    if (request.number < 3)
      connection.answer("503 Busy", "busy", request.number == 2 ? "Retry-After: 1" : "");
    else
      connection.answer("200 OK", payload);
  });
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(fetch(server.url("file"), payload.size()));
  EXPECT_EQ(server.requests(), 3);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 950ms);
}

TEST_F(FetchTest, GivesUpOnAServerThatStaysBusy) {
  FaultServer server([](const Request&, Connection& connection) { connection.answer("503 Busy", "busy"); });
  const auto report = fetch(server.url("file"));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().value(Key::status), "503");
  EXPECT_EQ(report.error().value(Key::attempts), "4");
}

TEST_F(FetchTest, NamesALoginPageThatCameInsteadOfTheFile) {
  FaultServer server([](const Request&, Connection& connection) {
    connection.answer("200 OK",
                      "<!DOCTYPE html><html><head><title>Sign in to Guest WiFi</title></head></html>",
                      "Content-Type: application/octet-stream");
  });
  const auto report = fetch(server.url("file"), payload.size());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N06");
  EXPECT_EQ(report.error().value(Key::title), "Sign in to Guest WiFi");
  EXPECT_TRUE(sink.bytes.empty());
}

TEST_F(FetchTest, RefusesAFileOfAnotherLength) {
  FaultServer server([&](const Request&, Connection& connection) { connection.answer("200 OK", payload); });
  const auto report = fetch(server.url("file"), 299'999);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N07");
  EXPECT_EQ(report.error().value(Key::expected), "299999");
  EXPECT_EQ(report.error().value(Key::actual), "300000");
  EXPECT_TRUE(sink.bytes.empty());
}

TEST_F(FetchTest, SaysWhatCameInPlaceOfTheFile) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') + "\nsize 300000\n";
  struct Case {
    std::string body, key, value;
  };
  test::TemporaryFolder folder;
  for (const auto& [body, key, value] :
       {Case{pointer, "git_lfs", "yes"},
        Case{R"({"message": "rate limit exceeded"})", "says", "rate limit exceeded"},
        Case{"<Error><Code>A</Code><Message>Request has expired</Message></Error>", "says",
             "Request has expired"},
        Case{"Not for you", "says", "Not for you"},
        Case{std::string("\x7f"
                         "ELF\0\0",
                         6),
             "says", ""},
        Case{std::string(3000, 'x'), "says", ""}}) {
    FaultServer server(
        [&, body = body](const Request&, Connection& connection) { connection.answer("200 OK", body); });
    const auto report = fetch(server.url("file"), 300'000);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, "EH-N07");
    EXPECT_EQ(report.error().value(key_named(key).value()), value) << body;
    test::write_text(folder / "file", body);
    const auto copied = fetch_file(folder / "file", 300'000, sink);
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().value(key_named(key).value()), value) << body;
  }
}

TEST_F(FetchTest, BoundsAnAnswerThatNeverEnds) {
  FaultServer server([&](const Request&, Connection& connection) {
    connection.send("HTTP/1.1 200 OK\r\n\r\n");
    while (connection.send(payload)) {
    }
  });
  UrlRequest request;
  request.url = server.url("file");
  request.limit = 1'000'000;
  const auto report = fetch_url(request, sink, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N07");
  EXPECT_LE(sink.bytes.size(), 1'000'000u);
}

TEST_F(FetchTest, GivesUpOnASilentServer) {
  FaultServer server([&](const Request&, Connection& connection) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\nfew bytes");
    connection.stall(5s);
  });
  options.retries = 1;
  const auto report = fetch(server.url("file"), payload.size());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N03");
  EXPECT_EQ(report.error().value(Key::received), "9");
  EXPECT_FALSE(report.error().value(Key::seconds).empty());
}

TEST_F(FetchTest, IsPatientWithASlowServer) {
  FaultServer server([&](const Request&, Connection& connection) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n");
    connection.drip(std::string(20, 'x'), 30ms);
  });
  EXPECT_EQ(code(server.url("file"), 20), "ok") << "600 ms in all, but never 300 ms without a byte";
}

TEST_F(FetchTest, DistinguishesRefusedConnectionsFromUnknownNames) {
  EXPECT_EQ(code("http://127.0.0.1:" + std::to_string(test::free_port()) + "/"), "EH-N02");
  EXPECT_EQ(code("http://no-such-host.invalid/"), "EH-N01");
}

TEST_F(FetchTest, ReportsTlsTroubleAsSuch) {
  test::NginxServer server;  // speaks plain HTTP
  const auto report = fetch("https://127.0.0.1:" + std::to_string(server.port()) + "/");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N05");
}

TEST_F(FetchTest, FollowsRedirects) {
  test::NginxServer server("location = /old { return 302 /new; }");
  test::write_text(server.root() / "new", payload);
  const auto report = fetch(server.url("old"), payload.size());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->url, server.url("new"));
}

TEST_F(FetchTest, RefusesEndlessAndForeignRedirects) {
  test::NginxServer server(
      "location = /loop { return 302 /loop; } location = /local { return 302 file:///etc/passwd; }");
  EXPECT_EQ(code(server.url("loop")), "EH-N11");
  const auto report = fetch(server.url("local"));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N11");
  EXPECT_EQ(report.error().value(Key::target), "file:///etc/passwd");
  EXPECT_TRUE(sink.bytes.empty());
}

TEST_F(FetchTest, RefusesWhatIsNotHttp) { EXPECT_EQ(code("file:///etc/passwd"), "EH-N11"); }

TEST_F(FetchTest, PassesTheSinksErrorOn) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  sink.full = true;
  EXPECT_EQ(code(server.url("file")), "EH-F15");
  EXPECT_EQ(server.requests("GET"), 1);
}

TEST_F(FetchTest, OpensNoConnectionOffline) {
  FaultServer server([](const Request&, Connection& connection) { connection.answer("200 OK", "x"); });
  options.offline = true;
  EXPECT_EQ(code(server.url("file")), "EH-N10");
  EXPECT_EQ(ask_size(server.url("file"), options).error().code, "EH-N10");
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(FetchTest, IsCanceledWithinATenthOfASecond) {
  FaultServer server([](const Request&, Connection& connection) { connection.stall(5s); });
  options.stall_limit = 10s;
  const auto ends_after = [&] {
    cancel = CancelToken();
    std::chrono::steady_clock::time_point asked;
    std::thread later([&] {
      std::this_thread::sleep_for(100ms);
      asked = std::chrono::steady_clock::now();
      cancel->cancel();
    });
    EXPECT_EQ(code(server.url("file")), "EH-P10");
    const auto ended = std::chrono::steady_clock::now();
    later.join();
    return ended - asked;
  };
  EXPECT_LT(test::shortest_of_three(150ms, ends_after), 150ms);
}

TEST_F(FetchTest, ProgressNeverGoesBack) {
  test::NginxServer server("limit_rate 600k;");
  test::write_text(server.root() / "file", test::noise(1'200'000));
  std::vector<std::uint64_t> done;
  progress = [&](const Progress& now) {
    done.push_back(now.done);
    EXPECT_EQ(now.total, 1'200'000u);
  };
  ASSERT_TRUE(fetch(server.url("file"), 1'200'000));
  EXPECT_GE(done.size(), 3u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), 1'200'000u);
}

TEST_F(FetchTest, RequestsTheSizeOnly) {
  test::NginxServer server;
  test::write_text(server.root() / "file", payload);
  EXPECT_EQ(ask_size(server.url("file"), options).value(), payload.size());
  EXPECT_EQ(ask_size(server.url("missing"), options).value(), std::nullopt);
}

TEST_F(FetchTest, ReadsLocalFiles) {
  test::TemporaryFolder folder;
  test::write_text(folder / "file", payload);
  ASSERT_TRUE(fetch_file(folder / "file", payload.size(), sink));
  EXPECT_EQ(sink.bytes, payload);
  EXPECT_EQ(fetch_file(folder / "file", 1, sink).error().code, "EH-N07");
  EXPECT_EQ(fetch_file(folder / "none", {}, sink).error().code, "EH-N14");
  EXPECT_EQ(fetch_file(folder.path(), {}, sink).error().code, "EH-N14");
}

}  // namespace
}  // namespace enginehost::transfer
