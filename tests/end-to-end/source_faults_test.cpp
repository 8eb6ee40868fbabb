// A question that fails gets the class and the remedy of its cause, whichever source was asked: a repository,
// a file's address, a registry, a package index.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/nginx_server.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string sources[] = {"repository", "url", "registry", "index"};

// Opens an engine whose files come from such a source at `origin` ("https://localhost:8443"). `arrange`
// changes a copy of /etc, which the command then has in the place of this machine's.
Ended open_from(const std::string& source, const std::string& origin,
                const std::vector<std::string>& environment = {},
                const std::function<void(const std::filesystem::path&)>& arrange = {}) {
  const Workplace workplace;
  workplace.configure(
      Json::object().set("repositories_default", false).set("downloads", Json::object().set("retries", 0)));
  TestRepository repository(workplace.folder() / "repository");
  RunOptions options;
  if (arrange) {
    options.launcher = with_system_file(workplace, Json::object());
    arrange(workplace.folder() / "etc");
  }
  // Removed: what this machine trusts.
  options.environment = {"CURL_CA_BUNDLE", "SSL_CERT_FILE",      "SSL_CERT_DIR",
                         "PIP_CERT",       "REQUESTS_CA_BUNDLE", "PIP_CONFIG_FILE=/dev/null"};
  if (!origin.empty()) options.environment.push_back("PIP_INDEX_URL=" + origin + "/simple");
  options.environment.insert(options.environment.end(), environment.begin(), environment.end());
  const std::string sha256(64, 'a'), host = origin.substr(origin.empty() ? 0 : origin.find('/') + 2);
  const Json on_index = Json::object().set("project", "payload").set("file", "payload-1-py3-none-any.whl");
  const Json from = source == "registry"
                        ? Json::object().set("oci", host + "/engines/payload@sha256:" + sha256)
                    : source == "index" ? Json::object().set("package_index", on_index)
                                        : Json::object().set("url", origin + "/payload.zip");
  const Json artifact = Json::object()
                            .set("sha256", sha256)
                            .set("size", 100)
                            .set("archive", "zip")
                            .set("sources", Json::array().push(from));
  repository.add_with_artifacts(good_build(), Json::array().push(artifact));
  repository.write();
  const std::string location = source == "repository" ? origin + "/repository" : repository.root().native();
  return workplace.info({"reference", "--repository", location, "--allow-unsigned", "--json"}, options);
}

TEST(SourceFaults, ACertificateIsJudgedInTheSameWay) {
  const Certificates known, other, expired("20200101000000Z", "20210101000000Z"),
      early("20450101000000Z", "20460101000000Z");
  const int known_port = free_port(), expired_port = free_port(), early_port = free_port();
  const NginxServer good(known.directives(known_port)), old(expired.directives(expired_port)),
      young(early.directives(early_port));
  const std::string at = "https://localhost:";
  struct Case {
    std::string origin, bundle, fault, remedy;
  };
  const Case cases[] = {
      {at + std::to_string(known_port), other.authority(), "unknown authority", "extra_ca"},
      {at + std::to_string(expired_port), expired.authority(), "expired", "renew the certificate"},
      {at + std::to_string(early_port), early.authority(), "not yet valid", "set the clock of this machine"},
      {"https://other.localhost:" + std::to_string(known_port), known.authority(), "another name",
       "use the name that the certificate has"},
  };
  for (const Case& one : cases)
    for (const std::string& source : sources) {
      SCOPED_TRACE(source + ": " + one.fault);
      const Ended run = open_from(source, one.origin, {"SSL_CERT_FILE=" + one.bundle});
      EXPECT_EQ(run.code(), "EH-N05") << run.said();
      EXPECT_EQ(evidence(run.diagnosis(), "certificate"), one.fault) << run.said();
      EXPECT_THAT(run.diagnosis()["remedy"].dump(), HasSubstr(one.remedy)) << run.said();
      EXPECT_THAT(run.diagnosis()["remedy"].dump(), Not(HasSubstr("install pip")));
    }
  // The proxy's certificate, and not that of the server behind it.
  for (const std::string& source : sources) {
    SCOPED_TRACE(source + ": proxy");
    const std::string proxy = at + std::to_string(known_port);
    const Ended run = open_from(source, "https://mirror.invalid",
                                {"SSL_CERT_FILE=" + other.authority(), "https_proxy=" + proxy});
    EXPECT_EQ(run.code(), "EH-N05") << run.said();
    EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr("certificate of the proxy " + proxy));
  }
}

