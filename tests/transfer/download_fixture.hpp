// A download of noise from servers that a test sets up.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "host/transfer/transfer.hpp"
#include "tests/support/fault_server.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/transfer/memory_parts.hpp"

namespace enginehost::transfer {

using namespace std::chrono_literals;
using test::FaultServer;
using Connection = FaultServer::Connection;
using Request = FaultServer::Request;

class DownloadTest : public testing::Test {
 protected:
  DownloadTest() {
    options.first_backoff = 5ms;
    options.stall_limit = 2s;
    options.connect_limit = 500ms;
    options.retries = 3;
    options.rate_window = 60ms;
    options.patience = 300ms;
    options.smallest_part = 1u << 20;
  }
  Result<DownloadReport> get(std::initializer_list<std::string> urls) { return get(urls, sink); }
  Result<DownloadReport> get(std::initializer_list<std::string> urls, test::MemoryParts& parts) {
    DownloadRequest request;
    for (const std::string& url : urls) request.mirrors.push_back({url, {}});
    return get(std::move(request), parts);
  }
  Result<DownloadReport> get(DownloadRequest request, test::MemoryParts& parts) {
    request.size = payload.size();
    failures.clear();
    return download(request, parts, options, failures, progress, cancel);
  }
  Result<DownloadReport> get(std::vector<Mirror> mirrors) { return get({std::move(mirrors), 0}, sink); }
  // Answers range requests correctly.
  void serve(const Request& request, Connection& connection) const {
    const std::uint64_t from = request.range_start.value_or(0);
    std::string_view rest = std::string_view(payload).substr(from);
    const std::string range = request.header("Range");
    if (const std::size_t dash = range.find('-'); dash != std::string::npos && dash + 1 < range.size())
      rest = rest.substr(0, std::strtoull(range.c_str() + dash + 1, nullptr, 10) + 1 - from);
    connection.answer(range.empty() ? "200 OK" : "206 Partial", rest,
                      "Content-Range: bytes " + std::to_string(from) + "-" +
                          std::to_string(from + rest.size() - 1) + "/" + std::to_string(payload.size()));
  }
  std::string dead() const { return "http://127.0.0.1:" + std::to_string(test::free_port()) + "/file"; }

  const std::string payload = test::noise(12u << 20);
  test::MemoryParts sink{12u << 20};
  TransferOptions options;
  std::vector<MirrorFailure> failures;
  ProgressCallback progress;
  std::optional<CancelToken> cancel;
};

}  // namespace enginehost::transfer
