// From a request to a computed answer, and where it may fail, on every system: the same members in the
// documents, the same exit statuses.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "base/paths.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/shapes.hpp"
#include "tests/end-to-end/system.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class EndToEnd : public testing::Test {
 protected:
  explicit EndToEnd(std::string_view below = {})
      : workplace(below), repository(workplace.folder() / "repository") {
    repository.add(good_build());
    repository.write();
  }
  std::string location() const { return path_text(repository.root()); }
  Ended open(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"reference", "--repository", location(), "--json"});
    return workplace.info(std::move(more));
  }
  Ended cache(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--repository", location(), "--json"});
    return workplace.run("engine-cache", std::move(arguments));
  }
  void rewrite(const std::function<void(TestRepository&)>& fill) const {
    fs::remove_all(repository.root());
    TestRepository other(repository.root());
    fill(other);
    other.write();
  }

  Workplace workplace;
  TestRepository repository;
};

TEST_F(EndToEnd, OpensWithTheSameMembersOnEverySystem) {
  const Ended run = open();
  ASSERT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["state"].as_string(), "opened");
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good");
  EXPECT_FALSE(run.outcome()["fallback"].as_bool());
  EXPECT_TRUE(run.outcome()["proven"].as_bool());
  expect_facts(run.document["platform"]);
  EXPECT_EQ(run.document["platform"]["os"]["value"].as_string(), system_name);
  EXPECT_EQ(members_of(run.document), read_text(source_path("/tests/end-to-end/golden/opened_members.txt")));
  // Nothing is fetched or probed for a proven build.
  const Ended again = open();
  EXPECT_EQ(again.status, 0) << again.said();
  EXPECT_EQ(again.outcome()["download"]["bytes"].as_integer(), 0);
}

class EndToEndAnyScript : public EndToEnd {
 protected:
  EndToEndAnyScript() : EndToEnd("J\u00fcrgen \u03a9\u03bc\u03ad\u03b3\u03b1 \u7528\u6237") {}
};

TEST_F(EndToEndAnyScript, FindsEverythingInFoldersOfAnyScript) {
  RunOptions own_places;
  own_places.environment = {"ENGINEHOST_CACHE"};
  const Ended run = workplace.info({"reference", "--repository", location(), "--json"}, own_places);
  ASSERT_EQ(run.status, 0) << run.said();
  const std::string library = run.outcome()["library"].as_string();
  EXPECT_THAT(library, HasSubstr("J\u00fcrgen \u03a9\u03bc\u03ad\u03b3\u03b1 \u7528\u6237"));
  EXPECT_EQ(read_text(path_of(library)), reference_plugin());
  const Ended list = workplace.run("engine-cache", {"list", "--json"}, own_places);
  ASSERT_EQ(list.document["builds"].as_array().size(), 1u) << list.said();
  const Ended text = workplace.run("engine-cache", {"path"}, own_places);
  EXPECT_THAT(text.output, HasSubstr("\u7528\u6237"));
}

TEST_F(EndToEnd, RunsAModelFromFileToFile) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  header.resize(64 * 2 - 10 - 1, ' ');
  header += '\n';
  std::string npy = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  const float values[] = {1, 2, -1, 4};
  npy.append(reinterpret_cast<const char*>(values), sizeof values);
  write_text(workplace.folder() / "x.npy", npy);
  const Ended run = workplace.run(
      "engine-run", {"reference", source_path("/examples/two-layers.model"), "--input",
                     "x=" + path_text(workplace.folder() / "x.npy"), "--output",
                     path_text(workplace.folder() / "answer"), "--repository", location(), "--json"});
  ASSERT_EQ(run.status, 0) << run.said();
  const std::string answer = read_text(workplace.folder() / "answer" / "y.npy");
  const float wanted[] = {2, 4, 0, 1, 8, 2};
  ASSERT_GE(answer.size(), sizeof wanted);
  EXPECT_EQ(answer.substr(answer.size() - sizeof wanted),
            std::string(reinterpret_cast<const char*>(wanted), sizeof wanted));
}

// The file is the user's own, so it is an argument that cannot be read, not a source that gave wrong bytes.
TEST_F(EndToEnd, AFileThatIsNoModelEndsWith2) {
  const fs::path file = workplace.folder() / "not-a.model";
  write_text(file, "these are not the bytes of a model\n");
  const Ended run =
      workplace.run("engine-run", {"reference", path_text(file), "--repository", location(), "--json"});
  EXPECT_EQ(run.code(), "EH-E01") << run.said();
  EXPECT_EQ(run.status, 2) << run.said();
}

