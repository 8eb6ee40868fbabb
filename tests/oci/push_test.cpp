// Pushing to registries that refuse or fall over.
#include "host/oci/push.hpp"

#include "tests/oci/installed_build.hpp"
#include "tests/support/fault_server.hpp"

namespace enginehost::oci {
namespace {

using namespace std::chrono_literals;
using test::FaultServer;

class PushTest : public test::InstalledBuildTest {
 protected:
  PushTest() {
    options_.transfer.first_backoff = 5ms;
    options_.transfer.retries = 1;
    options_.transfer.connect_limit = options_.transfer.stall_limit = 500ms;
  }
  Result<Pushed> push_to(const FaultServer& server, const std::string& rest = "/engines/sample:1") {
    auto artifact = make();
    if (!artifact) return fail(artifact.error());
    const auto target = read_reference("127.0.0.1:" + std::to_string(server.port()) + rest);
    return push(*target, {*artifact}, options_);
  }
  PushOptions options_;
};

TEST_F(PushTest, ARefusalEndsItBeforeAnythingIsNamed) {
  FaultServer server([](const FaultServer::Request& request, FaultServer::Connection& connection) {
    if (request.method == "HEAD")
      connection.answer("404 Not Found", "");
    else
      connection.answer("405 Method Not Allowed",
                        R"({"errors": [{"code": "UNSUPPORTED", "message": "read-only"}]})");
  });
  const auto pushed = push_to(server);
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code, "EH-N36");
  EXPECT_EQ(pushed.error().value("status"), "405");
  EXPECT_EQ(pushed.error().value("registry_said"), "read-only");
  for (const auto& request : server.seen()) EXPECT_NE(request.method, "PUT");
}

TEST_F(PushTest, AnUploadThatFallsOverBeginsAnew) {
  int begun = 0;
  FaultServer server([&](const FaultServer::Request& request, FaultServer::Connection& connection) {
    if (request.method == "HEAD")
      connection.answer("404 Not Found", "");
    else if (request.method == "POST" && ++begun <= 2)
      connection.answer("503 Service Unavailable", "");
    else
      connection.answer("500 Internal Server Error", "");
  });
  const auto pushed = push_to(server);
  ASSERT_FALSE(pushed);
  EXPECT_EQ(begun, 3);
  EXPECT_EQ(pushed.error().value("status"), "500");
}

TEST_F(PushTest, WhatHasADigestIsNoTarget) {
  FaultServer server([](const FaultServer::Request&, FaultServer::Connection& connection) {
    connection.answer("200 OK", "");
  });
  const auto pushed = push_to(server, "/engines/sample@sha256:" + std::string(64, 'a'));
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code, "EH-N35");
  EXPECT_EQ(server.requests(), 0);
}

}  // namespace
}  // namespace enginehost::oci
