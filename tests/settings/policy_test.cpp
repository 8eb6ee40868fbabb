#include "host/settings/policy.hpp"

#include <gmock/gmock.h>

#include <array>

#include "tests/settings/fixture.hpp"

namespace enginehost::settings {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Policy hosts(std::vector<std::string> allowed) {
  Policy policy;
  policy.file = "/etc/enginehost/config.json";
  policy.allowed_hosts = std::move(allowed);
  return policy;
}

TEST(AllowedHosts, AnyHostIsAllowedWithoutAList) {
  EXPECT_TRUE(check_host({}, "https://anywhere.example/x"));
}

TEST(AllowedHosts, AnEmptyListAllowsNoHost) {
  const auto refused = check_host(hosts({}), "https://anywhere.example/x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-P01");
  EXPECT_EQ(refused.error().value(Key::policy), "policy.allowed_hosts = []");
}

TEST(AllowedHosts, ANameMatchesItselfAndAStarItsSubdomains) {
  const Policy policy = hosts({"mirror.example", "*.lab.example"});
  for (const char* url : {"https://mirror.example/x", "http://MIRROR.example:8080/", "https://a.lab.example",
                          "https://a.b.lab.example/x", "https://mirror.example./x"})
    EXPECT_TRUE(check_host(policy, url)) << url;
  for (const char* url : {"https://lab.example/x", "https://evil-lab.example/",
                          "https://mirror.example.evil/", "https://xmirror.example/", "mirror.example", ""})
    EXPECT_FALSE(check_host(policy, url)) << url;
}

TEST(AllowedHosts, UserInfoAndPathAreNotTheHost) {
  const Policy policy = hosts({"good.example"});
  for (const char* url : {"https://good.example@evil.example/", "https://evil.example/good.example",
                          "https://evil.example?good.example", "https://evil.example#@good.example",
                          "https://good.example\\@evil.example/", "https://good.example:443@evil.example/",
                          "https://g%6fod.example/", "https://good.example%00.evil.example/",
                          "https://good.example%2f@evil.example/"})
    EXPECT_FALSE(check_host(policy, url)) << url;
  EXPECT_TRUE(check_host(policy, "https://user:secret@good.example/"));
}

TEST(AllowedHosts, APortInTheListIsTheOnlyOne) {
  const Policy policy = hosts({"good.example:443", "[::1]:8080", "10.0.0.5"});
  EXPECT_TRUE(check_host(policy, "https://good.example/"));
  EXPECT_FALSE(check_host(policy, "http://good.example/"));
  EXPECT_FALSE(check_host(policy, "https://good.example:8443/"));
  EXPECT_TRUE(check_host(policy, "http://[::1]:8080/x"));
  EXPECT_FALSE(check_host(policy, "http://[::1]:8081/x"));
  EXPECT_TRUE(check_host(policy, "http://10.0.0.5:9/x"));
}

TEST(AllowedHosts, TheRefusalNamesFileKeyValueAndHost) {
  const auto refused =
      check_host(hosts({"good.example", "*.lab"}), "https://user:secret@evil.example/x?token=1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-P01");
  EXPECT_EQ(refused.error().value(Key::file), "/etc/enginehost/config.json");
  EXPECT_EQ(refused.error().value(Key::key), "policy.allowed_hosts");
  EXPECT_EQ(refused.error().value(Key::policy), "policy.allowed_hosts = good.example *.lab");
  EXPECT_EQ(refused.error().value(Key::what), "the host evil.example:443");
}

class PolicyFile : public SettingsTest {};

TEST_F(PolicyFile, ALockedKeyHasTheSystemsValueOrItsDefault) {
  system_file(R"({"flavor": "cpu", "policy": {"locked": ["flavor", "offline"]}})");
  user_file(R"({"flavor": "cu118", "offline": true})");
  const Settings settings = load();
  EXPECT_EQ(settings.flavor, "cpu");
  EXPECT_FALSE(settings.offline);
  EXPECT_THAT(settings.warnings,
              ElementsAre(HasSubstr("sets flavor to \"cu118\""), HasSubstr("sets offline")));
  EXPECT_TRUE(settings.find("flavor")->locked);
  EXPECT_EQ(settings.find("flavor")->source, path_text(system_config()));
  EXPECT_TRUE(settings.find("offline")->locked);
  EXPECT_FALSE(settings.find("log")->locked);
  flags_.offline = true;
  EXPECT_EQ(refusal().code, "EH-P01");
  EXPECT_EQ(refusal().value(Key::policy), "policy.locked = flavor offline");
}

TEST_F(PolicyFile, ALockThatNamesNoSettingIsRefused) {
  system_file(R"({"policy": {"locked": ["ofline", "repositories", "accept_licenses", "mirrors"]}})");
  EXPECT_EQ(refusal().code, "EH-P02");
  EXPECT_EQ(refusal().value(Key::key), "policy.locked");
  EXPECT_THAT(std::string(refusal().value(Key::problem)), HasSubstr("did you mean \"offline\""));
  system_file(R"({"policy": {"locked": ["cooling", "offline"], "for_newer_versions": ["cooling"]}})");
  EXPECT_THAT(load().warnings, ElementsAre(HasSubstr("\"cooling\"")));
  EXPECT_TRUE(load().policy.locks("offline"));
}

TEST_F(PolicyFile, AnUnknownRuleIsRefusedWithTheNearestName) {
  for (const auto& [rule, key, meant] : std::vector<std::array<std::string, 3>>{
           {R"("blokced": [])", "policy.blokced", "policy.blocked"},
           {R"("Blocked": [])", "policy.Blocked", "policy.blocked"},
           {R"("forbid_license": ["X"])", "policy.forbid_license", "policy.forbid_licenses"},
           {R"("REQUIRE_SIGNATURES": true)", "policy.REQUIRE_SIGNATURES", "policy.require_signatures"},
           {R"("downloads": {"max_artifact_byte": 1})", "policy.downloads.max_artifact_byte",
            "policy.downloads.max_artifact_bytes"},
           {R"("accept_licenses": ["A", {"id": "X", "sha265": "1"}])", "policy.accept_licenses[1].sha265",
            "policy.accept_licenses[1].sha256"}}) {
    system_file("{\"policy\": {" + rule + "}}");
    EXPECT_EQ(refusal().code, "EH-P02") << rule;
    EXPECT_EQ(refusal().value(Key::key), key);
    EXPECT_THAT(std::string(refusal().value(Key::problem)), HasSubstr("did you mean \"" + meant + "\""));
  }
  user_file(R"({"offlin": true})");
  system_file(R"({"policy": {"blocked": []}})");
  EXPECT_EQ(load().warnings.size(), 1u) << "in a user's file it is a warning";
}

TEST_F(PolicyFile, ARuleForNewerVersionsIsPassedOverWithAWarning) {
  system_file(R"({"policy": {"max_age_days": 3, "downloads": {"max_files": 1}, "forbid_licenses": ["X"],
                  "accept_licenses": [{"id": "Y", "until": "2027"}],
                  "for_newer_versions": ["max_age_days", "downloads.max_files", "accept_licenses.until",
                                         "forbid_licenses"]}})");
  EXPECT_THAT(load().warnings,
              testing::UnorderedElementsAre(HasSubstr("\"policy.max_age_days\" is passed over"),
                                            HasSubstr("\"policy.downloads.max_files\""),
                                            HasSubstr("\"policy.accept_licenses[0].until\"")));
  EXPECT_TRUE(forbidden_license(load().policy, "X")) << "a rule that this version knows holds";
  system_file(R"({"policy": {"max_age_days": 3, "for_newer_versions": ["max_files"]}})");
  EXPECT_EQ(refusal().value(Key::key), "policy.max_age_days");
}