TEST_F(EndToEnd, FillsListsVerifiesAndEmptiesTheCache) {
  const Ended fetched = cache({"fetch", "reference"});
  ASSERT_EQ(fetched.status, 0) << fetched.said();
  const Ended list = workplace.run("engine-cache", {"list", "--json"});
  ASSERT_EQ(list.document["builds"].as_array().size(), 1u) << list.said();
  EXPECT_EQ(list.document["builds"].as_array()[0]["build"].as_string(), "reference-good");
  EXPECT_EQ(cache({"verify", "--deep"}).status, 0);
  // The seeded build opens although the repository is gone.
  fs::remove_all(repository.root());
  const Ended offline = workplace.info({"reference", "--offline", "--json"});
  EXPECT_EQ(offline.status, 0) << offline.said();
  const Ended removed = workplace.run("engine-cache", {"remove", "reference-good", "--json"});
  EXPECT_EQ(removed.status, 0) << removed.said();
  EXPECT_TRUE(workplace.run("engine-cache", {"list", "--json"}).document["builds"].as_array().empty());
  const Ended unknown = workplace.run("engine-cache", {"remove", "no-such-build", "--json"});
  EXPECT_EQ(unknown.status, 2) << unknown.said();
  EXPECT_EQ(unknown.code(), "EH-S23");
}

TEST_F(EndToEnd, ReplaysADecisionFromThisMachinesReport) {
  const Ended report = workplace.info({"--platform-json"});
  ASSERT_EQ(report.status, 0) << report.said();
  write_text(workplace.folder() / "machine.json", report.output);
  const Ended plan = open({"--platform", path_text(workplace.folder() / "machine.json")});
  EXPECT_EQ(plan.status, 0) << plan.said();
  EXPECT_EQ(plan.outcome()["state"].as_string(), "planned");
  EXPECT_EQ(plan.outcome()["build"].as_string(), "reference-good");
}

TEST_F(EndToEnd, NothingThatFitsEndsWith3) {
  const Ended flavor = open({"--require", "cu118"});
  EXPECT_EQ(flavor.status, 3) << flavor.said();
  EXPECT_EQ(flavor.code(), "EH-S28") << flavor.said();
  const Ended engine = workplace.info({"refrence", "--repository", location(), "--json"});
  EXPECT_EQ(engine.status, 3) << engine.said();
  EXPECT_EQ(engine.code(), "EH-S02");
  rewrite([](TestRepository& other) {
    TestBuild build = good_build();
    build.arch = "riscv64";
    other.add(build);
  });
  EXPECT_EQ(open().status, 3);
}

TEST_F(EndToEnd, AFailedDownloadEndsWith4) {
  fs::remove_all(repository.root() / "files");
  const Ended run = open();
  EXPECT_EQ(run.status, 4) << run.said();
  EXPECT_THAT(run.code(), HasSubstr("EH-N")) << run.said();
}

TEST_F(EndToEnd, WrongBytesEndWith5) {
  for (const auto& file : fs::directory_iterator(repository.root() / "files"))
    write_text(file.path(), "<html>please log in</html>");
  const Ended run = open();
  EXPECT_EQ(run.status, 5) << run.said();
}

TEST_F(EndToEnd, AMissingLibraryEndsWith6AndIsNamed) {
  rewrite([](TestRepository& other) {
    TestBuild build;
    build.id = "reference-needing";
    build.files = {{build.plugin, read_text(ENGINEHOST_NEEDS_MISSING)}};
    other.add(build);
  });
  const Ended run = open();
  EXPECT_EQ(run.status, 6) << run.said();
  EXPECT_EQ(run.code(), missing_library_code) << run.said();
  EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr(ENGINEHOST_MISSING_MATH));
  const Ended inspected = workplace.info({"--inspect", ENGINEHOST_NEEDS_MISSING, "--json"});
  EXPECT_EQ(inspected.status, 6) << inspected.said();
  ASSERT_EQ(inspected.document["missing"].as_array().size(), 1u) << inspected.said();
  EXPECT_EQ(inspected.document["missing"].as_array()[0]["name"].as_string(), ENGINEHOST_MISSING_MATH);
}

TEST_F(EndToEnd, AFailingBuildIsFollowedByTheNext) {
  rewrite([](TestRepository& other) {
    TestBuild build;
    build.id = "reference-needing";
    build.flavor = "testing";
    build.priority = 90;
    build.files = {{build.plugin, read_text(ENGINEHOST_NEEDS_MISSING)}};
    other.add(build);
    other.add(good_build());
  });
  const Ended run = open();
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_TRUE(run.outcome()["fallback"].as_bool());
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good");
  EXPECT_EQ(run.candidate("reference-needing")["verdict"].as_string(), "failed");
  EXPECT_EQ(run.candidate("reference-needing")["diagnosis"]["code"].as_string(), missing_library_code);
}

