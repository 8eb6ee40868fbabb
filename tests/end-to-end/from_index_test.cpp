// --from-index of an installation with a plan of its own, over a small package index.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/follow/toy_index.hpp"
#include "tests/support/this_architecture.hpp"
#include "tools/publish/workspace.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using follow::Published;
using follow::ToyIndex;
using testing::HasSubstr;

constexpr std::int64_t years_ago = 1'580'000'000;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class FromIndex : public testing::Test {
 protected:
  void SetUp() override {
    umask(022);
    for (const char* program : {"engine-info", "engine-run", "engine-cache"})
      take(std::string("bin/") + program, std::string("/bin/") + program);
    take("libexec/enginehost/enginehost-probe", "/libexec/enginehost/enginehost-probe");
    user_.configure(Json::object().set("package_index", index_.url()));
    write_own_repository(read_text(build_path("/engines/libengine_reference.so")));
    write_plan();
    for (const char* version : {"1.0", "1.1", "2.0"}) publish(version, {.uploaded = years_ago});
  }

  void take(const std::string& place, const std::string& built) {
    fs::create_directories((prefix_ / place).parent_path());
    fs::copy_file(build_path(built), prefix_ / place);
  }
  void publish(const std::string& version, const Published& how) {
    index_.publish("reference-engine", version, how,
                   std::string("py3-none-manylinux_2_17_") + test::architecture);
  }
  // Lists version 1.0 and has the plugin that opens every version.
  void write_own_repository(const std::string& plugin) {
    write_text(own_ / "files/plugin", plugin);
    const Json component =
        Json::object()
            .set("version", "1")
            .set("license", "own")
            .set("artifacts", Json::array().push(Json::object()
                                                     .set("sha256", sha256_hex(plugin))
                                                     .set("size", plugin.size())
                                                     .set("archive", "none")
                                                     .set("path", "libengine_reference.so")
                                                     .set("sources", Json::array().push(Json::object().set(
                                                                         "file", "files/plugin")))));
    auto workspace = publish::Workspace::open(own_);
    if (!workspace) workspace = publish::Workspace::create(own_, "own");
    ASSERT_TRUE(workspace);
    ASSERT_TRUE(workspace->write_json(
        workspace->engine_file("reference"),
        Json::object()
            .set("format", 1)
            .set("engine", "reference")
            .set("serial", ++serial_)
            .set("licenses", Json::object().set("own", Json::object().set("id", "Apache-2.0")))
            .set("components", Json::object().set("reference-plugin", component))
            .set("builds",
                 Json::array().push(Json::object()
                                        .set("id", "reference-1.0-cpu")
                                        .set("version", "1.0")
                                        .set("flavor", "cpu")
                                        .set("os", "linux")
                                        .set("arch", test::architecture)
                                        .set("requires", Json::object())
                                        .set("plugin",
                                             Json::object()
                                                 .set("component", "reference-plugin")
                                                 .set("path", "libengine_reference.so"))
                                        .set("components", Json::array())
                                        .set("capabilities", Json::array().push("device.cpu"))))));
    ASSERT_TRUE(workspace->prepare(now()));
  }
  void write_plan(const std::string& plugin = "reference-plugin") {
    write_text(prefix_ / "share/enginehost/plans/reference.json",
               R"({"format": 1, "engine": "reference", "manifest": "unused.json", "facts": "unused",
 "licenses": {"toy": {"id": "MIT", "accept": "implicit", "redistribute": "yes"}},
 "layouts": {"linux": {"project": "reference-engine",
   "wheel": "reference_engine-{version}-py3-none-manylinux_*.whl", "component": "reference-{version}",
   "license": "toy", "select": ["reference_engine/*"], "libraries": ["libreference_engine.so"]}},
 "tracks": [{"name": "cpu", "project": "reference-engine", "versions": ">=1.0,<3", "newest": 2, "rows": [
  {"os": "linux", "arch": ")" +
                   std::string(test::architecture) + R"(", "layout": "linux",
   "build": {"id": "reference-{version}-cpu", "flavor": "cpu", "search": ["reference_engine"],
    "capabilities": ["device.cpu"],
    "plugin": {"component": ")" +
                   plugin + R"(", "path": "libengine_reference.so"}}}]}]})");
  }

  Ended run(const std::string& program, std::vector<std::string> arguments, const RunOptions& options = {}) {
    ChildRequest request = user_.request(program, std::move(arguments), options);
    request.argv[options.launcher.size()] = (prefix_ / "bin" / program).native();
    const auto child = run_child(request);
    Ended ended;
    if (!child) return ended;
    ended.status = child->signal != 0 ? 128 + child->signal : child->exit_code;
    ended.output = child->output;
    ended.error = child->error;
    if (auto document = parse_json(ended.output, "stdout")) ended.document = std::move(*document);
    return ended;
  }
  Ended from_index(const std::string& engine, const RunOptions& options = {},
                   std::vector<std::string> further = {}) {
    further.insert(further.begin(), {engine, "--from-index", "--json"});
    return run("engine-info", further, options);
  }
  Ended plain(const std::string& engine, const RunOptions& options = {}) {
    return run("engine-info", {engine, "--json"}, options);
  }
  RunOptions under(const std::string& policy) const {
    RunOptions options;
    options.launcher = with_system_file(user_, *parse_json("{\"policy\": " + policy + "}", "policy"));
    return options;
  }
  static RunOptions with(const std::string& variable) {
    RunOptions options;
    options.environment = {variable};
    return options;
  }
  static std::string version_of(const Ended& ended) {
    const std::string& build = ended.outcome()["build"].as_string();
    return build.empty() ? "" : build.substr(10, build.rfind('-') - 10);
  }
  int wheels_fetched() const { return index_.server.requests("GET /files/"); }

  Workplace user_;
  const fs::path prefix_ = user_.folder() / "prefix", own_ = prefix_ / "share/enginehost/repository";
  ToyIndex index_;
  int serial_ = 0;
};