TEST_F(PolicyFile, ARuleBesideThePolicyIsRefused) {
  for (const auto& [text, key, meant] : std::vector<std::array<std::string, 3>>{
           {R"({"Policy": {"offline": true}})", "Policy", "did you mean \"policy\""},
           {R"({"POLICY": {}})", "POLICY", "did you mean \"policy\""},
           {R"({"polcy": {}})", "polcy", "did you mean \"policy\""},
           {R"({"blocked": []})", "blocked", "write \"blocked\" into that block"},
           {R"({"loaded_libraries": false})", "loaded_libraries", "write \"loaded_libraries\""},
           {R"({"vendor_facts": false})", "vendor_facts", "write \"vendor_facts\""},
           {R"({"from_index": false})", "from_index", "write \"from_index\""},
           {R"({"Require_Signatures": true})", "Require_Signatures", "\"require_signatures\""}}) {
    system_file(text);
    EXPECT_EQ(refusal().code, "EH-P02") << text;
    EXPECT_EQ(refusal().value(Key::key), key);
    EXPECT_THAT(std::string(refusal().value(Key::problem)), HasSubstr(meant));
  }
  system_file(R"({"paint": "red"})");
  EXPECT_EQ(load().warnings.size(), 1u) << "anything else is a warning";
  system_file("{}");
  user_file(R"({"Policy": {"offline": true}})");
  EXPECT_EQ(load().warnings.size(), 1u) << "a user's file holds no policy";
}

