// Licenses: nothing is fetched before its text was accepted, and the consent stays on record.
#include <gmock/gmock.h>
#include <unistd.h>

#include <tuple>

#include "base/text.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string first_text = "You may use it on one machine.\n",
                  second_text = "You may use it on no machine.\n";

// The words of a text that was wrapped to the width of a terminal.
std::string without_breaks(const std::string& output) {
  std::vector<std::string> lines = split(output, '\n');
  for (std::string& line : lines) line = std::string(trim(line));
  return join(lines, " ");
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

Json last_consent(const Workplace& workplace) {
  for (const auto& entry : std::filesystem::directory_iterator(workplace.cache() / "state")) {
    const std::string text = read_text(entry.path() / "consents" / "consents.jsonl");
    const auto lines = split(std::string(trim(text)), '\n');
    return parse_json(lines.back(), "consents").value();
  }
  return {};
}

// A build under a license whose text a server has.
class Consent : public testing::Test {
 protected:
  // `text` is the one that the manifest names.
  void publish(const std::string& text, const std::string& served_text) {
    write_text(server.root() / "eula.txt", served_text);
    TestBuild build = good_build();
    build.license = "vendor";
    build.terms = Json::object()
                      .set("id", "LicenseRef-vendor")
                      .set("url", server.url("eula.txt"))
                      .set("sha256", sha256_hex(text))
                      .set("accept", "explicit");
    TestRepository repository(workplace.folder() / "repository");
    repository.add(build);
    repository.write();
  }
  Ended open(std::vector<std::string> more = {}, const RunOptions& options = {}) const {
    std::vector<std::string> arguments = {"reference", "--repository", location(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workplace.info(arguments, options);
  }
  Ended licenses(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "licenses");
    arguments.insert(arguments.end(), {"--repository", location(), "--json"});
    return workplace.run("engine-cache", arguments);
  }
  void remove() const {
    ASSERT_EQ(workplace.run("engine-cache", {"remove", "reference-good", "--json"}).status, 0);
  }
  std::string location() const { return (workplace.folder() / "repository").native(); }

  Workplace workplace;
  NginxServer server;
};

TEST_F(Consent, HoldsUntilTheTextChanges) {
  publish(first_text, first_text);
  const Ended refused = open();
  EXPECT_EQ(refused.status, 8) << refused.said();
  EXPECT_EQ(evidence(refused.diagnosis(), "sha256"), sha256_hex(first_text));
  ASSERT_EQ(open({"--accept-license", "LicenseRef-vendor"}).status, 0);
  const Json record = last_consent(workplace);
  EXPECT_EQ(record["license"].as_string(), "LicenseRef-vendor");
  EXPECT_EQ(record["text_sha256"].as_string(), sha256_hex(first_text));
  EXPECT_EQ(record["how"].as_string(), "flag");
  EXPECT_EQ(record["application"].as_string(), "engine-info");
  EXPECT_EQ(record["uid"].as_integer(), ::getuid());
  remove();
  EXPECT_EQ(open().status, 0) << "the same text is not asked about again";
  remove();
  publish(second_text, second_text);
  const Ended changed = open();
  EXPECT_EQ(changed.status, 8) << changed.said();
  EXPECT_EQ(changed.code(), "EH-P03");
  EXPECT_EQ(evidence(changed.diagnosis(), "sha256"), sha256_hex(second_text));
}

TEST_F(Consent, ShowsTheAcceptedTextAfterTheBuildIsRemoved) {
  publish(first_text, first_text);
  ASSERT_EQ(licenses({"accept", "LicenseRef-vendor"}).status, 0);
  ASSERT_EQ(open().status, 0);
  remove();
  const Ended collected =
      workplace.run("engine-cache", {"gc", "--max-age", "0s", "--max-size", "0", "--json"});
  ASSERT_EQ(collected.status, 0) << collected.said();
  const Ended list = licenses({"list"});
  ASSERT_EQ(list.status, 0) << list.said();
  EXPECT_EQ(read_text(workplace.cache() / "blobs/sha256" / sha256_hex(first_text)), first_text)
      << list.said();
  EXPECT_THAT(list.output, HasSubstr(sha256_hex(first_text)));
}

TEST_F(Consent, ShowsTheTextOnATerminalBeforeAsking) {
  publish(first_text, first_text);
  RunOptions options;
  options.launcher = on_a_terminal();
  options.input = "n\n";
  const std::vector<std::string> arguments = {"reference", "--repository", location()};
  const Ended declined = workplace.info(arguments, options);
  EXPECT_EQ(declined.status, 8) << declined.said();
  EXPECT_THAT(declined.output, HasSubstr(std::string(trim(first_text))));
  EXPECT_THAT(declined.output,
              ContainsRegex("Do you accept the license and download [0-9.]+ [KM]iB[?] \\[y/n\\] "));
  EXPECT_FALSE(std::filesystem::exists(workplace.cache() / "refs" / "reference-good.json"));
  options.input = "y\n";
  const Ended agreed = workplace.info(arguments, options);
  EXPECT_EQ(agreed.status, 0) << agreed.said();
  EXPECT_EQ(last_consent(workplace)["how"].as_string(), "terminal");
  EXPECT_EQ(server.requests("GET /eula.txt"), 1) << "the text was kept the first time";
}

TEST_F(Consent, PrintsACommandForALongTextAndShowsItOnDemand) {
  std::string text;
  for (int line = 1; line <= 60; ++line) text += "Clause " + std::to_string(line) + ".\n";
  publish(text, text);
  RunOptions options;
  options.launcher = on_a_terminal();
  const std::vector<std::string> arguments = {"reference", "--repository", location()};
  options.input = "n\n";
  const Ended declined = workplace.info(arguments, options);
  EXPECT_EQ(declined.status, 8) << declined.said();
  const std::string question = declined.output.substr(0, declined.output.find("[y/n, r to read it] "));
  EXPECT_LT(question.size(), declined.output.size());
  EXPECT_THAT(without_breaks(question),
              AllOf(HasSubstr("The text of the license has 60 lines. Elsewhere, engine-cache licenses show "),
                    HasSubstr(" LicenseRef-vendor"), HasSubstr("--repository " + location()),
                    HasSubstr("Do you accept the license and download ")));
  EXPECT_THAT(question, Not(HasSubstr(sha256_hex(text)))) << "nobody types a digest";
  EXPECT_THAT(declined.output, Not(HasSubstr("Clause 1.")));
  options.input = "r\ny\n";
  options.environment = {"PAGER=cat"};  // less would wait for a key
  const Ended agreed = workplace.info(arguments, options);
  EXPECT_EQ(agreed.status, 0) << agreed.said();
  EXPECT_THAT(agreed.output, HasSubstr("Clause 1."));
  EXPECT_THAT(agreed.output, HasSubstr("Clause 60."));
}

// As a CPU build of PyTorch, which needs two libraries of NVIDIA.
TEST_F(Consent, SaysWhyALicenseOfAPartIsNeededAndHowLargeThePartIs) {
  write_text(server.root() / "eula.txt", first_text);
  TestBuild build = good_build();
  build.license = "vendor";
  build.terms = Json::object()
                    .set("id", "LicenseRef-vendor")
                    .set("url", server.url("eula.txt"))
                    .set("sha256", sha256_hex(first_text))
                    .set("accept", "explicit");
  build.first_licensed = build.files.size();
  build.files.push_back({"vendor/part", std::string(3 << 20, 'x')});
  TestRepository repository(workplace.folder() / "repository");
  repository.add(build);
  repository.write();
  const Ended refused = open();
  EXPECT_EQ(refused.status, 8) << refused.said();
  EXPECT_THAT(evidence(refused.diagnosis(), "part"), HasSubstr("3.0 MiB of "));
  RunOptions options;
  options.launcher = on_a_terminal();
  options.input = "n\n";
  const Ended declined = workplace.info({"reference", "--repository", location()}, options);
  EXPECT_EQ(declined.status, 8) << declined.said();
  EXPECT_THAT(declined.output, HasSubstr("(3.0 MiB of "));
  EXPECT_THAT(without_breaks(declined.output),
              HasSubstr("The build does not work without this part, on a machine without a GPU, too."));
  const std::size_t reason = declined.output.find("reference 1.0.0 cpu needs"),
                    question = declined.output.find("Do you accept");
  ASSERT_LT(reason, question) << declined.said();
  for (const std::string& line : split(declined.output.substr(reason, question - reason), '\n'))
    EXPECT_LE(trim(line).size(), 80u) << line;
  EXPECT_THAT(declined.output, Not(HasSubstr(" is covered by the license")));
}

TEST_F(Consent, ARefusedLicenseIsNotAskedAboutForTheNextRelease) {
  TestRepository repository(workplace.folder() / "repository");
  for (const char* version : {"3.0.0", "2.0.0", "1.0.0"}) {
    TestBuild build = good_build(std::string("reference-") + version);
    build.version = version;
    build.license = version == std::string("1.0.0") ? "" : "vendor";
    repository.add(build);
  }
  repository.write();
  RunOptions options;
  options.launcher = on_a_terminal();
  options.input = "n\n";
  const Ended declined = workplace.info({"reference", "--repository", location()}, options);
  EXPECT_EQ(declined.status, 0) << declined.said();
  const std::size_t first = declined.output.find("Do you accept the license");
  ASSERT_NE(first, std::string::npos) << declined.said();
  EXPECT_EQ(declined.output.find("Do you accept the license", first + 1), std::string::npos)
      << declined.said();
  EXPECT_THAT(declined.output, HasSubstr("reference-1.0.0"));
}

// Neither a "no" nor an acceptance happens by mistake.
TEST_F(Consent, AsksAgainAfterAnythingElseThanYesOrNo) {
  publish(first_text, first_text);
  RunOptions options;
  options.launcher = on_a_terminal();
  for (const auto& [typed, status, questions] :
       {std::tuple{"\n\ny\n", 0, 3u}, {"x\nno\n", 8, 2u}, {"?\nYES\n", 0, 2u}, {"yesterday\nN\n", 8, 2u}}) {
    const Workplace fresh;
    options.input = typed;
    const Ended run = fresh.info({"reference", "--repository", location()}, options);
    EXPECT_EQ(run.status, status) << typed << run.said();
    EXPECT_EQ(count_of(run.output, "Do you accept the license"), questions) << typed << run.output;
  }
}

TEST_F(Consent, AsksForLicenseAndSizeInOneQuestion) {
  write_text(server.root() / "eula.txt", first_text);
  TestBuild build = good_build();
  build.license = "vendor";
  build.terms = Json::object()
                    .set("id", "LicenseRef-vendor")
                    .set("url", server.url("eula.txt"))
                    .set("accept", "explicit");
  TestRepository repository(workplace.folder() / "repository");
  repository.serve_from(server.url("none/"));
  const std::string sha256(64, 'a');
  repository.add_with_artifacts(
      build, Json::array().push(Json::object()
                                    .set("sha256", sha256)
                                    .set("size", 150'000'000)
                                    .set("archive", "zip")
                                    .set("sources", Json::array().push(repository.source_of(sha256)))));
  repository.write();
  RunOptions options;
  options.launcher = on_a_terminal();
  options.input = "y\n";
  const Ended agreed = workplace.info({"reference", "--repository", location()}, options);
  EXPECT_EQ(agreed.status, 4) << "the file is not there" << agreed.said();
  EXPECT_THAT(agreed.output, HasSubstr("Do you accept the license and download 143 MiB? [y/n] "));
  EXPECT_THAT(agreed.output, Not(HasSubstr("Download?")));
}

TEST_F(Consent, PrintsTheTextOfALicense) {
  publish(first_text, first_text);
  const Ended text =
      workplace.run("engine-cache", {"licenses", "show", "vendor", "--repository", location()});
  EXPECT_EQ(text.status, 0) << text.said();
  EXPECT_THAT(text.output, HasSubstr(first_text));
  const Ended document = licenses({"show", "LicenseRef-ven"});
  ASSERT_EQ(document.document["licenses"].as_array().size(), 1u) << document.said();
  EXPECT_EQ(document.document["licenses"].as_array()[0]["text"].as_string(), first_text);
  EXPECT_EQ(document.document["licenses"].as_array()[0]["text_sha256"].as_string(), sha256_hex(first_text));
  EXPECT_EQ(open().code(), "EH-P03") << "showing is not accepting";
  EXPECT_EQ(licenses({"show", "LicenseRef-other"}).code(), "EH-P07");
}

TEST_F(Consent, AsksEvenWhenTheTextCannotBeShown) {
  publish(first_text, second_text);
  RunOptions options;
  options.launcher = on_a_terminal();
  options.input = "y\n";
  const Ended run = workplace.info({"reference", "--repository", location()}, options);
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_THAT(run.output, HasSubstr("the text of LicenseRef-vendor cannot be shown: EH-N08"));
  EXPECT_THAT(run.output, Not(HasSubstr(std::string(trim(second_text)))));
}

TEST_F(Consent, ShowsTheTextInThePager) {
  publish(first_text, first_text);
  RunOptions options;
  options.launcher = on_a_terminal();
  options.input = "n\n";
  options.environment = {"PAGER=sed 's/^/paged: /'"};
  const std::vector<std::string> arguments = {"reference", "--repository", location()};
  const Ended declined = workplace.info(arguments, options);
  EXPECT_EQ(declined.status, 8) << declined.said();
  EXPECT_THAT(declined.output, HasSubstr("paged: " + std::string(trim(first_text))));
  options.environment = {"PAGER=/nonexistent/pager"};
  const Ended plain = workplace.info(arguments, options);
  EXPECT_THAT(plain.output, HasSubstr("\n" + std::string(trim(first_text)))) << plain.said();
}

// 143 MiB by the manifest; the file is never there.
TEST_F(Consent, AsksForALargeDownloadUnlessYesIsGiven) {
  TestRepository repository(workplace.folder() / "repository");
  repository.serve_from(server.url("none"));
  const std::string sha256(64, 'a');
  repository.add_with_artifacts(
      good_build(),
      Json::array().push(Json::object()
                             .set("sha256", sha256)
                             .set("size", 150'000'000)
                             .set("archive", "zip")
                             .set("sources", Json::array().push(repository.source_of(sha256)))));
  repository.write();
  RunOptions options;
  options.launcher = on_a_terminal();
  options.input = "n\n";
  const std::vector<std::string> arguments = {"reference", "--repository", location()};
  const Ended declined = workplace.info(arguments, options);
  EXPECT_EQ(declined.status, 8) << declined.said();
  EXPECT_THAT(declined.output, HasSubstr("reference 1.0.0 cpu: 143 MiB from 127.0.0.1. Download? [y/n] "));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"engine-info", "reference"}, {"engine-cache", "fetch", "reference"}}) {
    std::vector<std::string> words(command.begin() + 1, command.end());
    words.insert(words.end(), {"--repository", location(), "--yes"});
    const Ended agreed = workplace.run(command.front(), words, options);
    EXPECT_THAT(agreed.output, Not(HasSubstr("Download?"))) << agreed.said();
    EXPECT_EQ(agreed.status, 4) << agreed.said();
  }
}

