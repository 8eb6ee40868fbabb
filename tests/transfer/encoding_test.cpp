// Answers with Content-Encoding, which a transfer does not ask for.
#include <gtest/gtest.h>

#include "host/transfer/transfer.hpp"
#include "tests/support/fault_server.hpp"
#include "tests/support/host_programs.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/transfer/memory_sink.hpp"

namespace enginehost::transfer {
namespace {

using namespace std::chrono_literals;
using test::FaultServer;
using Connection = FaultServer::Connection;
using Request = FaultServer::Request;

class EncodingTest : public testing::Test {
 protected:
  EncodingTest() {
    options.first_backoff = 5ms;
    options.stall_limit = 2s;
    options.retries = 2;
    test::write_text(folder / "file", payload);
    EXPECT_TRUE(test::run_host_program({"gzip", "-9n", test::host_path(folder / "file")}));
    compressed = test::read_text(folder / "file.gz");
  }
  std::string code(const std::string& url, std::optional<std::uint64_t> size) {
    UrlRequest request;
    request.url = url;
    request.expected_size = size;
    const auto result = fetch_url(request, sink, options);
    diagnosis = result ? Diagnosis() : result.error();
    return result ? "ok" : std::string(diagnosis.code_text());
  }

  TransferOptions options;
  test::TemporaryFolder folder;
  test::MemorySink sink;
  Diagnosis diagnosis;
  const std::string payload = test::noise(50'000) + std::string(250'000, 'a');
  std::string compressed;
};

TEST_F(EncodingTest, AFileThatIsCompressedOnTheWayIsDecoded) {
  for (const bool has_length : {true, false}) {
    FaultServer server([&](const Request&, Connection& connection) {
      connection.send(
          "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n" +
          (has_length ? "Content-Length: " + std::to_string(compressed.size()) + "\r\n" : std::string()) +
          "\r\n");
      connection.send(compressed);
    });
    for (const std::size_t held : {0u, 1000u})
      for (const bool known : {true, false}) {
        sink.bytes = payload.substr(0, held);
        const auto size = known ? std::optional<std::uint64_t>(payload.size()) : std::nullopt;
        EXPECT_EQ(code(server.url("file"), size), "ok")
            << has_length << known << held << diagnosis.value(Key::curl_said);
        EXPECT_TRUE(sink.bytes == payload) << has_length << known << held;
      }
    EXPECT_EQ(server.seen().back().header("Accept-Encoding"), "identity");
    EXPECT_EQ(ask_size(server.url("file"), options).value(), std::nullopt);
    EXPECT_TRUE(fetch_text(server.url("file"), options).value() == payload);
  }
}

// Servers name the encoding of .tar.gz files so, and send them as they are.
TEST_F(EncodingTest, AFileThatIsCompressedItselfIsNotDecoded) {
  FaultServer server([&](const Request& got, Connection& connection) {
    const std::size_t start = got.range_start.value_or(0);
    connection.answer(
        start > 0 ? "206 Partial" : "200 OK", compressed.substr(start),
        "Content-Encoding: x-gzip" +
            (start > 0 ? "\r\nContent-Range: bytes " + std::to_string(start) + "-" +
                             std::to_string(compressed.size() - 1) + "/" + std::to_string(compressed.size())
                       : std::string()));
  });
  for (const std::size_t held : {0u, 1000u}) {
    sink.bytes = compressed.substr(0, held);
    EXPECT_EQ(code(server.url("file.tar.gz"), compressed.size()), "ok") << held;
    EXPECT_TRUE(sink.bytes == compressed) << held;
  }
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(EncodingTest, ACompressionThatCannotBeUndoneIsNamed) {
  std::string encoding = "private", status = "200 OK", range;
  FaultServer server([&](const Request&, Connection& connection) {
    connection.answer(status, "bytes", "Content-Encoding: " + encoding + range);
  });
  const auto expect_named = [&] {
    for (const auto size : {std::optional<std::uint64_t>(payload.size()), std::optional<std::uint64_t>()}) {
      EXPECT_EQ(code(server.url("file"), size), "EH-N20") << encoding << status;
      EXPECT_EQ(diagnosis.value(Key::content_encoding), encoding);
      EXPECT_EQ(sink.bytes, "");
    }
  };
  expect_named();
  encoding = "gzip";  // the bytes are not
  expect_named();
  status = "206 Partial";
  range = "\r\nContent-Range: bytes 0-4/77";
  expect_named();
}

}  // namespace
}  // namespace enginehost::transfer
