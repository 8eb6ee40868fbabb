// Pulling from registries that misbehave in ways that the real one does not.
#include "host/oci/pull.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/oci/documents.hpp"
#include "tests/support/fault_server.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/token_server.hpp"
#include "tests/support/variables.hpp"

namespace enginehost::oci {
namespace {

using namespace std::chrono_literals;
using test::FaultServer;

class Memory : public transfer::Sink {
 public:
  std::uint64_t held() const override { return bytes.size(); }
  Result<void> start(std::uint64_t offset) override {
    bytes.resize(offset);
    return {};
  }
  Result<void> write(std::string_view more) override {
    bytes += more;
    return {};
  }
  std::string bytes;
};

// Paths below /v2/engines/torch/ and their answers; others are 404.
class PullTest : public testing::Test {
 protected:
  PullTest() {
    test::set_variable("REGISTRY_AUTH_FILE", path_text(folder / "auth.json"));
    options.first_backoff = 5ms;
    options.stall_limit = 500ms;
    options.connect_limit = 500ms;
    options.retries = 2;
    wanted.sha256 = sha256_hex(blob);
    wanted.os = "linux";
    wanted.arch = "x86_64";
    wanted.flavor = "cu118";
    serve("blobs/sha256:" + wanted.sha256, blob);
  }
  ~PullTest() override { test::remove_variable("REGISTRY_AUTH_FILE"); }

  void serve(const std::string& path, const std::string& body) { pages["/v2/engines/torch/" + path] = body; }
  // Adds a document under its own digest, which is returned.
  std::string serve_document(const std::string& text) {
    const std::string digest = sha256_hex(text);
    serve("manifests/sha256:" + digest, text);
    return digest;
  }
  static std::string descriptor(const std::string& digest, const std::string& more = {}) {
    return R"({"mediaType": "application/octet-stream", "size": 5, "digest": "sha256:)" + digest + "\"" +
           more + "}";
  }
  static std::string manifest_with(const std::string& digest) {
    return R"({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": )" +
           descriptor(std::string(64, '0')) + R"(, "layers": [)" + descriptor(digest) + "]}";
  }
  static std::string entry(const std::string& digest, const std::string& architecture,
                           const std::string& flavor) {
    return descriptor(digest, R"(, "platform": {"os": "linux", "architecture": ")" + architecture +
                                  R"("}, "annotations": {"org.enginehost.flavor": ")" + flavor + "\"}");
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(server.port()); }
  std::string reference(const std::string& rest = {}) const { return host() + "/engines/torch" + rest; }
  Result<transfer::TransferReport> fetch(const std::string& from,
                                         const std::optional<CancelToken>& cancel = {}) {
    const transfer::Mirror mirror{from,
                                  [&](const transfer::TransferOptions& given, const CancelToken& canceled) {
                                    return locate(from, wanted, given, canceled);
                                  }};
    transfer::UrlRequest request;
    request.expected_size = size;
    return transfer::fetch_from(mirror, request, sink, options, {}, cancel);
  }
  Result<transfer::TransferReport> get(const std::string& rest = {}) {
    sink.bytes.clear();
    return fetch(reference(rest));
  }
  std::string code(const std::string& rest = {}) {
    const auto report = get(rest);
    return report ? "ok" : std::string(report.error().code_text());
  }
  int asked(const std::string& part) const {
    int count = 0;
    for (const auto& request : server.seen()) count += request.path.find(part) != std::string::npos ? 1 : 0;
    return count;
  }

  test::TemporaryFolder folder;
  const std::string blob = "archive " + test::noise(300'000);
  std::map<std::string, std::string> pages;
  std::function<bool(const FaultServer::Request&, FaultServer::Connection&)>
      before;  // true: it sent an answer
  FaultServer server{[this](const FaultServer::Request& request, FaultServer::Connection& connection) {
    if (before && before(request, connection)) return;
    const auto page = pages.find(request.path);
    if (page == pages.end())
      connection.answer("404 Not Found",
                        R"({"errors": [{"code": "NAME_UNKNOWN", "message": "unknown to me"}]})");
    else
      connection.answer("200 OK", page->second);
  }};
  transfer::TransferOptions options;
  Wanted wanted;
  std::optional<std::uint64_t> size;
  Memory sink;
};

TEST_F(PullTest, ABlobIsFetchedByItsDigestOrByTheNameAlone) {
  for (const std::string& rest : {"@sha256:" + wanted.sha256, std::string()}) {
    const auto report = get(rest);
    ASSERT_TRUE(report) << report.error().code;
    EXPECT_TRUE(sink.bytes == blob);
    EXPECT_EQ(report->received, blob.size());
  }
  EXPECT_EQ(asked("/manifests/"), 0);
  const auto located = locate(reference(), wanted, options);
  ASSERT_TRUE(located);
  EXPECT_EQ(located->size, blob.size());
}