TEST_F(Consent, ListsAndAcceptsLicensesInAdvance) {
  publish(first_text, first_text);
  const Ended before = licenses({"list"});
  ASSERT_EQ(before.status, 0) << before.said();
  ASSERT_EQ(before.document["licenses"].as_array().size(), 1u);
  const Json& listed = before.document["licenses"].as_array()[0];
  EXPECT_EQ(listed["license"].as_string(), "LicenseRef-vendor");
  EXPECT_EQ(listed["state"].as_string(), "not_accepted");
  EXPECT_EQ(listed["accept"].as_string(), "explicit");
  EXPECT_TRUE(listed["text"].is_null());
  EXPECT_EQ(listed["builds"].as_array()[0].as_string(), "reference-good");

  const Ended accepted = licenses({"accept", "LicenseRef-ven"});
  ASSERT_EQ(accepted.status, 0) << accepted.said();
  const Ended after = licenses({"list", "--offline"});
  const Json& now = after.document["licenses"].as_array()[0];
  EXPECT_EQ(now["state"].as_string(), "accepted") << after.said();
  EXPECT_EQ(now["consent"]["how"].as_string(), "command");
  EXPECT_EQ(read_text(now["text"].as_string()), first_text) << "the text is kept";
  EXPECT_EQ(open().status, 0);
  // An installed build keeps its license, also when no repository names it any more.
  std::filesystem::remove_all(workplace.folder() / "repository");
  const Ended alone = workplace.run("engine-cache", {"licenses", "list", "--json"});
  ASSERT_EQ(alone.document["licenses"].as_array().size(), 1u) << alone.said();
  EXPECT_EQ(alone.document["licenses"].as_array()[0]["installed"].as_array()[0].as_string(),
            "reference-good");
}

