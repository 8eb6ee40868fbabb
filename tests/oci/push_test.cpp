// Pushing to registries that refuse or fail.
#include "tools/oci/push.hpp"

#include <gmock/gmock.h>

#include <map>

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

TEST_F(PushTest, ARefusalEndsItBeforeAnyTagIsWritten) {
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
  EXPECT_EQ(pushed.error().value(Key::status), "405");
  EXPECT_EQ(pushed.error().value(Key::registry_said), "read-only");
  for (const auto& request : server.seen()) EXPECT_NE(request.method, "PUT");
}

TEST_F(PushTest, AFailedUploadIsRestarted) {
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
  EXPECT_EQ(pushed.error().value(Key::status), "500");
}

// Each step is refused once, as by busy registries, one of which names a time.
TEST_F(PushTest, ABusyRegistryIsRetriedWhenItSays) {
  constexpr const char* refusals[] = {"429 Too Many Requests", "500 Internal Server Error", "503 Busy"};
  std::map<std::string, int> asked;
  std::vector<std::string> taken;
  std::size_t refused = 0;
  FaultServer server([&](const FaultServer::Request& request, FaultServer::Connection& connection) {
    if (request.method == "HEAD") {
      connection.answer("404 Not Found", "");
    } else if (++asked[request.method + request.path] == 1) {
      connection.answer(refusals[refused % 3], "", refused == 0 ? "Retry-After: 1" : "");
      ++refused;
    } else if (request.method == "POST") {
      connection.answer("202 Accepted", "", "Location: /v2/engines/sample/blobs/uploads/1");
    } else {
      taken.push_back(request.path);
      connection.answer("201 Created", "");
    }
  });
  const auto began = std::chrono::steady_clock::now();
  const auto pushed = push_to(server);
  ASSERT_TRUE(pushed) << pushed.error().code << pushed.error().value(Key::status);
  EXPECT_GT(std::chrono::steady_clock::now() - began, 1s) << "Retry-After was not heard";
  EXPECT_GE(refused, 3u);
  EXPECT_EQ(taken.back(), "/v2/engines/sample/manifests/1") << "the name comes last";
}

TEST_F(PushTest, AManifestIsNotRetriedForever) {
  FaultServer server([&](const FaultServer::Request& request, FaultServer::Connection& connection) {
    if (request.method == "HEAD")
      connection.answer("200 OK", "");
    else
      connection.answer("429 Too Many Requests", "");
  });
  const auto pushed = push_to(server);
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code, "EH-N36");
  EXPECT_EQ(pushed.error().value(Key::status), "429");
  int offered = 0;
  for (const auto& request : server.seen()) offered += request.method == "PUT" ? 1 : 0;
  EXPECT_EQ(offered, 3);
}

TEST_F(PushTest, AReferenceWithADigestIsNoTarget) {
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