TEST_F(FromIndex, OpensAReleaseThatNoRepositoryListsForThisRequestAlone) {
  const Ended derived = from_index("reference@2.0");
  ASSERT_EQ(derived.status, 0) << derived.said();
  EXPECT_EQ(version_of(derived), "2.0");
  EXPECT_TRUE(derived.outcome()["proven"].as_bool());
  EXPECT_EQ(derived.outcome()["origin"]["derived"].as_string(),
            "derived here from the package index; unverified");
  const Ended shown = run("engine-info", {"reference@2.0", "--from-index"});
  EXPECT_THAT(shown.output, HasSubstr("derived here from the package index; unverified")) << shown.said();

  const Ended refused = plain("reference@2.0");
  EXPECT_EQ(refused.code(), "EH-S01") << "although it is installed: " << refused.said();
  EXPECT_EQ(version_of(plain("reference")), "1.0");
  EXPECT_EQ(evidence(refused.diagnosis(), "index_version"), "reference 2.0");
  EXPECT_EQ(evidence(refused.diagnosis(), "from_index"), "engine-info reference@2.0 --from-index");
  EXPECT_TRUE(plain("reference").outcome()["origin"]["derived"].is_null());
  const Ended listed = run("engine-cache", {"list", "--verbose"});
  EXPECT_THAT(listed.output, HasSubstr("derived here from the package index")) << listed.said();
}

TEST_F(FromIndex, FetchesTheArchiveOnce) {
  const Ended derived = from_index("reference@2.0");
  EXPECT_EQ(static_cast<std::uintmax_t>(derived.outcome()["download"]["bytes"].as_integer()),
            fs::file_size(own_ / "files/plugin"))
      << "the open needs the plugin only: " << derived.said();
  EXPECT_GT(wheels_fetched(), 0);
  EXPECT_EQ(from_index("reference@2.0").outcome()["download"]["bytes"].as_integer(), 0);
}

TEST_F(FromIndex, TakesTheNewestThatTheRequestAccepts) {
  EXPECT_EQ(version_of(from_index("reference")), "2.0");
  EXPECT_EQ(version_of(from_index("reference>=1,<2")), "1.1");
  publish("2.1", {.uploaded = years_ago});
  EXPECT_EQ(version_of(from_index("reference")), "2.1") << "the index is asked each time";
}

TEST_F(FromIndex, DerivesNothingThatARepositoryLists) {
  const Ended listed = from_index("reference@1.0");
  EXPECT_EQ(version_of(listed), "1.0") << listed.said();
  EXPECT_TRUE(listed.outcome()["origin"]["derived"].is_null());
  EXPECT_THAT(listed.document["warnings"].dump(), HasSubstr("is listed by"));
  EXPECT_EQ(wheels_fetched(), 0);
}

