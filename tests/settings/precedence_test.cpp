#include <gmock/gmock.h>

#include "tests/settings/fixture.hpp"

namespace enginehost::settings {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(SettingsTest, WithoutAnySourceEverythingHasItsDefault) {
  const Settings settings = load();
  EXPECT_EQ(settings.cache_folder, default_cache(environment_).folder);
  EXPECT_FALSE(settings.offline);
  EXPECT_EQ(settings.log, "warning");
  EXPECT_EQ(settings.flavor, "");
  EXPECT_EQ(settings.downloads.max_artifact_bytes, std::uint64_t{16} << 30);
  EXPECT_THAT(settings.warnings, IsEmpty());
}

TEST_F(SettingsTest, FlagBeatsEnvironmentBeatsUserFileBeatsSystemFile) {
  system_file(R"({"flavor": "system", "device": "system", "log": "debug", "offline": true})");
  EXPECT_EQ(load().flavor, "system");
  user_file(R"({"flavor": "user", "device": "user", "log": "info"})");
  EXPECT_EQ(load().flavor, "user");
  environment_.variables["ENGINEHOST_FLAVOR"] = "environment";
  environment_.variables["ENGINEHOST_DEVICE"] = "environment";
  EXPECT_EQ(load().flavor, "environment");
  flags_.flavor = "flag";
  const Settings settings = load();
  EXPECT_EQ(settings.flavor, "flag");
  EXPECT_EQ(source_of(settings, "flavor"), "--flavor");
  EXPECT_EQ(settings.device, "environment");
  EXPECT_EQ(source_of(settings, "device"), "ENGINEHOST_DEVICE");
  EXPECT_EQ(settings.log, "info");
  EXPECT_EQ(source_of(settings, "log"), path_text(user_config()));
  EXPECT_TRUE(settings.offline);
  EXPECT_EQ(source_of(settings, "offline"), path_text(system_config()));
}

TEST_F(SettingsTest, InstallationsOfTheStrongestSourceCountAndNameIt) {
  user_file(R"({"installations": ["/opt/conda"]})");
  EXPECT_THAT(load().installations, testing::ElementsAre(absolute("/opt/conda")));
  environment_.variables["ENGINEHOST_INSTALLATIONS"] =
      absolute("/srv/venv") + folder_separator() + absolute("/srv/other/");
  EXPECT_EQ(load().installations.size(), 2u);
  flags_.installations = {"env"};
  const Settings settings = load();
  EXPECT_THAT(settings.installations,
              testing::ElementsAre((environment_.current_folder / "env").lexically_normal()));
  EXPECT_EQ(source_of(settings, "installations"), "--installation");
}

TEST_F(SettingsTest, AnInstallationOfAFileOrVariableIsAnAbsoluteFolder) {
  environment_.variables["ENGINEHOST_INSTALLATIONS"] = "env";
  EXPECT_EQ(refusal().value(Key::variable), "ENGINEHOST_INSTALLATIONS");
  environment_.variables.clear();
  user_file(R"({"installations": ["env"]})");
  EXPECT_EQ(refusal().value(Key::key), "installations");
}

TEST_F(SettingsTest, PolicyCanForbidInstallations) {
  system_file(R"({"policy": {"installations": []}})");
  user_file(R"({"installations": ["/opt/conda"]})");
  EXPECT_THAT(load().installations, testing::IsEmpty());
}

TEST_F(SettingsTest, EveryEnvironmentVariableOfTheContractIsRead) {
  write("other.json", R"({"package_index": "https://packages.example/simple"})");
  environment_.variables = {
      {"ENGINEHOST_REPOSITORIES",
       absolute("/srv/one") + ";https://two.example:8080/repo" + folder_separator() + absolute("/srv/three")},
      {"ENGINEHOST_CACHE", absolute("/srv/cache")},
      {"ENGINEHOST_FLAVOR", "cpu"},
      {"ENGINEHOST_DEVICE", "cpu"},
      {"ENGINEHOST_OFFLINE", "yes"},
      {"ENGINEHOST_LOG", "debug"},
      {"ENGINEHOST_CONFIG", path_text(root_ / "other.json")},
      {"ENGINEHOST_FORCE", "pytorch-2.0.1-cu118-linux-x86_64"},
      {"ENGINEHOST_PROBE_LAUNCHER", "prlimit  --as=1000"}};
  const Settings settings = load();
  ASSERT_EQ(settings.repositories.size(), 3u);
  EXPECT_EQ(settings.repositories[0].location, native("/srv/one"));
  EXPECT_EQ(settings.repositories[1].location, "https://two.example:8080/repo");
  EXPECT_EQ(settings.repositories[2].location, native("/srv/three"));
  EXPECT_EQ(settings.cache_folder, absolute("/srv/cache"));
  EXPECT_TRUE(settings.offline);
  EXPECT_EQ(settings.log, "debug");
  EXPECT_EQ(settings.force, "pytorch-2.0.1-cu118-linux-x86_64");
  EXPECT_THAT(settings.probe_launcher, ElementsAre("prlimit", "--as=1000"));
  EXPECT_EQ(settings.package_index, "https://packages.example/simple");
}

TEST_F(SettingsTest, ProxiesAndExtraCertificatesAreShownWithoutPasswords) {
  user_file(R"({"proxy": "http://me:p@ss@proxy.example:3128", "no_proxy": "localhost,mirror.example",
                "extra_ca": "/etc/ssl/laboratory.pem"})");
  environment_.variables = {{"https_proxy", "me:secret@other.example:3128"}};
  const Settings settings = load();
  EXPECT_EQ(settings.proxy, "http://me:p@ss@proxy.example:3128");
  EXPECT_EQ(settings.no_proxy, "localhost,mirror.example");
  EXPECT_EQ(settings.extra_ca, absolute("/etc/ssl/laboratory.pem"));
  EXPECT_EQ(settings.find("proxy")->value, "http://proxy.example:3128");
  EXPECT_EQ(settings.find("no_proxy")->value, "localhost,mirror.example");
  EXPECT_EQ(settings.find("extra_ca")->value, absolute("/etc/ssl/laboratory.pem"));
  EXPECT_EQ(settings.find("https_proxy")->value, "other.example:3128");
}

TEST_F(SettingsTest, TheProbesDeadlineIs30SecondsUnlessAFileSaysOtherwise) {
  EXPECT_EQ(load().probe_deadline_seconds, 30);
  user_file(R"({"probe_deadline_seconds": 120})");
  EXPECT_EQ(load().probe_deadline_seconds, 120);
  ASSERT_NE(load().find("probe_deadline_seconds"), nullptr);
  EXPECT_EQ(load().find("probe_deadline_seconds")->value, "120");
  user_file(R"({"probe_deadline_seconds": 0})");
  EXPECT_EQ(refusal().code, "EH-P02");
}

TEST_F(SettingsTest, TheProbesMemoryIsLimitedByDefaultByAFileOrNot) {
  EXPECT_FALSE(load().probe_memory_bytes);
  user_file(R"({"probe_memory_bytes": 1073741824})");
  EXPECT_EQ(load().probe_memory_bytes, 1073741824u);
  EXPECT_EQ(load().find("probe_memory_bytes")->value, "1073741824");
  user_file(R"({"probe_memory_bytes": 0})");
  EXPECT_EQ(load().probe_memory_bytes, 0u) << "no limit";
  user_file(R"({"probe_memory_bytes": -1})");
  EXPECT_EQ(refusal().code, "EH-P02");
}

// As an absolute path it would be the current folder.
TEST_F(SettingsTest, AProbeWithoutANameIsRefused) {
  flags_.helper = "";
  EXPECT_EQ(refusal().code, "EH-P02");
  EXPECT_EQ(refusal().value(Key::key), "helper");
}

TEST_F(SettingsTest, AnEmptyVariableCountsAsNotSet) {
  environment_.variables = {{"ENGINEHOST_OFFLINE", ""}, {"ENGINEHOST_CACHE", ""}};
  EXPECT_FALSE(load().offline);
  EXPECT_EQ(load().cache_folder, default_cache(environment_).folder);
}

TEST_F(SettingsTest, RepositoriesOfAllSourcesAddUpTheStrongestFirst) {
  system_file(R"({"repositories": ["/srv/system", "/srv/user"]})");
  user_file(R"({"repositories": [{"location": "/srv/user", "unsigned": true}, "https://user.example/r"]})");
  environment_.variables["ENGINEHOST_REPOSITORIES"] = absolute("/srv/environment");
  flags_.repositories = {"flag-folder"};
  std::vector<std::string> locations;
  const Settings settings = load();
  for (const Repository& repository : settings.repositories) locations.push_back(repository.location);
  EXPECT_THAT(locations, ElementsAre(path_text(root_ / "here/flag-folder"), native("/srv/environment"),
                                     native("/srv/user"), "https://user.example/r", native("/srv/system")));
  EXPECT_FALSE(settings.repositories[0].unsigned_allowed) << "a folder, whose owner decides";
  flags_.allow_unsigned = true;
  EXPECT_TRUE(load().repositories[0].unsigned_allowed);
  EXPECT_FALSE(load().repositories[1].unsigned_allowed);
  EXPECT_FALSE(settings.repositories[1].unsigned_allowed);
  EXPECT_TRUE(settings.repositories[2].unsigned_allowed);
}

TEST_F(SettingsTest, AnUnknownKeyIsAWarningThatNamesTheNearestOne) {
  user_file(R"({"offlin": true, "downloads": {"retrys": 3}})");
  const Settings settings = load();
  EXPECT_FALSE(settings.offline);
  EXPECT_THAT(settings.warnings, ElementsAre(HasSubstr("did you mean \"downloads.retries\""),
                                             HasSubstr("did you mean \"offline\"")));
}

TEST_F(SettingsTest, AnUnknownKeyOfAListedObjectIsAWarningToo) {
  user_file(
      R"({"repositories": [{"location": "https://a.example"}, {"location": "https://b.example", "unsined": true}],
                "mirrors": [{"of": "https://a.example/", "use": "https://c.example/", "user": "me"}]})");
  const Settings settings = load();
  EXPECT_THAT(settings.warnings,
              ElementsAre(HasSubstr("\"repositories[1].unsined\" is not a known setting; did you "
                                    "mean \"repositories[1].unsigned\"?"),
                          HasSubstr("\"mirrors[0].user\"")));
}

TEST_F(SettingsTest, AFileThatIsNotJsonIsOneOfSettings) {
  user_file("{ this is not JSON");
  const Diagnosis diagnosis = refusal();
  EXPECT_EQ(diagnosis.code, "EH-M01");
  EXPECT_EQ(diagnosis.value(Key::place), "configuration");
}

struct Wrong {
  const char *text, *key, *problem;
};
class WrongFiles : public SettingsTest, public testing::WithParamInterface<Wrong> {};

TEST_P(WrongFiles, AreRefusedNamingFileKeyAndProblem) {
  user_file(GetParam().text);
  const Diagnosis diagnosis = refusal();
  EXPECT_EQ(diagnosis.code, "EH-P02");
  EXPECT_EQ(diagnosis.value(Key::file), path_text(user_config()));
  EXPECT_EQ(diagnosis.value(Key::key), GetParam().key);
  EXPECT_THAT(std::string(diagnosis.value(Key::problem)), HasSubstr(GetParam().problem));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, WrongFiles,
    testing::Values(Wrong{R"([])", "", "found array"},
                    Wrong{R"({"offline": "yes"})", "offline", "found string"},
                    Wrong{R"({"offline": null})", "offline", "found null"},
                    Wrong{R"({"repositories": null})", "repositories", "found null"},
                    Wrong{R"({"downloads": null})", "downloads", "found null"},
                    Wrong{R"({"flavor": ""})", "flavor", "it is empty"},
                    Wrong{R"({"device": ""})", "device", "it is empty"},
                    Wrong{R"({"cache": "relative"})", "cache", "not an absolute path"},
                    Wrong{R"({"cache": 3})", "cache", "found integer"},
                    Wrong{R"({"log": "loud"})", "log", "none of error"},
                    Wrong{R"({"device": "cuda:0, the fast one"})", "device", "\"the fast one\" is no device"},
                    Wrong{R"({"repositories": "/srv"})", "repositories", "found string"},
                    Wrong{R"({"repositories": ["srv"]})", "repositories", "neither a URL nor"},
                    Wrong{R"({"repositories": [{"location": "/x", "unsigned": 1}]})", "repositories",
                          "each element"},
                    Wrong{R"({"package_index": "packages"})", "package_index", "nor an absolute folder"},
                    Wrong{R"({"plain_http_registries": ["http://a"]})", "plain_http_registries", "HOST:PORT"},
                    Wrong{R"({"registry_mirrors": ["a.example"]})", "registry_mirrors", "HOST[:PORT]=MIRROR"},
                    Wrong{R"({"proxy": "proxy.example:3128"})", "proxy", "not the URL of a proxy"},
                    Wrong{R"({"extra_ca": "mine.pem"})", "extra_ca", "not an absolute path"},
                    Wrong{R"({"downloads": {"retries": 1000}})", "downloads.retries", "not between"},
                    Wrong{R"({"policy": 3})", "policy", "expected an object"}));

TEST_F(SettingsTest, AFlagNamesThePackageIndex) {
  user_file(R"({"package_index": "https://packages.example/simple"})");
  flags_.package_index = "https://me:secret@mirror.example/simple";
  const Settings settings = load();
  EXPECT_EQ(settings.package_index, "https://me:secret@mirror.example/simple");
  EXPECT_EQ(settings.find("package_index")->value, "https://mirror.example/simple");
  EXPECT_EQ(settings.find("package_index")->source, "--package-index");
  for (const std::string& location : {std::string("file:///srv/simple"), absolute("/srv/simple")}) {
    flags_.package_index = location;
    EXPECT_EQ(load().package_index, location);
  }
  for (const char* location : {"mirror.example/simple", "simple", "ftp://mirror.example", ""}) {
    flags_.package_index = location;
    EXPECT_EQ(refusal().value(Key::flag), "--package-index") << location;
  }
  flags_.by_application = true;
  EXPECT_EQ(refusal().value(Key::argument), "request.package_index");
}

TEST_F(SettingsTest, AWrongVariableIsNamed) {
  environment_.variables["ENGINEHOST_OFFLINE"] = "perhaps";
  EXPECT_EQ(refusal().value(Key::variable), "ENGINEHOST_OFFLINE");
  environment_.variables = {{"ENGINEHOST_CACHE", "relative/cache"}};
  EXPECT_EQ(refusal().value(Key::variable), "ENGINEHOST_CACHE");
  environment_.variables = {{"ENGINEHOST_DEVICE", "cuda:first"}};
  EXPECT_EQ(refusal().value(Key::variable), "ENGINEHOST_DEVICE");
  environment_.variables = {{"ENGINEHOST_CONFIG", absolute("/nowhere/config.json")}};
  EXPECT_THAT(std::string(refusal().value(Key::problem)),
              HasSubstr(path_text(path_of(absolute("/nowhere/config.json"))) + " does not exist"));
}

TEST_F(SettingsTest, AFileThatIsNotJsonIsRefusedWithItsPosition) {
  user_file("{\"offline\": tru}");
  EXPECT_EQ(refusal().code, "EH-M01");
  EXPECT_FALSE(refusal().value(Key::position).empty());
}

TEST_F(SettingsTest, AFlagThatContradictsPolicyIsRefusedNamingFileAndKey) {
  system_file(R"({"policy": {"offline": true}})");
  EXPECT_TRUE(load().offline);
  flags_.offline = true;
  EXPECT_TRUE(load().offline);
  flags_.offline = false;
  const Diagnosis diagnosis = refusal();
  EXPECT_EQ(diagnosis.code, "EH-P01");
  EXPECT_EQ(diagnosis.value(Key::file), path_text(system_config()));
  EXPECT_EQ(diagnosis.value(Key::key), "policy.offline");
  EXPECT_EQ(diagnosis.value(Key::policy), "policy.offline = true");
  EXPECT_EQ(diagnosis.value(Key::what), "--offline false");
}

// Users of a program that embeds this have no flags to give.
TEST_F(SettingsTest, ErrorsOfApiValuesNameTheApplication) {
  flags_.by_application = true;
  flags_.cache = absolute("/srv/c");
  flags_.offline = true;
  flags_.helper = absolute("/opt/enginehost-probe");
  flags_.installations = {absolute("/opt/tools")};
  flags_.repositories = {absolute("/srv/r")};
  const Settings settings = load();
  for (const char* key : {"cache", "offline", "helper", "installations"})
    EXPECT_EQ(source_of(settings, key), std::string("the application (request.") + key + ")");
  EXPECT_EQ(source_of(settings, "repository"), "the application (request.repositories)");
  for (const Setting& setting : settings.effective)
    EXPECT_THAT(setting.source, Not(HasSubstr("--"))) << setting.key;
  EXPECT_TRUE(settings.repositories.at(0).by_caller);
}

TEST_F(SettingsTest, AnUnusableApiValueIsAnArgumentError) {
  flags_.by_application = true;
  const auto reported = [&](const FlagValues& flags) {
    const auto refused = load_settings(flags, environment_);
    return refused ? std::string()
                   : std::string(refused.error().code_text()) + " " +
                         std::string(refused.error().value(Key::argument));
  };
  FlagValues flags = flags_;
  flags.cache = "";
  EXPECT_EQ(reported(flags), "EH-P45 request.cache");
  flags = flags_;
  flags.helper = "";
  EXPECT_EQ(reported(flags), "EH-P45 request.helper");
  for (const char* location : {"", "ftp://h.example/r"}) {
    flags = flags_;
    flags.repositories = {location};
    EXPECT_EQ(reported(flags), "EH-P45 request.repositories");
  }
  flags = flags_;
  flags.installations = {""};
  EXPECT_EQ(reported(flags), "EH-P45 request.installations");
}

TEST_F(SettingsTest, PolicyErrorsOfApiValuesNameNoFlags) {
  system_file(R"({"policy": {"cache": "/srv/policy", "forbid_licenses": ["X"], "repositories": []}})");
  flags_.by_application = true;
  const FlagValues before = flags_;
  flags_.cache = absolute("/srv/mine");
  EXPECT_EQ(refusal().value(Key::flag), "the application (request.cache)");
  EXPECT_EQ(refusal().value(Key::what),
            "\"" + native("/srv/mine") + "\", which the application (request.cache) asks for");
  flags_ = before;
  flags_.accept_licenses = {"X"};
  EXPECT_EQ(refusal().value(Key::flag), "the application (request.accepted_licenses)");
  flags_ = before;
  flags_.repositories = {absolute("/srv/r")};
  EXPECT_EQ(refusal().value(Key::flag), "the application (request.repositories)");
}

TEST_F(SettingsTest, PolicyOverridesEnvironmentAndUserFileWithAWarning) {
  system_file(R"({"policy": {"cache": "/srv/policy", "flavor": "cpu"}})");
  user_file(R"({"flavor": "cu118"})");
  environment_.variables["ENGINEHOST_CACHE"] = absolute("/srv/mine");
  const Settings settings = load();
  EXPECT_EQ(settings.cache_folder, absolute("/srv/policy"));
  EXPECT_EQ(settings.flavor, "cpu");
  EXPECT_EQ(source_of(settings, "flavor"), "policy of " + path_text(system_config()));
  EXPECT_THAT(settings.warnings,
              ElementsAre(HasSubstr("ENGINEHOST_CACHE sets cache"), HasSubstr("sets flavor")));
  EXPECT_THAT(settings.policy.locked, ElementsAre("cache", "flavor"));
}

TEST_F(SettingsTest, PolicyLimitsTheRepositories) {
  system_file(R"({"policy": {"repositories": ["https://good.example/e/"], "unsigned_repositories": false}})");
  user_file(
      R"({"repositories": ["https://good.example.evil/e/r", "https://good.example/e/r", "https://good.example/e/../x"]})");
  const Settings settings = load();
  ASSERT_EQ(settings.repositories.size(), 1u);
  EXPECT_EQ(settings.repositories[0].location, "https://good.example/e/r");
  EXPECT_EQ(settings.warnings.size(), 2u);
  flags_.repositories = {"https://bad.example/r"};
  EXPECT_EQ(refusal().code, "EH-P01");
  EXPECT_EQ(refusal().value(Key::key), "policy.repositories");
  flags_.repositories = {"https://good.example/e/mine"};
  EXPECT_FALSE(load().repositories[0].unsigned_allowed);
}

TEST_F(SettingsTest, AForbiddenLicenseCannotBeAcceptedByFlag) {
  system_file(R"({"policy": {"forbid_licenses": ["LicenseRef-X"], "accept_licenses": ["LicenseRef-Y"]}})");
  EXPECT_EQ(load().policy.accepted_licenses.at(0).id, "LicenseRef-Y");
  EXPECT_TRUE(load().accept_licenses.empty()) << "policy has a rule of its own for ids";
  flags_.accept_licenses = {"LicenseRef-X"};
  EXPECT_EQ(refusal().code, "EH-P01");
}

TEST_F(SettingsTest, APolicyBlockInTheUsersFileDoesNotCount) {
  user_file(R"({"policy": {"offline": true}})");
  const Settings settings = load();
  EXPECT_FALSE(settings.offline);
  EXPECT_THAT(settings.warnings, ElementsAre(HasSubstr("counts only in the system's file")));
}

TEST_F(SettingsTest, ProxiesAreShownWithoutTheirPassword) {
  environment_.variables["https_proxy"] = "http://user:secret@proxy.example:3128";
  const Settings settings = load();
  ASSERT_NE(settings.find("https_proxy"), nullptr);
  EXPECT_EQ(settings.find("https_proxy")->value, "http://proxy.example:3128");
}

TEST_F(SettingsTest, NothingIsReadFromTheCurrentFolder) {
  write("here/config.json", R"({"offline": true})");
  write("here/enginehost/config.json", R"({"offline": true})");
  environment_.variables["XDG_CONFIG_HOME"] = ".";
  EXPECT_FALSE(load().offline);
}

}  // namespace
}  // namespace enginehost::settings
