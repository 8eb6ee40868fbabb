// Which servers a connection trusts, which get its credentials, and which proxy it uses.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <tuple>

#include "base/text.hpp"
#include "host/transfer/transfer.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/fault_server.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/variables.hpp"
#include "tests/transfer/memory_sink.hpp"

namespace enginehost::transfer {
namespace {

using namespace std::chrono_literals;
using test::FaultServer;
using Connection = FaultServer::Connection;
using Request = FaultServer::Request;

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() {
    options.first_backoff = 5ms;
    options.retries = 1;
  }
  std::string code(const std::string& url, Authorization authorization = {}) {
    UrlRequest request;
    request.url = url;
    request.authorization = std::move(authorization);
    sink = {};
    const auto result = fetch_url(request, sink, options);
    if (!result) diagnosis = result.error();
    return result ? "ok" : std::string(result.error().code_text());
  }
  // A URL for proxies, whose host name does not resolve here.
  const std::string elsewhere = "http://mirror.invalid/file";

  TransferOptions options;
  test::MemorySink sink;
  Diagnosis diagnosis;
};

class TlsTest : public ConnectionTest {
 protected:
  test::Certificates certificates;
  const int port = test::free_port();
  test::NginxServer server{certificates.directives(port) + "location = /down { return 302 " +
                           "http://127.0.0.1:1/file; }"};
  std::string url(const std::string& path) const {
    return "https://localhost:" + std::to_string(port) + "/" + path;
  }
};

TEST_F(TlsTest, AnUnknownAuthorityIsRefused) {
  test::write_text(server.root() / "file", "bytes");
  EXPECT_EQ(code(url("file")), "EH-N05");
  EXPECT_EQ(sink.bytes, "");
}

TEST_F(TlsTest, AnExtraAuthorityIsTrustedBesidesTheSystems) {
  test::write_text(server.root() / "file", "bytes");
  options.extra_ca = certificates.authority();
  EXPECT_EQ(code(url("file")), "ok");
  EXPECT_EQ(sink.bytes, "bytes");
}

TEST_F(TlsTest, ABundleInsteadOfTheSystemsIsTrusted) {
  test::write_text(server.root() / "file", "bytes");
  options.ca_bundle = certificates.authority();
  EXPECT_EQ(code(url("file")), "ok");
  const test::Certificates other;
  options.ca_bundle = other.authority();
  EXPECT_EQ(code(url("file")), "EH-N05");
  options.extra_ca = certificates.authority();
  EXPECT_EQ(code(url("file")), "ok") << "added to the bundle, too";
}

TEST_F(TlsTest, AnAddressMayStandInTheCertificate) {
  test::write_text(server.root() / "file", "bytes");
  options.ca_bundle = certificates.authority();
  EXPECT_EQ(code("https://127.0.0.1:" + std::to_string(port) + "/file"), "ok");
}

TEST_F(TlsTest, ACertificateForAnotherNameIsRefused) {
  test::write_text(server.root() / "file", "bytes");
  options.ca_bundle = certificates.authority();
  EXPECT_EQ(code(url("file")), "ok");
  // libcurl resolves ".localhost" itself.
  EXPECT_EQ(code("https://other.localhost:" + std::to_string(port) + "/file"), "EH-N05");
  EXPECT_EQ(sink.bytes, "");
  EXPECT_NE(diagnosis.value(Key::curl_said).find("other.localhost"), std::string_view::npos)
      << diagnosis.value(Key::curl_said);
}

TEST_F(TlsTest, TheFaultOfACertificateIsNamed) {
  EXPECT_EQ(code(url("file")), "EH-N05");
  EXPECT_EQ(diagnosis.value(Key::certificate), "unknown authority");
  EXPECT_EQ(diagnosis.value(Key::host), "localhost");
  options.ca_bundle = certificates.authority();
  EXPECT_EQ(code("https://other.localhost:" + std::to_string(port) + "/file"), "EH-N05");
  EXPECT_EQ(diagnosis.value(Key::certificate), "another name");
  for (const auto& [from, until, fault] :
       {std::tuple{"20200101000000Z", "20210101000000Z", "expired"},
        std::tuple{"20450101000000Z", "20460101000000Z", "not yet valid"}}) {
    const test::Certificates wrong(from, until);
    const int at = test::free_port();
    const test::NginxServer untimely(wrong.directives(at));
    options.ca_bundle = wrong.authority();
    EXPECT_EQ(code("https://localhost:" + std::to_string(at) + "/file"), "EH-N05");
    EXPECT_EQ(diagnosis.value(Key::certificate), fault);
    EXPECT_TRUE(diagnosis.value(Key::clock).starts_with("20")) << diagnosis.value(Key::clock);
  }
  // No fault of a certificate.
  EXPECT_EQ(code("https://127.0.0.1:" + server.url("").substr(17)), "EH-N05");
  EXPECT_EQ(diagnosis.value(Key::certificate), "");
}

TEST_F(TlsTest, AnHttpsProxyIsTrustedAndBlamedAsAServerIs) {
  test::write_text(server.root() / "file", "bytes");  // nginx answers for another host as its own
  const test::Certificates other, expired("20200101000000Z", "20210101000000Z");
  const int expired_port = test::free_port();
  const test::NginxServer stale(expired.directives(expired_port));
  struct Case {
    std::string bundle, proxy, fault;
  };
  const std::string good = "https://localhost:" + std::to_string(port),
                    misnamed = "https://other.localhost:" + std::to_string(port),
                    old = "https://localhost:" + std::to_string(expired_port);
  for (const auto& [bundle, proxy, fault] :
       {Case{other.authority(), good, "unknown authority"}, Case{certificates.authority(), good, ""},
        Case{certificates.folder(), good, ""}, Case{certificates.authority(), misnamed, "another name"},
        Case{expired.authority(), old, "expired"}})
    for (const char* wanted : {"http://mirror.invalid/file", "https://mirror.invalid/file"}) {
      options.ca_bundle = bundle;
      options.proxy = proxy;
      options.proxy_set_by = "https_proxy";
      const std::string found = code(wanted);
      if (fault.empty()) {
        // nginx is no proxy for CONNECT.
        EXPECT_EQ(found, std::string(wanted).starts_with("https") ? "EH-N04" : "ok") << wanted;
        continue;
      }
      EXPECT_EQ(found, "EH-N05") << proxy;
      EXPECT_EQ(diagnosis.value(Key::certificate), fault) << proxy << " " << diagnosis.value(Key::curl_said);
      EXPECT_EQ(diagnosis.value(Key::tls_peer), "the proxy " + proxy);
      EXPECT_EQ(diagnosis.value(Key::host), proxy == misnamed ? "other.localhost" : "localhost");
    }
  options.ca_bundle = other.authority();
  options.extra_ca = certificates.authority();
  options.proxy = good;
  EXPECT_EQ(code("http://mirror.invalid/file"), "ok") << "the added authority counts for proxies, too";
  // Past the proxy the server itself is at fault.
  options.no_proxy = "localhost";
  EXPECT_EQ(code(old + "/file"), "EH-N05");
  EXPECT_EQ(diagnosis.value(Key::tls_peer), old + "/file");
}

TEST_F(TlsTest, TheCertificateOfATrustedHostIsNotChecked) {
  test::write_text(server.root() / "file", "bytes");
  options.trusted_hosts = {"other.example", "localhost:1"};
  EXPECT_EQ(code(url("file")), "EH-N05");
  for (const std::string& host : {std::string("localhost"), "LOCALHOST:" + std::to_string(port)}) {
    options.trusted_hosts = {host};
    EXPECT_EQ(code(url("file")), "ok") << host;
    EXPECT_EQ(code("https://other.localhost:" + std::to_string(port) + "/file"), "EH-N05") << host;
  }
}

TEST_F(TlsTest, AFolderOfAuthoritiesIsTrusted) {
  test::write_text(server.root() / "file", "bytes");
  options.ca_bundle = certificates.folder();
  EXPECT_EQ(code(url("file")), "ok");
  const test::Certificates other;
  options.ca_bundle = other.folder();
  EXPECT_EQ(code(url("file")), "EH-N05");
  options.extra_ca = certificates.authority();
  EXPECT_EQ(code(url("file")), "ok") << "added to the folder, too";
  // An authority of the same name would be taken in place of the folder's.
  options.extra_ca = other.client();
  options.ca_bundle = certificates.folder();
  EXPECT_EQ(code(url("file")), "ok") << "the folder counts besides it";
}

TEST_F(TlsTest, AClientCertificateIsSentToAServerThatAsks) {
  const int asking_port = test::free_port();
  const test::NginxServer asking(certificates.directives(asking_port, true));
  const std::string where = "https://localhost:" + std::to_string(asking_port) + "/file";
  test::write_text(asking.root() / "file", "bytes");
  options.ca_bundle = certificates.authority();
  EXPECT_EQ(code(where), "EH-N04");
  options.client_certificate = certificates.client();
  EXPECT_EQ(code(where), "ok");
  options.client_certificate = "/no/such.pem";
  EXPECT_EQ(code(where), "EH-N05");
  EXPECT_NE(diagnosis.value(Key::curl_said).find("/no/such.pem"), std::string_view::npos)
      << diagnosis.value(Key::curl_said);
}

TEST_F(ConnectionTest, AnInvalidAddressIsNamedAsOne) {
  EXPECT_EQ(code("http://127.0.0.1:99999/x"), "EH-N11");
  EXPECT_NE(diagnosis.value(Key::malformed), "");
  EXPECT_EQ(diagnosis.value(Key::target), "") << "nobody sent it on";
}

TEST_F(TlsTest, ExtraCertificatesThatCannotBeReadAreNamed) {
  options.extra_ca = "/no/such.pem";
  EXPECT_EQ(code(url("file")), "EH-N05");
  EXPECT_EQ(diagnosis.value(Key::file), "/no/such.pem");
  EXPECT_EQ(diagnosis.value(Key::setting), "extra_ca");
  EXPECT_EQ(diagnosis.value(Key::set_by), "the configuration");
  options.extra_ca = "/etc/passwd";
  EXPECT_EQ(code(url("file")), "EH-N05");
  EXPECT_EQ(diagnosis.value(Key::file), "/etc/passwd");
}

TEST_F(TlsTest, ARedirectNeverLeavesTls) {
  options.extra_ca = certificates.authority();
  EXPECT_EQ(code(url("down")), "EH-N11");
  EXPECT_EQ(diagnosis.value(Key::target), "http://127.0.0.1:1/file");
}

TEST_F(ConnectionTest, ARedirectToAnotherHostNeedsTls) {
  FaultServer server([](const Request&, Connection& connection) {
    connection.answer("302 Found", "", "Location: http://mirror.invalid/file");
  });
  EXPECT_EQ(code(server.url("file")), "EH-N11");
  EXPECT_EQ(diagnosis.value(Key::problem), "to another host without TLS");
}

TEST_F(ConnectionTest, EightRedirectsAreFollowedAndNotNine) {
  FaultServer server([](const Request& request, Connection& connection) {
    const int left = std::atoi(request.path.c_str() + 1);
    if (left == 0) return void(connection.answer("200 OK", "bytes"));
    connection.answer("302 Found", "", "Location: /" + std::to_string(left - 1));
  });
  EXPECT_EQ(code(server.url("8")), "ok");
  EXPECT_EQ(code(server.url("9")), "EH-N11");
}

TEST_F(ConnectionTest, CredentialsAreForTheirHostAndPortOnly) {
  FaultServer other([](const Request&, Connection& connection) { connection.answer("200 OK", "bytes"); });
  FaultServer server([&](const Request& request, Connection& connection) {
    if (request.path == "/file") return void(connection.answer("302 Found", "", "Location: /here"));
    connection.answer("302 Found", "", "Location: " + other.url("file"));
  });
  const std::string at = "127.0.0.1:" + std::to_string(server.port()) + "/file";
  EXPECT_EQ(code("http://user:secret@" + at), "ok");
  EXPECT_EQ(code("http://" + at, {"token", {}, {}}), "ok");
  EXPECT_NE(server.seen().at(0).header("Authorization"), "");
  EXPECT_EQ(server.seen().at(2).header("Authorization"), "Bearer token");
  EXPECT_EQ(server.seen().at(3).header("Authorization"), "Bearer token") << "the same host";
  for (const Request& request : other.seen()) EXPECT_EQ(request.header("Authorization"), "");
}

TEST_F(ConnectionTest, TheConfiguredProxyIsUsedWithItsCredentials) {
  FaultServer proxy([](const Request& request, Connection& connection) {
    if (request.header("Proxy-Authorization").empty())
      connection.answer("407 Proxy Authentication Required", "", "Proxy-Authenticate: Basic realm=\"p\"");
    else
      connection.answer("200 OK", "bytes");
  });
  const std::string at = "127.0.0.1:" + std::to_string(proxy.port());
  options.proxy = "http://user:secret@" + at;
  EXPECT_EQ(code(elsewhere), "ok");
  EXPECT_EQ(proxy.seen().back().path, elsewhere);
  EXPECT_EQ(proxy.seen().back().header("Proxy-Authorization"), "Basic dXNlcjpzZWNyZXQ=");

  options.proxy = "http://" + at;
  EXPECT_EQ(code(elsewhere), "EH-N04");
  EXPECT_EQ(diagnosis.value(Key::status), "407");
  EXPECT_EQ(diagnosis.value(Key::proxy), "http://" + at);
}

TEST_F(ConnectionTest, ARefusedTunnelIsReportedWithTheProxysAnswer) {
  FaultServer proxy([](const Request&, Connection& connection) { connection.answer("403 Forbidden", "no"); });
  options.proxy = "http://user:secret@127.0.0.1:" + std::to_string(proxy.port());
  EXPECT_EQ(code("https://mirror.invalid/file"), "EH-N04");
  EXPECT_EQ(proxy.seen().at(0).method, "CONNECT");
  EXPECT_EQ(proxy.requests(), 1) << "it will say the same again";
  EXPECT_EQ(diagnosis.value(Key::status), "403");
  EXPECT_EQ(diagnosis.value(Key::proxy), "http://127.0.0.1:" + std::to_string(proxy.port()));
  for (const Evidence& fact : diagnosis.evidence)
    EXPECT_EQ(fact.value.find("secret"), std::string::npos) << fact.what;
}

TEST_F(ConnectionTest, AProxyThatCannotBeReachedIsNamedWithWhatSetIt) {
  const std::string nobody = "127.0.0.1:" + std::to_string(test::free_port());
  for (const std::string& proxy : {"http://" + nobody, nobody, "socks5h://" + nobody,
                                   std::string("http://user:secret@proxy.invalid:3128")})
    for (const char* url : {"http://mirror.invalid/file", "https://mirror.invalid/file"}) {
      options.proxy = proxy;
      options.proxy_set_by = "/etc/enginehost/config.json";
      EXPECT_EQ(code(url), "EH-N19") << proxy << " " << url;
      EXPECT_EQ(diagnosis.value(Key::proxy_set_by), "/etc/enginehost/config.json");
      EXPECT_EQ(diagnosis.value(Key::url), url);
      for (const Evidence& fact : diagnosis.evidence)
        EXPECT_EQ(fact.value.find("secret"), std::string::npos) << fact.what;
    }
  options.proxy = "";
  test::set_variable("http_proxy", nobody);
  EXPECT_EQ(code(elsewhere), "EH-N19");
  EXPECT_EQ(diagnosis.value(Key::proxy), "http://" + nobody);
  EXPECT_EQ(diagnosis.value(Key::proxy_set_by), "http_proxy");
  // The server itself, past the proxy.
  options.no_proxy = "127.0.0.1,mirror.invalid";
  EXPECT_EQ(code("http://127.0.0.1:" + std::to_string(test::free_port()) + "/file"), "EH-N02");
  EXPECT_EQ(code(elsewhere), "EH-N01");
  test::remove_variable("http_proxy");
}

TEST_F(ConnectionTest, AServersReasonIsKept) {
  std::string status, body, extra;
  FaultServer server([&](const Request&, Connection& connection) { connection.answer(status, body, extra); });
  const auto reason = [&](std::string of_status, std::string of_body, std::string header = {}) {
    status = std::move(of_status);
    body = std::move(of_body);
    extra = std::move(header);
    EXPECT_EQ(code(server.url("file")), "EH-N04") << status;
    EXPECT_EQ(diagnosis.value(Key::status), status.substr(0, 3));
    EXPECT_EQ(diagnosis.value(Key::host), "127.0.0.1");
    return std::string(diagnosis.value(Key::server_said));
  };
  for (const std::string number :
       {"401 Unauthorized", "403 Forbidden", "404 Not Found", "410 Gone", "451 No"}) {
    EXPECT_EQ(reason(number, R"({"errors":[{"message":"younger than policy allows"}]})"),
              "younger than policy allows");
    EXPECT_EQ(reason(number, "<html><title>Nexus</title>"), "Nexus");
    EXPECT_EQ(diagnosis.value(Key::title), "Nexus");
    EXPECT_EQ(diagnosis.value(Key::temporary), "");
  }
  EXPECT_EQ(reason("403 Forbidden", ""), "");
  EXPECT_EQ(reason("403 Requested item is quarantined", ""), "Requested item is quarantined");
  EXPECT_EQ(reason("503 Busy", "later", "Retry-After: 0"), "later");
  EXPECT_EQ(diagnosis.value(Key::temporary), "yes");
  EXPECT_EQ(diagnosis.value(Key::retry_after), "");
  options.retries = 0;
  for (const char* number : {"429 Too Many Requests", "503 Busy", "403 Forbidden"}) {
    const std::string earliest = text_of_time(std::time(nullptr) + 7200);
    reason(number, "slow down", "Retry-After: 7200");
    const std::string_view moment = diagnosis.value(Key::retry_after);
    const std::string latest = text_of_time(std::time(nullptr) + 7200);
    EXPECT_EQ(moment >= earliest && moment <= latest, number[0] != '4' || number[1] == '2') << moment;
  }
  options.retries = 1;
  status = "401 Unauthorized";
  EXPECT_EQ(code(server.url("file")), "EH-N04");
  EXPECT_EQ(diagnosis.value(Key::signed_in), "");
  EXPECT_EQ(code("http://user:secret@" + server.url("file").substr(7)), "EH-N04");
  EXPECT_NE(diagnosis.value(Key::signed_in), "");
  EXPECT_EQ(diagnosis.value(Key::url), server.url("file"));
}

TEST_F(ConnectionTest, HostsOfNoProxyAreUsedDirectly) {
  FaultServer proxy([](const Request&, Connection& connection) { connection.answer("200 OK", "proxied"); });
  FaultServer server([](const Request&, Connection& connection) { connection.answer("200 OK", "direct"); });
  options.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
  ASSERT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, "proxied");
  options.no_proxy = "example.org,127.0.0.1";
  ASSERT_EQ(code(server.url("file")), "ok");
  EXPECT_EQ(sink.bytes, "direct");
}

TEST_F(ConnectionTest, TheEnvironmentsProxyCountsWhereNoneIsConfigured) {
  FaultServer proxy([](const Request&, Connection& connection) { connection.answer("200 OK", "proxied"); });
  FaultServer configured([](const Request&, Connection& connection) { connection.answer("200 OK", "mine"); });
  test::set_variable("http_proxy", "http://127.0.0.1:" + std::to_string(proxy.port()));
  EXPECT_EQ(code(elsewhere), "ok");
  EXPECT_EQ(sink.bytes, "proxied");
  options.proxy = "http://127.0.0.1:" + std::to_string(configured.port());
  EXPECT_EQ(code(elsewhere), "ok");
  EXPECT_EQ(sink.bytes, "mine");
  test::remove_variable("http_proxy");
}

}  // namespace
}  // namespace enginehost::transfer