// Debian, RHEL, SUSE and Alpine.
TEST(SourceFaults, AuthoritiesAreFoundWhereDistributionsKeepThem) {
  if (!can_mount()) GTEST_SKIP() << "only root may show another /etc";
  const Certificates known;
  const int port = free_port();
  const NginxServer server(known.directives(port));
  const std::string origin = "https://localhost:" + std::to_string(port);
  const auto with_authority_at = [&](const std::string& place) {
    return open_from("url", origin, {}, [&](const std::filesystem::path& etc) {
      for (const char* folder : {"ssl", "pki"}) std::filesystem::remove_all(etc / folder);
      if (!place.empty()) write_text(etc / place, read_text(known.authority()));
    });
  };
  const std::vector<std::string> places = {"ssl/certs/ca-certificates.crt", "pki/tls/certs/ca-bundle.crt",
                                           "ssl/ca-bundle.pem", "ssl/cert.pem"};
  for (const std::string& place : places) {
    const Ended run = with_authority_at(place);
    EXPECT_EQ(run.code(), "EH-N04") << place << ": the file is not there, and TLS works\n" << run.said();
  }
  const Ended run = with_authority_at("");
  EXPECT_EQ(run.code(), "EH-N38") << run.said();
  for (const std::string& place : places)
    EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr("/etc/" + place));
  EXPECT_THAT(run.diagnosis()["remedy"].dump(), HasSubstr("SSL_CERT_FILE"));
}

TEST(SourceFaults, AnUnreachableProxyIsNamedWithWhatSetIt) {
  const std::string nobody = "http://127.0.0.1:" + std::to_string(free_port());
  for (const std::string& source : sources) {
    SCOPED_TRACE(source);
    const Ended run = open_from(source, "https://mirror.invalid", {"https_proxy=" + nobody});
    EXPECT_EQ(run.code(), "EH-N19") << run.said();
    EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr(nobody + ", set by https_proxy"));
  }
}

TEST(SourceFaults, ARefusalKeepsTheServersReason) {
  for (const std::string status : {"401", "403", "429", "503"}) {
    const NginxServer server(
        "location ~ ^/(v2|simple|repository|payload) { default_type application/json; return " + status +
        " '{\"errors\":[{\"message\":\"younger than policy allows\"}]}'; }");
    std::string origin = server.url("");
    origin.pop_back();
    for (const std::string& source : sources) {
      SCOPED_TRACE(source + ": " + status);
      const Ended run = open_from(source, origin);
      const bool refused = status == "401" || status == "403";
      EXPECT_EQ(run.code(), source == "registry" && refused ? "EH-N30" : "EH-N04") << run.said();
      EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr("answered " + status));
      EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr("younger than policy allows"))
          << run.said();
    }
  }
}

// Which index is the default one, only pip knows. Its program may lie on a disk that answers late.
TEST(SourceFaults, APipThatDoesNotAnswerIsGivenUp) {
  const Workplace programs;
  for (const char* name : {"python3", "pip3", "pip"}) {
    const std::filesystem::path program = programs.folder() / "bin" / name;
    // A child that keeps the pipes open, too.
    write_text(program, "#!/bin/sh\necho " + std::string(name) + " >> " +
                            (programs.folder() / "asked").native() +
                            "\necho 'mounting /net/python' >&2\n/bin/sleep 100 &\n/bin/sleep 100\n");
    ::chmod(program.c_str(), 0755);
  }
  const std::string path = "PATH=" + (programs.folder() / "bin").native();
  EXPECT_EQ(open_from("index", "http://127.0.0.1:9", {path}).code(), "EH-N02");
  EXPECT_FALSE(std::filesystem::exists(programs.folder() / "asked")) << "the index is known";
  const Ended run = open_from("index", "", {path});
  EXPECT_EQ(run.code(), "EH-N18") << run.said();
  EXPECT_THAT(run.diagnosis()["cause"].as_string(),
              HasSubstr("python3 -m pip did not answer within 20 s: mounting /net/python"));
  EXPECT_THAT(run.diagnosis()["remedy"].dump(), HasSubstr("--package-index URL"));
  EXPECT_LT(run.duration.count(), 40'000);
  EXPECT_EQ(read_text(programs.folder() / "asked"), "python3\n") << "the others would be as slow";
}

}  // namespace
}  // namespace enginehost::test