TEST_F(Consent, ShowsTheTextWhenAcceptedByCommand) {
  publish(first_text, first_text);
  const Ended run =
      workplace.run("engine-cache", {"licenses", "accept", "LicenseRef-v", "--repository", location()});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_THAT(run.output, HasSubstr(first_text));
  const Ended list = workplace.run("engine-cache", {"licenses", "list", "--repository", location()});
  EXPECT_THAT(list.output, HasSubstr("LicenseRef-vendor  accepted by "));
}

TEST_F(Consent, ReadsTheTextFromAFileWithoutANetwork) {
  publish(first_text, first_text);
  write_text(workplace.folder() / "other.txt", second_text);
  write_text(workplace.folder() / "right.txt", first_text);
  const Ended other = licenses(
      {"accept", "LicenseRef-vendor", "--offline", "--text", (workplace.folder() / "other.txt").native()});
  EXPECT_EQ(other.status, 8) << other.said();
  EXPECT_EQ(other.code(), "EH-P05");
  EXPECT_EQ(evidence(other.diagnosis(), "expected_sha256"), sha256_hex(first_text));
  EXPECT_EQ(open().status, 8);
  const Ended right = licenses(
      {"accept", "LicenseRef-vendor", "--offline", "--text", (workplace.folder() / "right.txt").native()});
  EXPECT_EQ(right.status, 0) << right.said();
  EXPECT_EQ(server.log(), "");
  EXPECT_EQ(open().status, 0);
}