TEST_F(FromIndex, ReportsWhyAReleaseIsNotUsed) {
  publish("2.2", {.uploaded = now() - follow::a_day});
  publish("2.3", {.uploaded = years_ago, .yanked = "computes wrong sums", .is_yanked = true});
  publish("4.0", {.uploaded = years_ago});
  const Ended young = from_index("reference@2.2");
  EXPECT_EQ(young.code(), "EH-S37") << young.said();
  EXPECT_EQ(evidence(young.diagnosis(), "days"), "3");
  EXPECT_THAT(young.diagnosis()["cause"].as_string(), HasSubstr("is held back until"));
  const Ended yanked = from_index("reference@2.3");
  EXPECT_THAT(yanked.diagnosis()["cause"].as_string(), HasSubstr("computes wrong sums")) << yanked.said();
  const Ended unserved = from_index("reference@4.0");
  EXPECT_THAT(unserved.diagnosis()["cause"].as_string(), HasSubstr("serve >=1.0,<3")) << unserved.said();
  const Ended unknown = from_index("reference@1.7");
  EXPECT_THAT(unknown.diagnosis()["cause"].as_string(), HasSubstr("the nearest are 1.1, 2.0"))
      << unknown.said();
  const Ended newest = from_index("reference");
  EXPECT_EQ(version_of(newest), "2.0") << newest.said();
  EXPECT_THAT(newest.document["warnings"].dump(), HasSubstr("2.3 is not used yet"));
  EXPECT_EQ(from_index("mxnet").code(), "EH-S37");
  EXPECT_EQ(evidence(from_index("mxnet").diagnosis(), "planned"), "reference");
}

TEST_F(FromIndex, NamesAPluginThatWasNotCompiled) {
  write_plan("reference-plugin-{minor}");
  const Ended refused = from_index("reference@2.0");
  EXPECT_EQ(refused.code(), "EH-M19") << refused.said();
  EXPECT_EQ(evidence(refused.diagnosis(), "component"), "reference-plugin-2.0");
  EXPECT_EQ(wheels_fetched(), 0);
}

TEST_F(FromIndex, RefusesAFileThatHadOtherBytesBefore) {
  ASSERT_EQ(from_index("reference@2.0").status, 0);
  publish("2.0", {.uploaded = years_ago, .license = "another text"});
  const Ended changed = from_index("reference@2.0");
  EXPECT_EQ(changed.code(), "EH-M20") << changed.said();
}

TEST_F(FromIndex, OfflineUsesWhatWasDerivedBefore) {
  const RunOptions offline = with("ENGINEHOST_OFFLINE=1");
  const Ended nothing = from_index("reference@2.0", offline);
  EXPECT_EQ(nothing.code(), "EH-S37") << nothing.said();
  EXPECT_THAT(nothing.diagnosis()["cause"].as_string(), HasSubstr("offline"));
  EXPECT_EQ(index_.server.requests("GET /"), 0);
  ASSERT_EQ(from_index("reference@2.0").status, 0);
  const Ended opened = from_index("reference@2.0", offline);
  EXPECT_EQ(version_of(opened), "2.0") << opened.said();
  EXPECT_EQ(plain("reference@2.0", offline).code(), "EH-S01");
  EXPECT_THAT(from_index("reference@1.1", offline).diagnosis()["cause"].as_string(),
              HasSubstr("only 2.0 was derived here before"));
  const Ended unreachable = from_index("reference@2.0", {}, {"--package-index", "http://127.0.0.1:9/simple"});
  EXPECT_EQ(version_of(unreachable), "2.0") << unreachable.said();
  EXPECT_THAT(unreachable.document["warnings"].dump(), HasSubstr("as it was derived here before"));
  index_.withdraw("reference-engine", "2.0");
  EXPECT_EQ(from_index("reference@2.0").code(), "EH-S37") << "it may have been withdrawn";
  index_.files["reference-engine"].clear();
  index_.write_page("reference-engine");
  EXPECT_EQ(from_index("reference@2.0").code(), "EH-N13");
}