TEST_F(PullTest, AManifestIsReadBeforeTheBlobItLists) {
  serve("manifests/v2", manifest_with(wanted.sha256));
  EXPECT_EQ(code(":v2"), "ok");
  EXPECT_EQ(code("@sha256:" + serve_document(manifest_with(wanted.sha256))), "ok");
  EXPECT_EQ(code(":v2@sha256:" + serve_document(manifest_with(wanted.sha256))), "ok");
}

TEST_F(PullTest, ReadsTheIndexEntryOfThisPlatformAndFlavorFirst) {
  const std::string ours = serve_document(manifest_with(wanted.sha256)),
                    other = serve_document(manifest_with(std::string(64, '1')));
  const std::string index = serve_document(R"({"schemaVersion": 2, "manifests": [)" +
                                           entry(std::string(64, '5'), "arm64", "cu118") + "," +
                                           entry(std::string(64, '6'), "amd64", "cpu") + "," +
                                           descriptor(other) + "," + entry(ours, "amd64", "cu118") + "]}");
  EXPECT_EQ(code("@sha256:" + index), "ok");
  EXPECT_EQ(asked("/manifests/"), 2) << "the index and the one manifest that fits best";
}

TEST_F(PullTest, AnIndexWithoutThisPlatformNamesItsEntries) {
  const std::string index = serve_document(R"({"schemaVersion": 2, "manifests": [)" +
                                           entry(std::string(64, '5'), "arm64", "cu118") + "]}");
  const auto report = get("@sha256:" + index);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N34");
  EXPECT_EQ(report.error().value(Key::offered), "linux/arm64 cu118");
  EXPECT_EQ(report.error().value(Key::platform), "linux/amd64 cu118");
}

TEST_F(PullTest, ABlobThatItsManifestDoesNotListIsNotRequested) {
  EXPECT_EQ(code("@sha256:" + serve_document(manifest_with(std::string(64, '7')))), "EH-N34");
  EXPECT_EQ(asked("/blobs/"), 0);
}

TEST_F(PullTest, AManifestWithOtherContentIsWrongBytes) {
  const std::string digest(64, '3');
  serve("manifests/sha256:" + digest, manifest_with(wanted.sha256));
  EXPECT_EQ(code("@sha256:" + digest), "EH-N33");
}

TEST_F(PullTest, AnotherDocumentIsReportedWithItsType) {
  serve("manifests/old", R"({"schemaVersion": 1, "fsLayers": []})");
  EXPECT_EQ(code(":old"), "EH-N32");
  serve("manifests/page", "<html><title>Sign in</title></html>");
  EXPECT_EQ(code(":page"), "EH-N32");
  serve("manifests/large", std::string(5u << 20, ' '));
  EXPECT_EQ(code(":large"), "EH-N32");
}

TEST_F(PullTest, AMissingBlobIsReportedWithTheRegistrysMessage) {
  const auto report = get(":missing");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N31");
  EXPECT_EQ(report.error().value(Key::registry_said), "unknown to me");
  pages.clear();
  EXPECT_EQ(code(), "EH-N31");
}