TEST_F(PolicyFile, ForbidsBuildsThatAreDerivedHere) {
  system_file("{}");
  EXPECT_FALSE(forbidden_from_index(load()));
  EXPECT_THAT(derived_repository(load()), HasSubstr("from-index"));
  system_file(R"({"policy": {"from_index": true}})");
  EXPECT_FALSE(forbidden_from_index(load()));
  for (const auto& [policy, key] : std::vector<std::array<std::string, 2>>{
           {R"({"from_index": false})", "policy.from_index"},
           {R"({"require_signatures": true})", "policy.require_signatures"},
           {R"({"unsigned_repositories": false})", "policy.unsigned_repositories"},
           {R"({"locked": ["repositories"]})", "policy.locked"},
           {R"({"repositories": []})", "policy.repositories"},
           {R"({"repositories": ["https://engines.example/"]})", "policy.repositories"}}) {
    system_file("{\"policy\": " + policy + "}");
    const auto forbidden = forbidden_from_index(load());
    ASSERT_TRUE(forbidden) << policy;
    EXPECT_EQ(forbidden->code, "EH-P01");
    EXPECT_EQ(forbidden->value(Key::key), key);
  }
  system_file(R"({"policy": {"from_index": false}})");
  ASSERT_NE(load().find("policy.from_index"), nullptr);
  EXPECT_EQ(load().find("policy.from_index")->value, "false");
}

TEST_F(PolicyFile, NamesARepositoryForVendorFactsOrTurnsThemOff) {
  system_file(R"({"policy": {"vendor_facts_repository": "https://ada:secret@facts.example/engines/"}})");
  const Settings settings = load();
  EXPECT_TRUE(settings.policy.vendor_facts);
  EXPECT_THAT(settings.policy.vendor_facts_repository, HasSubstr("facts.example/engines"));
  ASSERT_NE(settings.find("policy.vendor_facts_repository"), nullptr);
  EXPECT_THAT(settings.find("policy.vendor_facts_repository")->value, testing::Not(HasSubstr("secret")));
  system_file(R"({"policy": {"vendor_facts": false}})");
  EXPECT_FALSE(load().policy.vendor_facts);
  EXPECT_EQ(load().policy.vendor_facts_repository, "");
  system_file(R"({"policy": {"vendor_facts_repository": "ftp://facts.example/"}})");
  EXPECT_EQ(refusal().value(Key::key), "policy.vendor_facts_repository");
  system_file("{}");
  user_file(R"({"policy": {"vendor_facts_repository": "https://facts.example/"}})");
  EXPECT_EQ(load().policy.vendor_facts_repository, "");
}

TEST_F(PolicyFile, AUrlThatServersReadInSeveralWaysIsRefused) {
  const std::string place = "https://good.example/engines/..%2fevil";
  system_file("{\"policy\": {\"repositories\": [\"" + place + "\"]}}");
  EXPECT_EQ(refusal().value(Key::key), "policy.repositories");
  EXPECT_THAT(std::string(refusal().value(Key::problem)), HasSubstr("does not name one place"));
  system_file("{\"repositories\": [\"" + place + "\"]}");
  EXPECT_EQ(refusal().value(Key::key), "repositories");
  system_file("{\"mirrors\": [{\"of\": \"https://a.example/\", \"use\": \"" + place + "\"}]}");
  EXPECT_EQ(refusal().value(Key::key), "mirrors");
  system_file("{}");
  environment_.variables["ENGINEHOST_REPOSITORIES"] = place;
  EXPECT_EQ(refusal().value(Key::variable), "ENGINEHOST_REPOSITORIES");
  environment_.variables.clear();
  flags_.repositories = {place};
  EXPECT_EQ(refusal().value(Key::flag), "--repository");
  flags_.repositories = {"https://good.example/r?token=SECRET"};
  EXPECT_EQ(refusal().code, "EH-P02");
  EXPECT_THAT(std::string(refusal().value(Key::problem)), testing::Not(HasSubstr("SECRET")));
  flags_.by_application = true;
  EXPECT_EQ(refusal().code, "EH-P45");
}

TEST_F(PolicyFile, LockedRepositoriesAreTheSystemsAlone) {
  system_file(R"({"repositories": ["https://a.example/r"], "policy": {"locked": ["repositories"]}})");
  user_file(R"({"repositories": ["https://b.example/r"]})");
  ASSERT_EQ(load().repositories.size(), 1u);
  EXPECT_EQ(load().repositories[0].location, "https://a.example/r");
  EXPECT_EQ(load().warnings.size(), 1u);
  flags_.repositories = {absolute("/srv/mine")};
  EXPECT_EQ(refusal().code, "EH-P01");
}

TEST_F(PolicyFile, AnEmptyListAllowsNoneAndNoListAny) {
  user_file(R"({"repositories": ["https://a.example/r", "/srv/r"]})");
  system_file(R"({"policy": {"repositories": [], "allowed_hosts": []}})");
  const Settings settings = load();
  EXPECT_TRUE(settings.repositories.empty());
  EXPECT_EQ(settings.warnings.size(), 2u);
  EXPECT_EQ(settings.find("policy.repositories")->value, "[]");
  EXPECT_EQ(settings.find("policy.allowed_hosts")->value, "[]");
  flags_.repositories = {absolute("/srv/r")};
  EXPECT_EQ(refusal().code, "EH-P01");
  EXPECT_EQ(refusal().value(Key::policy), "policy.repositories = []");
  system_file(R"({"policy": {}})");
  EXPECT_EQ(load().repositories.size(), 2u);
}

TEST_F(PolicyFile, AListAndALockLeaveTheShippedRepositoryOut) {
  write("prefix/share/enginehost/repository/index.json", "{}");
  const std::string shipped = path_text(root_ / "prefix/share/enginehost/repository");
  const auto serves = [&](const std::string& text) {
    system_file(text);
    const Settings settings = load();
    const bool there = settings.repositories.size() == 1 && settings.repositories[0].location == shipped;
    EXPECT_EQ(settings.repositories_default, there) << text;
    return there;
  };
  EXPECT_TRUE(serves("{}"));
  EXPECT_TRUE(serves(R"({"policy": {"locked": ["flavor"], "allowed_hosts": []}})"));
  for (const char* policy :
       {R"({"policy": {"repositories": []}})", R"({"policy": {"repositories": ["https://a.example/"]}})",
        R"({"policy": {"locked": ["repositories"]}})"}) {
    EXPECT_FALSE(serves(policy)) << policy;
    EXPECT_EQ(load().find("repositories_default")->value, "false");
    EXPECT_TRUE(load().find("repositories_default")->locked);
    EXPECT_TRUE(load().warnings.empty()) << "nobody asked for it";
    user_file(R"({"repositories_default": true})");
    EXPECT_FALSE(serves(policy)) << policy;
    EXPECT_THAT(load().warnings, ElementsAre(HasSubstr("does not allow it")));
    user_file("{}");
  }
  EXPECT_TRUE(serves(R"({"policy": {"repositories": [], "repositories_default": true}})"));
  EXPECT_TRUE(serves(R"({"repositories_default": true, "policy": {"locked": ["repositories"]}})"));
  EXPECT_TRUE(serves(R"({"policy": {"repositories": [")" + generic_text(root_ / "prefix") + R"("]}})"));
  EXPECT_FALSE(serves(R"({"repositories_default": true, "policy": {"repositories_default": false}})"));
}

#ifndef _WIN32
TEST_F(PolicyFile, ABrokenLinkDoesNotCountAsNoPolicy) {
  for (const char* target : {"config.json", "gone.json"}) {
    std::filesystem::remove(system_config());
    std::filesystem::create_symlink(target, system_config());
    EXPECT_EQ(refusal().code, "EH-P02") << target;
    EXPECT_EQ(refusal().value(Key::file), path_text(system_config())) << target;
  }
}
#endif

TEST_F(PolicyFile, AHostThatIsNotAllowedCannotBeNamed) {
  system_file(R"({"policy": {"allowed_hosts": ["x.example"]}})");
  flags_.repositories = {"https://user:secret@y.example/r"};
  EXPECT_EQ(refusal().code, "EH-P01");
  EXPECT_EQ(refusal().value(Key::key), "policy.allowed_hosts");
  EXPECT_EQ(refusal().value(Key::flag), "--repository");
  flags_.repositories = {"https://x.example/r"};
  EXPECT_EQ(load().repositories.size(), 1u);
}

TEST_F(PolicyFile, ARepositoryIsAFolderOrBehindHttp) {
  for (const char* other :
       {"ftp://x/", "file:///srv/r", "oci://registry.example/r", "S3://bucket", "http:/x"}) {
    flags_.repositories = {other};
    EXPECT_EQ(refusal().code, "EH-P40") << other;
    EXPECT_THAT(
        std::string(refusal().value(Key::problem)),
        testing::AllOf(HasSubstr("http://"), HasSubstr("https://"), HasSubstr("folder"), HasSubstr(other)));
  }
  flags_.repositories = {"./a://b", "c:d"};
  EXPECT_EQ(load().repositories.size(), 2u);
}

TEST_F(PolicyFile, RequiredSignaturesExcludeUnsignedRepositories) {
  system_file(R"({"policy": {"require_signatures": true}})");
  flags_.repositories = {absolute("/srv/mine")};
  write("prefix/share/enginehost/repository/index.json", "{}");
  const Settings settings = load();
  ASSERT_EQ(settings.repositories.size(), 2u);
  for (const Repository& repository : settings.repositories)
    EXPECT_FALSE(repository.unsigned_allowed) << repository.location;
  EXPECT_TRUE(settings.policy.require_signatures);
}

TEST_F(PolicyFile, ARequestMustMatchALockedKey) {
  system_file(R"({"policy": {"flavor": "cpu", "locked": ["device"]}})");
  const Settings settings = load();
  EXPECT_TRUE(check_locked(settings, "flavor", ""));
  EXPECT_TRUE(check_locked(settings, "flavor", "cpu"));
  EXPECT_TRUE(check_locked(settings, "force", "some-build"));
  const auto refused = check_locked(settings, "flavor", "cu118");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().value(Key::policy), "policy.flavor = cpu");
  EXPECT_FALSE(check_locked(settings, "device", "cuda:0"));
}

TEST_F(PolicyFile, LicensesAreAcceptedByIdOrByOneTextOnly) {
  const std::string digest(64, 'a');
  system_file(R"({"policy": {"accept_licenses": ["Any", {"id": "One", "sha256": ")" + digest + R"("}]}})");
  const Policy policy = load().policy;
  EXPECT_TRUE(accepts_license(policy, "Any", "", true));
  EXPECT_TRUE(accepts_license(policy, "Any", digest, true));
  EXPECT_FALSE(accepts_license(policy, "Any", digest, false)) << "anybody may write an id into a manifest";
  EXPECT_TRUE(accepts_license(policy, "One", digest, true));
  EXPECT_TRUE(accepts_license(policy, "One", digest, false)) << "the text decides";
  EXPECT_FALSE(accepts_license(policy, "One", std::string(64, 'b'), true));
  EXPECT_FALSE(accepts_license(policy, "One", "", true));
  system_file(R"({"policy": {"accept_licenses": [{"id": "One", "sha256": "short"}]}})");
  EXPECT_EQ(refusal().code, "EH-P02");
  EXPECT_EQ(refusal().value(Key::key), "policy.accept_licenses");
}

TEST_F(PolicyFile, AForbiddenLicenseIsFoundInEverySpelling) {
  system_file(R"({"policy": {"forbid_licenses": ["LicenseRef-Trial"]}})");
  const Policy policy = load().policy;
  for (const char* id : {"LicenseRef-Trial", "licenseref-TRIAL", "MIT OR LicenseRef-Trial",
                         "(LicenseRef-Trial AND MIT)", "LicenseRef-trial WITH Some-exception"})
    EXPECT_TRUE(forbidden_license(policy, id)) << id;
  for (const char* id : {"MIT", "LicenseRef-Trial-2", "xLicenseRef-Trial", ""})
    EXPECT_FALSE(forbidden_license(policy, id)) << id;
}

TEST_F(PolicyFile, AnUnsatisfiableRuleIsRefused) {
  const std::string digest(64, 'a');
  for (const std::string& rule :
       std::vector<std::string>{R"("blocked": ["1"])", R"("blocked": ["sha512:)" + digest + R"("])",
                                R"("blocked": [")" + digest + R"(0"])", R"("blocked": [""])",
                                R"("forbid_licenses": [""])", R"("repositories": [""])", R"("locked": [""])",
                                R"("probe_launcher": [""])", R"("allowed_hosts": [""])",
                                R"("allowed_hosts": ["https://x.example/"])", R"("allowed_hosts": ["*"])",
                                R"("allowed_hosts": ["*."])", R"("allowed_hosts": ["a.*.example"])"}) {
    system_file("{\"policy\": {" + rule + "}}");
    EXPECT_EQ(refusal().code, "EH-P02") << rule;
    EXPECT_EQ(refusal().value(Key::key), "policy." + rule.substr(1, rule.find('"', 1) - 1));
    EXPECT_EQ(refusal().value(Key::file), path_text(system_config()));
  }
}

TEST_F(PolicyFile, ABlockedDigestMatchesInEverySpelling) {
  const std::string digest = std::string(60, 'a') + "09ef";
  for (const std::string& written : {digest, "sha256:" + digest, std::string(60, 'A') + "09EF"}) {
    system_file(R"({"policy": {"blocked": [")" + written + R"("]}})");
    EXPECT_THAT(load().policy.blocked, ElementsAre(digest)) << written;
  }
}

TEST_F(PolicyFile, AForbiddenConsentCannotBeGivenByFlag) {
  system_file(R"({"policy": {"accept_licenses": ["LicenseRef-Y"], "locked": ["accept_licenses"]}})");
  EXPECT_TRUE(consent_locked(load().policy, "LicenseRef-X"));
  flags_.accept_licenses = {"LicenseRef-X"};
  EXPECT_EQ(refusal().code, "EH-P01");
}

TEST_F(PolicyFile, EveryRuleIsShownWithItsSourceAndAsLocked) {
  system_file(
      R"({"policy": {"allowed_hosts": ["a.example", "*.b.example"], "repositories": ["https://a.example/"],
                  "unsigned_repositories": false, "accept_licenses": ["Y"], "forbid_licenses": ["X"],
                  "cache_max_bytes": 1000000, "downloads": {"max_artifact_bytes": 5000}}})");
  const Settings settings = load();
  const std::string source = "policy of " + path_text(system_config());
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"policy.allowed_hosts", "a.example *.b.example"},
                                          {"policy.repositories", "https://a.example/"},
                                          {"policy.unsigned_repositories", "false"},
                                          {"policy.accept_licenses", "Y"},
                                          {"policy.forbid_licenses", "X"},
                                          {"cache_max_bytes", "1000000"},
                                          {"downloads.max_artifact_bytes", "5000"}}) {
    const Setting* setting = settings.find(key);
    ASSERT_NE(setting, nullptr) << key;
    EXPECT_EQ(setting->value, value);
    EXPECT_EQ(setting->source, source);
    EXPECT_TRUE(setting->locked) << key;
  }
  EXPECT_EQ(settings.cache_max_bytes, 1000000u);
  EXPECT_EQ(settings.downloads.max_artifact_bytes, 5000u);
}

TEST_F(PolicyFile, MirrorsAndCertificatesHaveASourceAndCanBeLocked) {
  system_file(R"({"policy": {"extra_ca": "/etc/ssl/lab.pem"}})");
  user_file(R"({"mirrors": [{"of": "https://files.example/whl", "use": "https://mirror.lab/whl/"}],
                "extra_ca": "/home/mine.pem"})");
  const Settings settings = load();
  EXPECT_THAT(settings.mirrors, ElementsAre(Mirror{"https://files.example/whl/", "https://mirror.lab/whl/"}));
  EXPECT_EQ(settings.find("mirrors")->value, "https://files.example/whl/ -> https://mirror.lab/whl/");
  EXPECT_EQ(settings.find("mirrors")->source, path_text(user_config()));
  EXPECT_FALSE(settings.find("mirrors")->locked);
  EXPECT_EQ(settings.extra_ca, absolute("/etc/ssl/lab.pem"));
  EXPECT_TRUE(settings.find("extra_ca")->locked);
  user_file(R"({"proxy": "http://me:word@proxy.lab:3128", "no_proxy": "mirror.lab"})");
  EXPECT_EQ(load().proxy, "http://me:word@proxy.lab:3128");
  EXPECT_EQ(load().find("proxy")->value, "http://proxy.lab:3128");
  EXPECT_EQ(load().find("no_proxy")->value, "mirror.lab");
  user_file(R"({"mirrors": [{"of": "https://files.example/", "use": "https://me:word@mirror.lab/"}]})");
  EXPECT_EQ(refusal().value(Key::key), "mirrors") << "a password would go into records that many may read";
  user_file(R"({"mirrors": [{"of": "files.example", "use": "https://mirror.lab/"}]})");
  EXPECT_EQ(refusal().value(Key::key), "mirrors");
}

TEST(Places, AreAllowedByTheirTargetNotTheirSpelling) {
  const std::optional<std::vector<std::string>> allowed = {{"https://good.example/engines/"}};
  for (const char* same :
       {"https://good.example/engines", "https://good.example/engines/", "HTTPS://Good.Example:443/engines/a",
        "https://good.example./engines", "https://good.example/%65ngines"})
    EXPECT_TRUE(lies_in(same, allowed)) << same;
  for (const char* other :
       {"https://good.example/engines/../evil", "https://good.example/engines/%2e%2e/evil",
        "https://good.example/engines2", "https://good.example.evil/engines", "http://good.example/engines",
        "https://good.example@evil.example/engines", "https://good.example\\@evil.example/engines",
        "https://good.example/engines/..%2fevil", "https://good.example/engines/%2e%2e%2fevil",
        "https://good.example/engines/..;/evil", "https://good.example/engines/..%5cevil",
        "https://good.example/engines/%252e%252e/evil", "https://good.example/engines/x/..%2f..%2fevil",
        "https://good.example/engines?/../evil", "https://good.example/engines/..%c0%afevil"})
    EXPECT_FALSE(lies_in(other, allowed)) << other;
}

TEST_F(SettingsTest, ARepositoryIsOneUnderEverySpelling) {
  user_file(R"({"repositories": ["/srv/r/", "HTTPS://H.example:443/r/"]})");
  environment_.variables["ENGINEHOST_REPOSITORIES"] = absolute("/srv/./r") + ";https://h.example/x/../r/.";
  flags_.repositories = {absolute("/srv/r/."), "hTTps://h.example/r/"};
  std::vector<std::string> locations;
  for (const Repository& one : load().repositories) locations.push_back(one.location);
  EXPECT_THAT(locations,
              ElementsAre(path_text(path_of(absolute("/srv/r")).make_preferred()), "https://h.example/r"));
}

TEST_F(SettingsTest, AFolderIsTheSameWithAndWithoutATrailingSlash) {
  const std::string folder = path_text(environment_.current_folder / "f");
  for (const char* written : {"f", "f/", "./f/", "f/.", "f//", "x/../f"}) {
    flags_.repositories = {written};
    EXPECT_EQ(load().repositories.at(0).location, folder) << written;
  }
  environment_.current_folder /= "f";
  flags_.repositories = {"."};
  EXPECT_EQ(load().repositories.at(0).location, folder);
}

}  // namespace
}  // namespace enginehost::settings