TEST_F(EndToEnd, ACacheThatIsAFileEndsWith7) {
  write_text(workplace.cache(), "a file where the folder should be");
  const Ended run = open();
  EXPECT_EQ(run.status, 7) << run.said();
}

TEST_F(EndToEnd, AnUnacceptedLicenseEndsWith8) {
  rewrite([](TestRepository& other) {
    TestBuild build = good_build();
    build.license = "vendor";
    other.add(build);
  });
  const Ended refused = open();
  EXPECT_EQ(refused.status, 8) << refused.said();
  EXPECT_EQ(refused.code(), "EH-P03");
  const Ended accepted = open({"--accept-license", "LicenseRef-vendor"});
  EXPECT_EQ(accepted.status, 0) << accepted.said();
}

struct Damage {
  const char* name;
  std::function<void(std::string&)> apply;  // nothing: the file is removed
  const char* code;
};

class EndToEndDamage : public EndToEnd, public testing::WithParamInterface<Damage> {
 protected:
  // As another program would.
  void damage(const fs::path& file) const {
    std::string bytes = read_text(file);
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
    if (!GetParam().apply) {
      fs::remove(file);
      return;
    }
    GetParam().apply(bytes);
    write_text(file, bytes);
  }
};

TEST_P(EndToEndDamage, IsReportedAndRepairedByOpenAndVerify) {
  const Ended first = open();
  ASSERT_EQ(first.status, 0) << first.said();
  const fs::path library = path_of(first.outcome()["library"].as_string());
  damage(library);
  const Ended reopened = open();
  EXPECT_EQ(reopened.status, 0) << reopened.said();
  EXPECT_THAT(reopened.document["warnings"].dump(), HasSubstr(plugin_name));
  EXPECT_THAT(reopened.document["warnings"].dump(), HasSubstr(GetParam().code));
  EXPECT_EQ(read_text(library), reference_plugin());

  damage(library);
  const Ended found = cache({"verify", "--deep"});
  EXPECT_TRUE(found.status == 5 || found.status == 6) << found.said();
  EXPECT_THAT(found.output, HasSubstr(GetParam().code));
  EXPECT_THAT(found.output, HasSubstr(plugin_name));
  const Ended repaired = cache({"verify", "--deep", "--repair"});
  EXPECT_EQ(repaired.status, 0) << repaired.said();
  EXPECT_EQ(read_text(library), reference_plugin());
  EXPECT_EQ(open().status, 0);
}

INSTANTIATE_TEST_SUITE_P(
    OfTheInstalledPlugin, EndToEndDamage,
    testing::Values(Damage{"deleted", nullptr, "EH-F01"},
                    Damage{"emptied", [](std::string& bytes) { bytes.clear(); }, "EH-F02"},
                    Damage{"flipped", [](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; }, "EH-F08"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(EndToEnd, ReportsTheMachineWithABrokenConfiguration) {
  write_text(config_of_user(workplace.folder()), "{ this is not JSON");
  const Ended run = workplace.info({"--json"});
  EXPECT_EQ(run.status, 2) << run.said();
  expect_facts(run.document["platform"]);
  EXPECT_EQ(workplace.info({}).status, 2);
  EXPECT_EQ(workplace.info({"--verbose"}).status, 2);
  EXPECT_THAT(run.output, HasSubstr("config.json"));
  // Nobody asked for the offline mode that follows from a broken configuration.
  for (const Json& setting : run.document["config"].as_array())
    if (setting["key"].as_string() == "offline") {
      EXPECT_EQ(setting["source"].as_string(), "the configuration was left out");
    }
  EXPECT_THAT(run.output, Not(HasSubstr("(--offline)")));
  const Ended opened = open();
  EXPECT_EQ(opened.status, 2) << opened.said();
  EXPECT_THAT(opened.diagnosis().dump(), HasSubstr("config.json"));
  EXPECT_THAT(opened.diagnosis()["remedy"].dump(), HasSubstr("docs/settings.md"));
  EXPECT_THAT(opened.diagnosis()["remedy"].dump(), Not(HasSubstr("docs/manifests.md")));
}

TEST_F(EndToEnd, VersionAndHelpEndWith0AndLinesEndAlike) {
  for (const char* command : {"engine-info", "engine-run", "engine-cache"}) {
    const Ended version = workplace.run(command, {"--version"});
    EXPECT_EQ(version.status, 0);
    EXPECT_THAT(version.output, HasSubstr("enginehost"));
    EXPECT_EQ(version.output.find('\r'), std::string::npos);
    EXPECT_EQ(workplace.run(command, {"--help"}).status, 0);
  }
}

}  // namespace
}  // namespace enginehost::test