// The text lies in the archive that it covers and has no address. It is shown before anything is installed.
TEST_F(Consent, ReadsTheTextFromTheArchiveThatTheManifestNames) {
  const std::string zip =
      zip_of({{"libengine_reference.so", reference_plugin()}, {"toy.dist-info/LICENSE", first_text}});
  const auto publish_zip = [&](const std::string& path, const std::string& pinned) {
    TestBuild build = good_build();
    build.license = "vendor";
    build.terms = Json::object()
                      .set("id", "LicenseRef-vendor")
                      .set("sha256", sha256_hex(pinned))
                      .set("accept", "explicit")
                      .set("text", Json::object().set("component", build.id + "-0").set("path", path));
    TestRepository repository(workplace.folder() / "repository");
    const std::string sha256 = repository.store(zip);
    repository.add_with_artifacts(
        build, Json::array().push(Json::object()
                                      .set("sha256", sha256)
                                      .set("size", zip.size())
                                      .set("archive", "zip")
                                      .set("sources", Json::array().push(repository.source_of(sha256)))));
    repository.write();
  };
  publish_zip("toy.dist-info/LICENSE", second_text);
  const Ended other = licenses({"accept", "LicenseRef-vendor"});
  EXPECT_EQ(other.status, 5) << other.said();
  EXPECT_EQ(other.code(), "EH-N08");

  publish_zip("toy.dist-info/LICENSE", first_text);
  RunOptions terminal;
  terminal.launcher = on_a_terminal();
  terminal.input = "n\n";
  const Ended declined = workplace.info({"reference", "--repository", location()}, terminal);
  EXPECT_EQ(declined.status, 8) << declined.said();
  EXPECT_THAT(declined.output, HasSubstr(std::string(trim(first_text))));
  EXPECT_FALSE(std::filesystem::exists(workplace.cache() / "refs" / "reference-good.json"));

  const Ended run =
      workplace.run("engine-cache", {"licenses", "accept", "LicenseRef-v", "--repository", location()});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_THAT(run.output, HasSubstr(first_text));
  EXPECT_EQ(last_consent(workplace)["text_sha256"].as_string(), sha256_hex(first_text));
  EXPECT_EQ(open().status, 0);
}

