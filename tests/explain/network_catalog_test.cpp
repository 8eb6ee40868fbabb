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

std::string first_remedy(Diagnosis diagnosis) {
  complete(diagnosis);
  return diagnosis.remedy.front();
}

TEST(NetworkCatalog, InstallingPipIsSuggestedOnlyWithoutPip) {
  EXPECT_THAT(first_remedy(diagnose("EH-N12").with("problem", "there is no pip")), HasSubstr("install pip"));
  for (const auto& [key, value, remedy] :
       {std::tuple{"exit_code", "1", "make this work: python3 -m pip install --help"},
        std::tuple{"signal", "SIGSEGV", "make this work"},
        std::tuple{"os_said", "Exec format", "make this work"}, std::tuple{"deadline", "20 s", "try again"},
        std::tuple{"status_lost", "x", "set SIGCHLD to SIG_DFL"}}) {
    Diagnosis failed = diagnose("EH-N18").with("program", "python3 -m pip").with(key, value);
    EXPECT_THAT(first_remedy(failed), HasSubstr(remedy)) << key;
    complete(failed);
    for (const std::string& line : failed.remedy) EXPECT_THAT(line, Not(HasSubstr("install pip"))) << key;
  }
}

TEST(NetworkCatalog, AServerThatAnsweredIsNoMatterOfTheNetwork) {
  const auto expect_no_network = [](Diagnosis diagnosis) {
    complete(diagnosis);
    EXPECT_FALSE(diagnosis.remedy.empty()) << diagnosis.code;
    for (const std::string& line : diagnosis.remedy) {
      EXPECT_THAT(line, Not(HasSubstr("check the network"))) << diagnosis.cause;
      EXPECT_THAT(line, Not(HasSubstr("set https_proxy"))) << diagnosis.cause;
    }
  };
  for (const bool is_index : {true, false}) {
    const auto with_index = [&](Diagnosis diagnosis) {
      diagnosis.with("url", "https://x/simple/a").with("host", "x");
      if (is_index) diagnosis.with("index", "https://x/simple").with("project", "a");
      return diagnosis;
    };
    for (const char* status : {"401", "403", "404", "407", "429", "500", "503"})
      for (const char* reason : {"", "policy"})
        expect_no_network(with_index(diagnose("EH-N04")).with("status", status).with("server_said", reason));
    for (const char* fault : {"unknown authority", "expired", "not yet valid", "another name", ""})
      expect_no_network(with_index(diagnose("EH-N05")).with("certificate", fault).with("clock", "2026"));
    for (const char* key : {"answered", "problem", "cut"})
      expect_no_network(with_index(diagnose("EH-N02")).with(key, "yes"));
  }
  EXPECT_THAT(first_remedy(diagnose("EH-N02").with("url", "https://x")), HasSubstr("check the network"));
}

TEST(NetworkCatalog, AnIndexThatWantsAPasswordNamesNetrcAndTheKeyring) {
  Diagnosis refused =
      diagnose("EH-N04").with("url", "https://x/simple/a").with("status", "401").with("host", "x");
  EXPECT_THAT(first_remedy(refused), HasSubstr("for x into ~/.netrc"));
  EXPECT_THAT(first_remedy(Diagnosis(refused).with("signed_in", "with those of its address")),
              HasSubstr("correct user and password in the address"));
  refused.with("index", "https://x/simple").with("project", "a").with("server_said", "Nexus");
  EXPECT_THAT(first_remedy(refused), HasSubstr("for x into ~/.netrc"));
  Diagnosis whole = refused;
  complete(whole);
  EXPECT_EQ(whole.cause, "https://x/simple answered 401 when it was asked for a: Nexus");
  EXPECT_THAT(first_remedy(refused.with("keyring", "import")), HasSubstr("keyring-provider = import"));
}

TEST(NetworkCatalog, EachFaultOfACertificateHasItsOwnRemedy) {
  const auto remedy = [](const char* fault) {
    return first_remedy(diagnose("EH-N05")
                            .with("url", "https://x/a")
                            .with("host", "x")
                            .with("curl_said", "no")
                            .with("certificate", fault)
                            .with("clock", "2026-01-01"));
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