TEST_F(FromIndex, FollowsThePolicy) {
  if (!can_mount()) GTEST_SKIP() << "only root may show a system file";
  const auto rule = [&](const std::string& policy) {
    const Ended refused = from_index("reference@2.0", under(policy));
    EXPECT_EQ(refused.status, 8) << policy << refused.said();
    return evidence(refused.diagnosis(), "policy");
  };
  EXPECT_EQ(rule(R"({"from_index": false})"), "policy.from_index = false");
  EXPECT_EQ(rule(R"({"unsigned_repositories": false})"), "policy.unsigned_repositories = false");
  EXPECT_EQ(rule(R"({"require_signatures": true})"), "policy.require_signatures = true");
  EXPECT_EQ(rule(R"({"locked": ["repositories"], "repositories_default": true})"),
            "policy.locked = repositories");
  EXPECT_THAT(rule(R"({"repositories": ["/opt/engines"], "repositories_default": true})"),
              HasSubstr("/opt/engines"));
  EXPECT_EQ(rule(R"({"forbid_licenses": ["MIT"]})"), "policy.forbid_licenses = MIT");
  EXPECT_EQ(from_index("reference@2.0", under(R"({"versions": {"reference": "<2"}})")).code(), "EH-S34");
  EXPECT_EQ(wheels_fetched(), 0);
  EXPECT_THAT(evidence(plain("reference@2.0", under(R"({"from_index": false})")).diagnosis(), "from_index"),
              "");
  // The rule is younger than the build.
  ASSERT_EQ(from_index("reference@2.0").status, 0);
  EXPECT_EQ(rule(R"({"from_index": false})"), "policy.from_index = false");
}

TEST_F(FromIndex, UsesThePluginOfAnUpdatedEngineHost) {
  ASSERT_EQ(from_index("reference@2.0").status, 0);
  std::string newer = read_text(build_path("/engines/libengine_reference.so"));
  newer += "newer";
  write_own_repository(newer);
  const Ended again = from_index("reference@2.0");
  ASSERT_EQ(again.status, 0) << again.said();
  EXPECT_EQ(sha256_hex(read_text(again.outcome()["library"].as_string())), sha256_hex(newer));
}

TEST_F(FromIndex, OfTwoPeopleAtOnceGivesOneResult) {
  std::vector<Ended> ended(2);
  std::thread other([&] { ended[0] = from_index("reference@2.0"); });
  ended[1] = from_index("reference@1.1");
  other.join();
  for (const Ended& one : ended) EXPECT_EQ(one.status, 0) << one.said();
  const RunOptions offline = with("ENGINEHOST_OFFLINE=1");
  EXPECT_EQ(version_of(from_index("reference@2.0", offline)), "2.0");
  EXPECT_EQ(version_of(from_index("reference@1.1", offline)), "1.1") << "neither row was lost";
}

// Each call that changes a name is the last one of a run.
TEST_F(FromIndex, GoesOnAfterItWasKilled) {
  ChildRequest tracing;
  tracing.argv = {"strace", "-o", "/dev/null", "true"};
  const auto traces = run_child(tracing);
  if (!traces || !traces->succeeded()) GTEST_SKIP() << "strace cannot trace here";
  int killed = 0;
  for (int at = 1; at < 60; at += 7) {
    fs::remove_all(user_.cache());
    RunOptions options;
    options.launcher = {
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "inject=rename,renameat,renameat2,unlink,unlinkat:signal=SIGKILL:when=" + std::to_string(at)};
    if (from_index("reference@2.0", options).status == 0) break;
    ++killed;
    const Ended again = from_index("reference@2.0");
    EXPECT_EQ(again.status, 0) << at << again.said();
    EXPECT_EQ(version_of(again), "2.0");
  }
  EXPECT_GT(killed, 2);
}

TEST_F(FromIndex, OfEngineRunOpensTheSameBuild) {
  write_text(user_.folder() / "model.onnx", "no model");
  const Ended ran = run(
      "engine-run", {"reference@2.0", (user_.folder() / "model.onnx").native(), "--from-index", "--json"});
  EXPECT_EQ(ran.document["outcome"]["build"].as_string(), "reference-2.0-cpu") << ran.said();
}

TEST_F(FromIndex, IsRefusedWhereItWouldMeanNothing) {
  const auto problem = [&](std::vector<std::string> arguments, const std::string& program = "engine-info") {
    arguments.emplace_back("--from-index");
    const Ended ended = run(program, std::move(arguments));
    EXPECT_EQ(ended.status, 2) << ended.said();
    return ended.error;
  };
  EXPECT_THAT(problem({}), HasSubstr("is about an engine"));
  EXPECT_THAT(problem({"reference", "--plan"}), HasSubstr("--plan downloads nothing"));
  EXPECT_THAT(problem({"reference", "--platform", "board.json"}),
              HasSubstr("--from-index derives builds for this machine"));
  EXPECT_THAT(problem({"--plugin", "plugin.so"}), HasSubstr("is about builds of manifests"));
}

}  // namespace
}  // namespace enginehost::test
