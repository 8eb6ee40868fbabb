// The first screen says what an open would do. Each case compares it with the real open in the same
// situation.
#include <gmock/gmock.h>

#include "base/text.hpp"
#include "tests/end-to-end/policies.hpp"
#include "tests/end-to-end/repository.hpp"

namespace enginehost::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Forecast : public Policies {
 protected:
  // A build that nothing stops, and one that is newer.
  static TestBuild older() { return good_build(); }
  static TestBuild newer() {
    TestBuild build = good_build("reference-newer");
    build.version = "2.0.0";
    return build;
  }
  static TestBuild licensed(TestBuild build) {
    build.license = "vendor";
    return build;
  }
  void publish(const std::vector<TestBuild>& builds, const std::string& server = "") {
    TestRepository repository(workplace.folder() / "repository");
    repository.serve_from(server);
    for (const TestBuild& build : builds) repository.add(build);
    repository.write();
  }
  void under_policy(const Json& policy) {
    options.launcher = with_system_file(workplace, Json::object().set("policy", policy));
  }
  Ended run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--repository", (workplace.folder() / "repository").native()});
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return workplace.info(arguments, options);
  }
  // The row of the only engine with the lines below it; on a terminal lines end with "\r\n".
  static std::string row_in(const Ended& screen) {
    std::string row;
    for (const std::string& line : split(screen.output, '\n'))
      if (line.starts_with("reference ") || (!row.empty() && line.starts_with("  ")))
        row += (row.empty() ? "" : " ") + std::string(trim(line));
      else if (!row.empty())
        return row;
    return "no row: " + screen.said();
  }

  // The row and the document of the screen, and the open that followed.
  struct Compared {
    std::string row;
    Json foreseen;
    Ended opened;
  };
  // Expects that the open ends as the screen says.
  Compared compare() const {
    const Ended screen = run({}), document = run({"--json"});
    EXPECT_EQ(screen.status, 0) << screen.said();
    EXPECT_EQ(document.document["engines"].as_array().size(), 1u) << document.said();
    Compared compared{row_in(screen), document.document["engines"].as_array().at(0)["opens"],
                      run({"reference", "--json"})};
    const std::string& state = compared.foreseen["state"].as_string();
    const Ended& opened = compared.opened;
    EXPECT_EQ(opened.outcome()["state"].as_string(), state == "opens" ? "opened" : "failed") << opened.said();
    if (state == "opens")
      EXPECT_EQ(opened.outcome()["build"].as_string(), compared.foreseen["build"].as_string())
          << opened.said();
    else
      EXPECT_EQ(opened.code(), compared.foreseen["code"].as_string()) << opened.said();
    EXPECT_EQ(opened.outcome()["fallback"].as_bool(),
              state == "opens" && compared.foreseen["fallback"].as_bool());
    return compared;
  }
  // Expects that row, and that a plan agrees with the open.
  void expect_row(const std::string& pattern) const {
    const Ended plan = run({"reference", "--plan", "--json"});
    const Compared compared = compare();
    EXPECT_THAT(compared.row, ContainsRegex(pattern)) << compared.foreseen.dump();
    if (compared.foreseen["state"].as_string() == "opens") {
      EXPECT_EQ(plan.outcome()["build"].as_string(), compared.foreseen["build"].as_string()) << plan.said();
      EXPECT_TRUE(plan.outcome()["obstacle"].is_null()) << plan.said();
    }
    if (!compared.foreseen["obstacle"].is_null()) {
      EXPECT_EQ(plan.outcome()["obstacle"]["code"].as_string(), compared.opened.code()) << plan.said();
    }
  }

  RunOptions options;
  std::vector<std::string> flags;
};

TEST_F(Forecast, ALicenseThatNobodyAcceptedIsAWord) {
  publish({licensed(older())});
  expect_row("^reference +1[.]0[.]0 cpu +in a folder +asks: license vendor$");
  EXPECT_EQ(compare().opened.code(), "EH-P03");
  EXPECT_THAT(run({"reference", "--plan"}).output,
              HasSubstr("asks          first: LicenseRef-vendor must be accepted\n"));
}

TEST_F(Forecast, AnAcceptedLicenseIsNoWord) {
  publish({licensed(older())});
  flags = {"--accept-license", "LicenseRef-vendor"};
  expect_row("^reference +1[.]0[.]0 cpu +in a folder$");
  ASSERT_EQ(workplace.run("engine-cache", {"remove", "reference-good"}).status, 0);
  flags.clear();
  expect_row("^reference +1[.]0[.]0 cpu +in a folder$");
}

TEST_F(Forecast, AForbiddenLicenseIsAWord) {
  publish({licensed(newer())});
  under_policy(one("forbid_licenses", Json::strings({"LicenseRef-vendor"})));
  expect_row("^reference +none +EH-P01 forbidden by policy: license LicenseRef-vendor$");
  publish({licensed(newer()), older()});
  expect_row("^reference +1[.]0[.]0 cpu +in a folder +2[.]0[.]0 cpu: forbidden by policy: license");
}

TEST_F(Forecast, AForbiddenHostIsAWord) {
  publish({older()}, "http://127.0.0.1:1/");
  under_policy(one("allowed_hosts", Json::array()));
  expect_row("^reference +none +EH-P01 forbidden by policy: host 127[.]0[.]0[.]1:1$");
  under_policy(one("allowed_hosts", Json::strings({"mirror.example"})));
  expect_row("^reference +none +EH-P01 forbidden by policy: host");
}

