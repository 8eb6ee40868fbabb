// Causes and remedies of a pip, a server, a proxy or a certificate that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "host/explain/explain.hpp"

namespace enginehost::explain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string first_remedy(Diagnosis diagnosis) { return render(diagnosis).remedy.front(); }

TEST(NetworkCatalog, InstallingPipIsSuggestedOnlyWithoutPip) {
  EXPECT_THAT(first_remedy(diagnose(Code::no_package_index).with(Key::problem, "there is no pip")),
              HasSubstr("install pip"));
  for (const auto& [key, value, remedy] :
       {std::tuple{"exit_code", "1", "make this work: python3 -m pip install --help"},
        std::tuple{"signal", "SIGSEGV", "make this work"},
        std::tuple{"os_said", "Exec format", "make this work"}, std::tuple{"deadline", "20 s", "try again"},
        std::tuple{"status_lost", "x", "set SIGCHLD to SIG_DFL"}}) {
    Diagnosis failed = diagnose(Code::pip_fails).with(Key::program, "python3 -m pip").with_named(key, value);
    EXPECT_THAT(first_remedy(failed), HasSubstr(remedy)) << key;
    for (const std::string& line : render(failed).remedy)
      EXPECT_THAT(line, Not(HasSubstr("install pip"))) << key;
  }
}

TEST(NetworkCatalog, AServerThatAnsweredIsNoMatterOfTheNetwork) {
  const auto expect_no_network = [](Diagnosis diagnosis) {
    EXPECT_FALSE(render(diagnosis).remedy.empty()) << diagnosis.code;
    for (const std::string& line : render(diagnosis).remedy) {
      EXPECT_THAT(line, Not(HasSubstr("check the network"))) << render(diagnosis).cause;
      EXPECT_THAT(line, Not(HasSubstr("set https_proxy"))) << render(diagnosis).cause;
    }
  };
  for (const bool is_index : {true, false}) {
    const auto with_index = [&](Diagnosis diagnosis) {
      diagnosis.with(Key::url, "https://x/simple/a").with(Key::host, "x");
      if (is_index) diagnosis.with(Key::index, "https://x/simple").with(Key::project, "a");
      return diagnosis;
    };
    for (const char* status : {"401", "403", "404", "407", "429", "500", "503"})
      for (const char* reason : {"", "policy"})
        expect_no_network(with_index(diagnose(Code::server_refuses))
                              .with(Key::status, status)
                              .with(Key::server_said, reason));
    for (const char* fault : {"unknown authority", "expired", "not yet valid", "another name", ""})
      expect_no_network(with_index(diagnose(Code::no_secure_connection))
                            .with(Key::certificate, fault)
                            .with(Key::clock, "2026"));
    for (const char* key : {"answered", "problem", "cut"})
      expect_no_network(with_index(diagnose(Code::no_connection)).with_named(key, "yes"));
  }
  EXPECT_THAT(first_remedy(diagnose(Code::no_connection).with(Key::url, "https://x")),
              HasSubstr("check the network"));
}

TEST(NetworkCatalog, AnIndexThatWantsAPasswordNamesNetrcAndTheKeyring) {
  Diagnosis refused = diagnose(Code::server_refuses)
                          .with(Key::url, "https://x/simple/a")
                          .with(Key::status, "401")
                          .with(Key::host, "x");
  EXPECT_THAT(first_remedy(refused), HasSubstr("for x into ~/.netrc"));
  EXPECT_THAT(first_remedy(Diagnosis(refused).with(Key::signed_in, "with those of its address")),
              HasSubstr("correct user and password in the address"));
  refused.with(Key::index, "https://x/simple").with(Key::project, "a").with(Key::server_said, "Nexus");
  EXPECT_THAT(first_remedy(refused), HasSubstr("for x into ~/.netrc"));
  Diagnosis whole = refused;
  EXPECT_EQ(render(whole).cause, "https://x/simple answered 401 when it was asked for a: Nexus");
  EXPECT_THAT(first_remedy(refused.with(Key::keyring, "import")), HasSubstr("keyring-provider = import"));
}

TEST(NetworkCatalog, EachFaultOfACertificateHasItsOwnRemedy) {
  const auto remedy = [](const char* fault) {
    return first_remedy(diagnose(Code::no_secure_connection)
                            .with(Key::url, "https://x/a")
                            .with(Key::host, "x")
                            .with(Key::curl_said, "no")
                            .with(Key::certificate, fault)
                            .with(Key::clock, "2026-01-01"));
  };
  EXPECT_THAT(remedy("unknown authority"), HasSubstr("extra_ca in the configuration, or SSL_CERT_FILE"));
  EXPECT_THAT(remedy("expired"), HasSubstr("clock of this machine if 2026-01-01 is wrong"));
  EXPECT_THAT(remedy("not yet valid"), HasSubstr("2026-01-01 is most likely too early"));
  EXPECT_THAT(remedy("expired or not yet valid"), HasSubstr("clock"));
  EXPECT_THAT(remedy("another name"), HasSubstr("the name that the certificate has"));
  EXPECT_THAT(remedy(""), HasSubstr("SSL_CERT_FILE or CURL_CA_BUNDLE"));
}

}  // namespace
}  // namespace enginehost::explain