TEST_F(PullTest, OfflineSendsNoRequest) {
  options.offline = true;
  EXPECT_EQ(code(), "EH-N10");
  EXPECT_FALSE(locate(reference(), wanted, options));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(PullTest, AnOverloadedRegistryIsRetried) {
  before = [](const FaultServer::Request& request, FaultServer::Connection& connection) {
    return request.number <= 2 && connection.answer("503 Service Unavailable", "");
  };
  EXPECT_EQ(code(), "ok");
}

TEST_F(PullTest, TheRetryTimeOfARegistryIsRespected) {
  before = [](const FaultServer::Request& request, FaultServer::Connection& connection) {
    return request.number == 1 && connection.answer("429 Too Many Requests", "", "Retry-After: 1");
  };
  options.retries = 1;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(code(), "ok");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
}

TEST_F(PullTest, ASlowDocumentHasATotalTimeLimit) {
  options.document_limit = 400ms;
  before = [](const FaultServer::Request&, FaultServer::Connection& connection) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n");
    connection.drip(std::string(30'000, ' '), 20ms);
    return true;
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto report = get(":v2");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N03");
  EXPECT_FALSE(report.error().value(Key::document_seconds).empty());
  EXPECT_EQ(server.requests(), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
}

TEST_F(PullTest, AnAnonymousUserGetsATokenFromTheService) {
  const test::TokenServer tokens("for-all");
  before = [&](const FaultServer::Request& request, FaultServer::Connection& connection) {
    if (request.header("Authorization") == "Bearer for-all") return false;
    return connection.answer("401 Unauthorized", "",
                             "WWW-Authenticate: " + tokens.challenge("engines/torch", "pull"));
  };
  EXPECT_EQ(code(), "ok");
  ASSERT_EQ(tokens.seen().size(), 1u);
  EXPECT_THAT(tokens.seen()[0].path, testing::HasSubstr("service=test%20registry"));
  EXPECT_THAT(tokens.seen()[0].path, testing::HasSubstr("scope=repository%3Aengines%2Ftorch%3Apull"));
  EXPECT_EQ(tokens.seen()[0].header("Authorization"), "");
}

// A token for more would go to the registry that asked for it.
TEST_F(PullTest, TheTokenIsOnlyForThisRepositoryAndAction) {
  for (const char* wanted :
       {"repository:engines/torch:pull,push,delete", "repository:others/secret:pull", "registry:catalog:*",
        "repository:engines/torch:pull repository:others/secret:pull,push"}) {
    const test::TokenServer tokens("for-all");
    std::string challenge = tokens.challenge("engines/torch", "pull");
    const std::string needed = "repository:engines/torch:pull";
    challenge.replace(challenge.find(needed), needed.size(), wanted);
    before = [&](const FaultServer::Request& request, FaultServer::Connection& connection) {
      if (request.header("Authorization") == "Bearer for-all") return false;
      return connection.answer("401 Unauthorized", "", "WWW-Authenticate: " + challenge);
    };
    EXPECT_EQ(code(), "ok") << wanted;
    ASSERT_EQ(tokens.seen().size(), 1u) << wanted;
    EXPECT_THAT(tokens.seen()[0].path, testing::EndsWith("&scope=repository%3Aengines%2Ftorch%3Apull"))
        << wanted;
  }
}

TEST_F(PullTest, ABusyTokenServiceIsRetriedWhenItSays) {
  const FaultServer tokens([](const FaultServer::Request& request, FaultServer::Connection& connection) {
    if (request.number == 1)
      connection.answer("429 Too Many Requests", "", "Retry-After: 1");
    else if (request.number == 2)
      connection.answer("503 Service Unavailable", "");
    else
      connection.answer("200 OK", R"({"token": "for-all"})");
  });
  before = [&](const FaultServer::Request& request, FaultServer::Connection& connection) {
    if (request.header("Authorization") == "Bearer for-all") return false;
    return connection.answer("401 Unauthorized", "",
                             "WWW-Authenticate: Bearer realm=\"" + tokens.url("token") + "\"");
  };
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(code(), "ok");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_EQ(tokens.requests(), 3);
}

TEST_F(PullTest, ATokenServiceThatStaysBusyIsReported) {
  const FaultServer tokens([](const FaultServer::Request&, FaultServer::Connection& connection) {
    connection.answer("429 Too Many Requests", "");
  });
  before = [&](const FaultServer::Request&, FaultServer::Connection& connection) {
    return connection.answer("401 Unauthorized", "",
                             "WWW-Authenticate: Bearer realm=\"" + tokens.url("token") + "\"");
  };
  const auto report = get();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N04");
  EXPECT_EQ(report.error().value(Key::status), "429");
  EXPECT_EQ(tokens.requests(), 1 + options.retries);
}

TEST_F(PullTest, ARegistrysLimitSaysWhenItEnds) {
  for (const char* header : {"Retry-After: 7200", ""}) {
    options.retries = 0;
    before = [&](const FaultServer::Request&, FaultServer::Connection& connection) {
      return connection.answer("429 Too Many Requests", "", header);
    };
    const auto report = get();
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().value(Key::status), "429");
    EXPECT_EQ(report.error().value(Key::retry_after).empty(), *header == 0);
  }
}

TEST_F(PullTest, CredentialsGoToTheTokenServiceOnly) {
  test::write_text(
      folder / "auth.json",
      R"({"auths": {")" + host() + R"(": {"auth": "dXNlcjpwYXNz"}, "other.example": {"auth": "eDp5"}}})");
  const test::TokenServer tokens("for-user", "dXNlcjpwYXNz");
  FaultServer storage([this](const FaultServer::Request&, FaultServer::Connection& connection) {
    connection.answer("200 OK", blob);
  });
  before = [&](const FaultServer::Request& request, FaultServer::Connection& connection) {
    if (request.header("Authorization") != "Bearer for-user")
      return connection.answer("401 Unauthorized", "",
                               "WWW-Authenticate: " + tokens.challenge("engines/torch", "pull"));
    // Blobs are often on another host, under an address that needs no sign-in.
    return connection.answer("307 Temporary Redirect", "", "Location: " + storage.url("signed?key=1"));
  };
  EXPECT_EQ(code(), "ok");
  EXPECT_TRUE(sink.bytes == blob);
  ASSERT_FALSE(storage.seen().empty());
  for (const auto& request : storage.seen()) EXPECT_EQ(request.header("Authorization"), "");
  for (const auto& request : server.seen())
    EXPECT_THAT(request.header("Authorization"), testing::Not(testing::HasSubstr("Basic")));
}

TEST_F(PullTest, ATokenServiceOnAnotherHostWithoutTlsIsRefused) {
  before = [](const FaultServer::Request&, FaultServer::Connection& connection) {
    return connection.answer("401 Unauthorized", "",
                             "WWW-Authenticate: Bearer realm=\"http://tokens.example/\",service=\"x\"");
  };
  const auto report = get();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N30");
  EXPECT_THAT(std::string(report.error().value(Key::problem)), testing::HasSubstr("without TLS"));
}

TEST_F(PullTest, ARefusalNamesTheRegistryAndTheSignInState) {
  before = [](const FaultServer::Request& request, FaultServer::Connection& connection) {
    return connection.answer(request.method == "HEAD" ? "401 Unauthorized" : "403 Forbidden", "",
                             "WWW-Authenticate: Basic realm=\"x\"");
  };
  const auto report = get();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N30");
  EXPECT_EQ(report.error().value(Key::registry), host());
  EXPECT_EQ(report.error().value(Key::signed_in), "no");
  EXPECT_EQ(code(":tag"), "EH-N30");
}

TEST_F(PullTest, AnExpiredTokenIsReplacedAndTheBlobContinues) {
  int given = 0;
  FaultServer tokens([&](const FaultServer::Request&, FaultServer::Connection& connection) {
    connection.answer("200 OK", R"({"token": "t)" + std::to_string(++given) + "\"}");
  });
  before = [&](const FaultServer::Request& request, FaultServer::Connection& connection) {
    const bool first = request.header("Authorization") == "Bearer t1";
    if (request.header("Authorization").empty() || (first && request.range_start))
      return connection.answer("401 Unauthorized", "",
                               "WWW-Authenticate: Bearer realm=\"" + tokens.url("token") + "\"");
    if (request.method == "HEAD") return false;
    const std::string head = "Content-Length: ";
    if (first) {  // half of it, then the connection ends
      connection.send("HTTP/1.1 200 OK\r\n" + head + std::to_string(blob.size()) + "\r\nETag: \"1\"\r\n\r\n");
      return connection.send(blob.substr(0, 100'000));
    }
    const std::size_t from = request.range_start.value_or(0);
    return connection.answer("206 Partial Content", blob.substr(from),
                             "Content-Range: bytes " + std::to_string(from) + "-" +
                                 std::to_string(blob.size() - 1) + "/" + std::to_string(blob.size()) +
                                 "\r\nETag: \"1\"");
  };
  const auto report = get();
  ASSERT_TRUE(report) << report.error().code;
  EXPECT_TRUE(sink.bytes == blob);
  EXPECT_EQ(given, 2);
  EXPECT_EQ(report->received, blob.size()) << "no byte came twice";
}

TEST_F(PullTest, CancelingEndsIt) {
  const CancelToken cancel;
  cancel.cancel();
  const auto report = fetch(reference(), cancel);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-P10");
}

TEST_F(PullTest, AnUnreachableRegistryIsReported) {
  const auto report = fetch("127.0.0.1:1/engines/torch");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-N02");
}

TEST(Mirrors, ComeBeforeTheRegistryTheyAreNamedFor) {
  transfer::TransferOptions options;
  options.registry_mirrors = {"registry.example=mirror.lan:5000", "other.example=x.lan",
                              "registry.example=second.lan"};
  EXPECT_THAT(with_mirrors("registry.example/a/b:1", options),
              testing::ElementsAre("mirror.lan:5000/a/b:1", "second.lan/a/b:1", "registry.example/a/b:1"));
  EXPECT_THAT(with_mirrors("third.example/a", options), testing::ElementsAre("third.example/a"));
  EXPECT_THAT(with_mirrors("not a reference", options), testing::ElementsAre("not a reference"));
}

}  // namespace
}  // namespace enginehost::oci
