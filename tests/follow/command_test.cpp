// engine-manifest follow as a program: a publisher's repository, proofs, runs that are killed, and a full
// disk.
#include <gmock/gmock.h>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "tests/follow/toy_index.hpp"

namespace enginehost::follow {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

struct Ran {
  int status = -1;
  std::string said;
  Json document;
};

class FollowCommand : public testing::Test {
 protected:
  FollowCommand() {
    publish("1.0");
    publish("1.1");
    write_plan();
    EXPECT_EQ(manifest({"init", repository.string(), "--name", "Toy"}).status, 0);
  }

  void publish(const std::string& version) {
    index.publish("reference-engine", version,
                  {.uploaded = 1'580'000'000, .plugin = test::build_path("/engines/libengine_reference.so")});
  }
  void write_plan(const std::string& os = "linux") {
    test::write_text(
        plan, R"({"format": 1, "engine": "reference", "manifest": "../repository/engines/reference.json",
 "facts": "../repository/facts",
 "licenses": {"toy": {"id": "MIT", "accept": "implicit", "redistribute": "yes"}},
 "layouts": {"linux": {"project": "reference-engine",
   "wheel": "reference_engine-{version}-py3-none-manylinux_*_x86_64.whl", "component": "reference-{version}",
   "license": "toy", "select": ["reference_engine/*"], "libraries": ["libengine_reference.so"]}},
 "tracks": [{"name": "cpu", "project": "reference-engine", "versions": ">=1.0", "newest": 2, "rows": [
  {"os": ")" + os +
                  R"(", "arch": "x86_64", "layout": "linux",
   "build": {"id": "reference-{version}-cpu", "flavor": "cpu", "search": ["reference_engine"],
    "capabilities": ["device.cpu"],
    "plugin": {"component": "reference-{version}", "path": "reference_engine/libengine_reference.so"}}}]}]})");
  }
  Ran run(std::vector<std::string> argv) const {
    ChildRequest request;
    request.argv = std::move(argv);
    request.environment = {"HOME=" + (folder / "home").string(), "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
                           "ENGINEHOST_CACHE=" + (folder / "cache").string(), "PIP_CONFIG_FILE=/dev/null"};
    request.output_bytes = 4u << 20;
    const auto outcome = run_child(request);
    EXPECT_TRUE(outcome);
    if (!outcome) return {};
    Ran ran{outcome->exit_code, outcome->output + outcome->error, {}};
    if (auto document = parse_json(outcome->output, "output")) ran.document = std::move(*document);
    return ran;
  }
  Ran manifest(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), test::build_path("/bin/engine-manifest"));
    return run(std::move(arguments));
  }
  std::vector<std::string> follow_argv() const {
    return {test::build_path("/bin/engine-manifest"),
            "follow",
            plan.string(),
            "--json",
            "--package-index",
            index.url()};
  }
  Ran follow(const std::vector<std::string>& further = {}) const {
    std::vector<std::string> argv = follow_argv();
    argv.insert(argv.end(), further.begin(), further.end());
    return run(argv);
  }
  // "BUILD STATE" of each row.
  static std::vector<std::string> rows(const Ran& ran) {
    std::vector<std::string> rows;
    for (const Json& row : ran.document["rows"].as_array())
      rows.push_back(row["version"].as_string() + " " + row["state"].as_string());
    return rows;
  }
  std::string written() const {
    return fs::exists(manifest_file) ? test::read_text(manifest_file) : std::string();
  }

  test::TemporaryFolder folder;
  const fs::path repository = folder / "repository", plan = folder / "plans/reference.json",
                 manifest_file = repository / "engines/reference.json";
  ToyIndex index;
};