TEST_F(Forecast, ACacheThatCannotBeWrittenIsAWord) {
  publish({older()});
  std::filesystem::create_directories(workplace.cache());
  options.launcher = with_read_only(workplace.cache());
  expect_row("^reference +none +EH-F16 no cache: ");
  EXPECT_EQ(compare().opened.status, 7);
}

TEST_F(Forecast, AnInstalledBuildNeedsNoCacheThatCanBeWritten) {
  publish({older()});
  ASSERT_EQ(run({"reference"}).status, 0);
  options.launcher = with_read_only(workplace.cache());
  expect_row("^reference +1[.]0[.]0 cpu +installed$");
}

TEST_F(Forecast, ABuildWithoutAdapterIsNotTheOneThatOpens) {
  TestBuild unbuilt = newer();
  unbuilt.not_built = "there is no adapter";
  publish({unbuilt, older()});
  expect_row("^reference +1[.]0[.]0 cpu +in a folder +2[.]0[.]0 cpu: there is no adapter$");
}

TEST_F(Forecast, OfflineABuildThatIsNotInstalledDoesNotOpen) {
  publish({older()}, "http://127.0.0.1:1/");
  flags = {"--offline"};
  expect_row("^reference +none +EH-S13 not installed, and offline$");
}

TEST_F(Forecast, AQuarantinedBuildIsNotTheOneThatOpens) {
  publish({newer(), older()});
  ASSERT_EQ(run({"reference"}).status, 0);
  ASSERT_EQ(workplace.run("engine-cache", {"quarantine", "disable", "reference-newer"}).status, 0);
  expect_row("^reference +1[.]0[.]0 cpu +in a folder +2[.]0[.]0 cpu: disabled$");
}

// A script opens the older build, a person is asked for the newer one.
TEST_F(Forecast, WhoCannotBeAskedGetsTheNextBuild) {
  publish({licensed(newer()), older()});
  expect_row("^reference +1[.]0[.]0 cpu +in a folder +2[.]0[.]0 cpu: asks: license vendor$");
}

TEST_F(Forecast, WhoCanBeAskedIsAsked) {
  publish({licensed(newer()), older()});
  options.launcher = on_a_terminal();
  options.environment = {"NO_COLOR=1"};
  EXPECT_THAT(row_in(run({})),
              ContainsRegex("^reference +2[.]0[.]0 cpu +in a folder +asks: license vendor$"));
  options.input = "y\n";
  const Ended opened = run({"reference"});
  EXPECT_EQ(opened.status, 0) << opened.said();
  EXPECT_THAT(opened.output, HasSubstr("Do you accept the license"));
  EXPECT_THAT(opened.output, HasSubstr("reference 2.0.0 cpu is open"));
}

// Two builds are on a server that does not answer; the caller can accept the license of the third.
TEST_F(Forecast, AMissingConsentIsNotHiddenByTheNetwork) {
  workplace.configure(
      Json::object().set("repositories_default", false).set("downloads", Json::object().set("retries", 0)));
  TestRepository repository(workplace.folder() / "repository");
  for (const auto& [version, digit] : {std::pair{"3.0.0", 'a'}, {"2.0.0", 'b'}}) {
    TestBuild build = good_build(std::string("reference-") + version);
    build.version = version;
    const std::string sha256(64, digit);
    repository.add_with_artifacts(
        build,
        Json::array().push(Json::object()
                               .set("sha256", sha256)
                               .set("size", 1000)
                               .set("archive", "none")
                               .set("path", build.plugin)
                               .set("sources", Json::array().push(Json::object().set(
                                                   "url", "http://127.0.0.1:1/of-" + build.version)))));
  }
  TestBuild licensed = good_build();
  licensed.license = "vendor";
  repository.add(licensed);
  repository.write();
  const Ended run = this->run({"reference", "--json"});
  EXPECT_EQ(run.code(), "EH-P03") << run.said();
  EXPECT_EQ(run.status, 8);
  const Json& second = run.candidate("reference-2.0.0")["diagnosis"];
  EXPECT_EQ(second["code"].as_string(), "EH-N02") << run.said();
  EXPECT_THAT(second.dump(), Not(HasSubstr("3.0.0"))) << "a file of another build";
  EXPECT_THAT(second["cause"].as_string(), HasSubstr("http://127.0.0.1:1"));
  const Ended text = this->run({"reference"});
  EXPECT_THAT(text.error, HasSubstr("EH-P03  the license LicenseRef-vendor"));
  EXPECT_THAT(text.output, Not(HasSubstr("EH-N02"))) << "the table comes with --explain";
  EXPECT_THAT(text.output, HasSubstr("3 builds were considered: --explain lists them with their reasons"));
  const Ended explained = this->run({"reference", "--explain"});
  EXPECT_THAT(explained.output, ContainsRegex("reference-3[.]0[.]0 +failed +EH-N02 [a-z]"));
  EXPECT_THAT(explained.output, ContainsRegex("reference-good +failed +EH-P03 the license"));
}

TEST_F(Forecast, TheScreenAsksNobodyAndWritesNothing) {
  publish({licensed(newer()), older()});
  const Ended screen = run({});
  EXPECT_EQ(screen.status, 0) << screen.said();
  EXPECT_THAT(screen.said(), Not(HasSubstr("Do you accept")));
  for (const char* folder : {"refs", "trees", "blobs", "partial"})
    EXPECT_FALSE(std::filesystem::exists(workplace.cache() / folder)) << folder;
}

}  // namespace
}  // namespace enginehost::test