TEST_F(Consent, RefusesAnotherTextAtTheAddress) {
  publish(first_text, second_text);
  const Ended run = licenses({"accept", "LicenseRef-vendor"});
  EXPECT_EQ(run.status, 5) << run.said();
  EXPECT_EQ(run.code(), "EH-N08");
  EXPECT_EQ(open().status, 8);
}

TEST_F(Consent, NamesTheLicenseNearestToAnUnknownOne) {
  publish(first_text, first_text);
  const Ended run = licenses({"accept", "LicenseRef-vendr"});
  EXPECT_EQ(run.status, 2) << run.said();
  EXPECT_EQ(run.code(), "EH-P07");
  EXPECT_EQ(evidence(run.diagnosis(), "nearest"), "LicenseRef-vendor");
}

TEST_F(Consent, FetchesNothingWhenConsentCannotBeRecorded) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
  publish(first_text, first_text);
  std::filesystem::path state;
  const Ended ended = open();
  for (const Json& setting : ended.document["config"].as_array())
    if (setting["key"].as_string() == "state") state = setting["value"].as_string();
  ASSERT_FALSE(state.empty());
  std::filesystem::create_directories(state / "consents");
  RunOptions options;
  options.launcher = with_tmpfs(state / "consents", "ro");
  const Ended run = open({"--accept-license", "LicenseRef-vendor"}, options);
  EXPECT_EQ(run.status, 7) << run.said();
  EXPECT_FALSE(std::filesystem::exists(workplace.cache() / "refs" / "reference-good.json"));
}