TEST_F(FollowCommand, WritesARepositoryThatPassesLintAndOpens) {
  const Ran first = follow();
  ASSERT_EQ(first.status, 0) << first.said;
  EXPECT_THAT(rows(first), ElementsAre("1.0 new", "1.1 new"));
  EXPECT_FALSE(first.document["rows"].as_array()[0]["proven"].as_bool(true));
  const Ran lint = manifest({"lint", repository.string()});
  EXPECT_EQ(lint.status, 0) << lint.said;
  EXPECT_THAT(lint.said, HasSubstr("0 errors, 0 warnings"));
  const fs::path served = folder / "served";
  ASSERT_EQ(manifest({"publish", repository.string(), served.string()}).status, 0);

  const Ran proven = follow({"--prove", served.string()});
  ASSERT_EQ(proven.status, 0) << proven.said;
  for (const Json& row : proven.document["rows"].as_array())
    EXPECT_THAT(row["proof"].as_string(), HasSubstr("opened, self-test, ")) << proven.said;
  EXPECT_EQ(follow().document["rows"], proven.document["rows"]);
  for (const fs::directory_entry& entry : fs::directory_iterator(repository / "facts/follow"))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("proof-")));
}

TEST_F(FollowCommand, ABuildNamesTheComponentOfItsPluginOnce) {
  follow();
  const auto document = parse_json(written(), "manifest");
  ASSERT_TRUE(document);
  for (const Json& build : (*document)["builds"].as_array()) {
    EXPECT_NE(build["plugin"]["component"].as_string(), "");
    EXPECT_TRUE(build["components"].as_array().empty()) << build.dump();
  }
}

TEST_F(FollowCommand, CheckEndsWithOneIfSomethingIsNew) {
  EXPECT_EQ(follow({"--check"}).status, 1);
  EXPECT_EQ(written(), "");
  follow();
  EXPECT_EQ(follow({"--check"}).status, 0);
  publish("1.2");
  const Ran checked = follow({"--check"});
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(rows(checked), ElementsAre("1.1 unchanged", "1.2 to derive"));
}

TEST_F(FollowCommand, AFailedReleaseEndsWithItsStatus) {
  follow();
  index.files["reference-engine"].clear();
  index.write_page("reference-engine");
  const Ran second = follow();
  EXPECT_EQ(second.status, 4) << second.said;
  EXPECT_EQ(second.document["problems"].as_array()[0]["code"].as_string(), "EH-N13");
}

TEST_F(FollowCommand, AVersionThatNoTrackKeepsIsWrongUsage) {
  const Ran ran = follow({"--only", "7.0"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.said, HasSubstr("--only 7.0"));
}

TEST_F(FollowCommand, AMistakeInThePlanNamesItsLine) {
  write_plan("linux\", \"ach\": \"");
  const Ran ran = follow();
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.document["diagnosis"]["code"].as_string(), "EH-M18");
  EXPECT_THAT(ran.said, HasSubstr("line 8"));
  EXPECT_THAT(ran.said, HasSubstr("arch"));
}

// Each call that changes a name is the last one of a run. Nothing half is left, and the next run ends as an
// undisturbed one.
TEST_F(FollowCommand, AKilledRunGoesOn) {
  if (run({"strace", "-o", "/dev/null", "true"}).status != 0) GTEST_SKIP() << "strace cannot trace here";
  ASSERT_EQ(follow().status, 0);
  const std::string before = written();
  publish("1.2");
  fs::copy(repository, folder / "sound", fs::copy_options::recursive);
  ASSERT_EQ(follow().status, 0);
  const std::string after = written();
  ASSERT_NE(before, after);
  int killed = 0;
  for (const std::string how : {"signal=SIGKILL", "error=ENOSPC"})
    for (int at = 1; at < 100; at += 16) {
      fs::remove_all(repository);
      fs::copy(folder / "sound", repository, fs::copy_options::recursive);
      std::vector<std::string> argv = {
          "strace",
          "-f",
          "-qq",
          "-o",
          "/dev/null",
          "-e",
          "inject=rename,renameat,renameat2,unlink,unlinkat:" + how + ":when=" + std::to_string(at)};
      const std::vector<std::string> command = follow_argv();
      argv.insert(argv.end(), command.begin(), command.end());
      if (run(argv).status == 0 && how.starts_with("signal")) break;
      ++killed;
      EXPECT_THAT(written(), testing::AnyOf(before, after)) << how << at;
      const Ran again = follow();
      EXPECT_EQ(again.status, 0) << again.said;
      EXPECT_EQ(written(), after) << how << at;
    }
  EXPECT_GT(killed, 3);
}

}  // namespace
}  // namespace enginehost::follow
