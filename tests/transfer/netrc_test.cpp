// Where the passwords of ~/.netrc go.
#include <gtest/gtest.h>

#include <string>

#include "base/paths.hpp"
#include "host/transfer/connection_settings.hpp"
#include "host/transfer/transfer.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/variables.hpp"
#include "tests/transfer/memory_sink.hpp"

namespace enginehost::transfer {
namespace {

class Netrc : public testing::Test {
 protected:
  ~Netrc() override { test::remove_variable("NETRC"); }
  void write(const std::string& text) {
    const auto file = folder_.path() / "netrc";
    test::write_text(file, text);
    test::set_variable("NETRC", path_text(file));
  }
  bool goes_to(const std::string& url) { return !netrc_for(url, options_).empty(); }

  test::TemporaryFolder folder_;
  TransferOptions options_;
};

TEST_F(Netrc, GoesByHttpsToThePort443OfItsMachine) {
  write("machine h.example login me password secret\n");
  EXPECT_TRUE(goes_to("https://h.example/x"));
  EXPECT_TRUE(goes_to("https://H.Example:443/x"));
  for (const char* other :
       {"https://h.example:8443/x", "http://h.example/x", "http://h.example:443/x", "https://evil.example/x",
        "https://h.example@evil.example/x", "https://h.example.evil.example/x"})
    EXPECT_FALSE(goes_to(other)) << other;
}

TEST_F(Netrc, GoesToTheOriginsThatAPersonNames) {
  write("machine h.example login me password secret\n");
  options_.named_origins = {"http://h.example:80", "https://h.example:8443"};
  EXPECT_TRUE(goes_to("http://h.example/x"));
  EXPECT_TRUE(goes_to("https://h.example:8443/x"));
  EXPECT_TRUE(goes_to("https://h.example/x")) << "as without a name";
  EXPECT_FALSE(goes_to("http://h.example:8443/x")) << "another scheme";
  EXPECT_FALSE(goes_to("https://h.example:80/x"));
  EXPECT_FALSE(goes_to("http://h.example:8080/x")) << "another port";
}

TEST_F(Netrc, ItsDefaultGoesToNamedOriginsOnly) {
  write("machine h.example login me password secret\ndefault login you password other\n");
  EXPECT_FALSE(goes_to("https://evil.example/x"));
  options_.named_origins = {"https://mine.example:443"};
  EXPECT_TRUE(goes_to("https://mine.example/x"));
}

TEST_F(Netrc, CommentsAndMacrosNameNoMachine) {
  write(
      "# machine a.example\nmachine h.example login me password secret\nmacdef init\nmachine b.example\n\n"
      "machine\tc.example\nlogin me password machine\n");
  EXPECT_FALSE(goes_to("https://a.example/"));
  EXPECT_FALSE(goes_to("https://b.example/"));
  EXPECT_TRUE(goes_to("https://h.example/"));
  EXPECT_TRUE(goes_to("https://c.example/"));
  EXPECT_FALSE(goes_to("https://login/"));
}

// Answers only who sends netrc's password.
class GuardedServer : public Netrc {
 protected:
  GuardedServer() {
    test::write_text(guarded_.root() / "file", "bytes");
    write("machine 127.0.0.1 login me password secret\n");
    options_.retries = 0;
  }
  std::string code(const std::string& url) {
    UrlRequest request;
    request.url = url;
    test::MemorySink sink;
    const auto result = fetch_url(request, sink, options_);
    if (!result) diagnosis_ = result.error();
    return result ? "ok" : std::string(result.error().code_text());
  }
  const test::NginxServer guarded_{"if ($http_authorization != \"Basic bWU6c2VjcmV0\") { return 401; }"};
  Diagnosis diagnosis_;
};

TEST_F(GuardedServer, GetsNoPasswordThatOnlyAManifestAsksFor) {
  EXPECT_EQ(code(guarded_.url("file")), "EH-N04");
  EXPECT_EQ(diagnosis_.value(Key::netrc_withheld), origin_of(guarded_.url("")));
  options_.named_origins = {origin_of(guarded_.url(""))};
  EXPECT_EQ(code(guarded_.url("file")), "ok");
}

TEST_F(GuardedServer, GetsNoPasswordByARedirect) {
  const test::NginxServer named("location = /file { return 302 " + guarded_.url("file") + "; }");
  options_.named_origins = {origin_of(named.url(""))};
  EXPECT_EQ(code(named.url("file")), "EH-N04") << "another port of the same host";
  EXPECT_EQ(diagnosis_.value(Key::status), "401");
  options_.named_origins.push_back(origin_of(guarded_.url("")));
  EXPECT_EQ(code(named.url("file")), "ok");
}

TEST_F(GuardedServer, GetsNoPasswordForAUserThatTheUrlNames) {
  std::string url = guarded_.url("file");
  EXPECT_EQ(code(url.insert(url.find("127"), "me@")), "EH-N04") << "the password of the user \"me\"";
}

TEST_F(GuardedServer, GetsItByTlsOnlyOnAPortThatAPersonNames) {
  const test::Certificates certificates;
  const int port = test::free_port();
  const test::NginxServer server(certificates.directives(port) +
                                 "if ($http_authorization != \"Basic bWU6c2VjcmV0\") { return 401; }");
  test::write_text(server.root() / "file", "bytes");
  options_.extra_ca = certificates.authority();
  const std::string origin = "https://127.0.0.1:" + std::to_string(port);
  EXPECT_EQ(code(origin + "/file"), "EH-N04");
  options_.named_origins = {origin};
  EXPECT_EQ(code(origin + "/file"), "ok");
}

}  // namespace
}  // namespace enginehost::transfer