// The bundle brings the text, which has no other source without a network.
TEST_F(Consent, AcceptsTheTextThatABundleBrought) {
  publish(first_text, first_text);
  ASSERT_EQ(open({"--accept-license", "LicenseRef-vendor"}).status, 0);
  ASSERT_EQ(licenses({"accept", "LicenseRef-vendor"}).status, 0);
  const std::string bundle = (workplace.folder() / "lab.bundle").native();
  const Ended exported = workplace.run(
      "engine-cache", {"export", bundle, "reference-good", "--redistribute", "LicenseRef-vendor", "--json"});
  ASSERT_EQ(exported.status, 0) << exported.said();
  const Workplace lab;
  const std::vector<std::string> import = {"import", bundle, "--offline", "--json"};
  const Ended refused = lab.run("engine-cache", import);
  EXPECT_EQ(refused.code(), "EH-P03") << refused.said();
  const std::string text = (lab.cache() / "blobs/sha256" / sha256_hex(first_text)).native();
  EXPECT_THAT(refused.diagnosis()["remedy"].dump(), HasSubstr("read " + text + " and accept it"));
  EXPECT_EQ(read_text(text), first_text);
  const auto accept = [&](const std::string& file) {
    return lab.run("engine-cache",
                   {"licenses", "accept", "LicenseRef-vendor", "--text", file, "--offline", "--json"});
  };
  const std::string other = (lab.folder() / "other.txt").native();
  write_text(other, second_text);
  EXPECT_EQ(accept(other).code(), "EH-P07") << "no bundle brought this one";
  const Ended accepted = accept(text);
  EXPECT_EQ(accepted.status, 0) << accepted.said();
  EXPECT_EQ(lab.run("engine-cache", import).status, 0);
}

}  // namespace
}  // namespace enginehost::test
