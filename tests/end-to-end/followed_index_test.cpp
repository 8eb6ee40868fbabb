// From a release on the package index to an update on a user's machine: a publisher follows an index, signs
// and publishes, and a user updates and goes back.
#include <gmock/gmock.h>

#include <algorithm>
#include <thread>

#include "tests/end-to-end/interrupted.hpp"
#include "tests/end-to-end/publisher.hpp"
#include "tests/follow/toy_index.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

// Two engines. The wheel of "reference" has its plugin. "layered" has a runtime, the kernels that the
// runtime's METADATA requires, and an adapter that serves every release; it is created only if both are of
// one release.
class FollowedIndex : public Publisher {
 protected:
  explicit FollowedIndex(const std::string& directives = {}) : index(directives) {}

  void SetUp() override {
    Publisher::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    release("1.0");
    ASSERT_FALSE(HasFatalFailure());
    compile(
        adapter, read_text(source_path("/tests/faults/plugin.c")),
        {"-I" + source_path("/plugin-api/include"), "-DENGINE=\"layered\"",
         "-DAT_CREATE=extern int layered_answer(void); if (layered_answer() != 42) return call->fail(call, "
         "ENGINE_INTERNAL, \"\", 0, \"runtime and kernels are of two releases\")",
         "-L" + (publisher_ / "1.0").native(), "-llayered_runtime", "-Wl,-rpath,$ORIGIN/layered_runtime",
         "-Wl,-rpath-link," + (publisher_ / "1.0").native()});
    ASSERT_FALSE(HasFatalFailure());
    write_text(publisher_ / "plans/reference.json", reference_plan());
    write_text(publisher_ / "plans/layered.json", layered_plan());
    sh("engine-manifest init repository --name Followed\n"
       "minisign -G -W -p key.pub -s key.key");
    publish();
    sh("engine-cache trust add key.pub");
    user_.configure(Json::object()
                        .set("repositories_default", false)
                        .set("repositories", Json::array().push(location()))
                        .set("package_index", index.url()));
    ASSERT_EQ(opened("reference"), "1.0");
    ASSERT_EQ(opened("layered"), "1.0");
  }

  // Puts a release of each engine on the index.
  void release(const std::string& version, const std::string& terms = "MIT License",
               const std::string& data = {}) {
    const std::string folder = (publisher_ / version).native(), number = std::to_string(version.back() - '0');
    compile(publisher_ / version / "liblayered_kernels.so",
            "int layered_kernels(void) { return " + number + "; }");
    compile(publisher_ / version / "liblayered_runtime.so",
            "int layered_kernels(void); int layered_answer(void) { return layered_kernels() == " + number +
                " ? 42 : 0; }",
            {"-L" + folder, "-llayered_kernels", "-Wl,-rpath,$ORIGIN/../layered_kernels"});
    ASSERT_FALSE(HasFatalFailure());
    index.publish(
        "reference-engine", version,
        {.uploaded = long_ago, .plugin = build_path("/engines/libengine_reference.so"), .data = data}, tag);
    index.publish(
        "layered-kernels", version,
        {.uploaded = long_ago, .license = terms, .library = read_text(folder + "/liblayered_kernels.so")},
        tag);
    index.publish(
        "layered-runtime", version,
        {.uploaded = long_ago,
         .metadata = "Requires-Dist: layered-kernels==" + version + "; platform_system == 'Linux'\n",
         .library = read_text(folder + "/liblayered_runtime.so")},
        tag);
  }
  void compile(const fs::path& to, const std::string& source,
               const std::vector<std::string>& flags = {}) const {
    fs::create_directories(to.parent_path());
    ChildRequest request;
    request.argv = {"gcc", "-shared", "-fPIC", "-o", to, "-x", "c", "-", "-x", "none"};
    request.argv.insert(request.argv.end(), flags.begin(), flags.end());
    request.input = source;
    const auto ended = run_child(request);
    ASSERT_TRUE(ended && ended->exit_code == 0) << (ended ? ended->error : "gcc cannot be started");
  }

  // "VERSION STATE" of each row.
  std::vector<std::string> follow(const std::string& engine, int status = 0) {
    sh("engine-manifest follow plans/" + engine + ".json --json --package-index " + index.url() +
           " > report.json",
       status);
    report = parse_json(read_text(publisher_ / "report.json"), "report").value();
    std::vector<std::string> rows;
    for (const Json& row : report["rows"].as_array())
      rows.push_back(row["version"].as_string() + " " + row["state"].as_string());
    return rows;
  }
  void publish() {
    for (const char* const engine : {"reference", "layered"}) follow(engine);
    sign_and_publish();
  }
  void sign_and_publish() {
    sh("engine-manifest sign repository --key key.key\nengine-manifest publish repository /srv/www/engines");
  }

  Ended open_text(const std::string& engine) {
    an_hour_passes();
    return user_.info({engine});
  }
  std::string opened(const std::string& engine) {
    an_hour_passes();
    const Ended ended = user_.info({engine, "--json"});
    EXPECT_EQ(ended.status, 0) << ended.said();
    const std::string& build = ended.outcome()["build"].as_string();
    const std::size_t begin = engine.size() + 1;
    return build.size() < begin ? "" : build.substr(begin, build.find('-', begin) - begin);
  }
  Ended cache(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.push_back("--json");
    return user_.run("engine-cache", std::move(arguments), options);
  }
  // Updates both engines, and goes back.
  void expect_an_update() {
    const Ended update = cache({"update", "--install", "layered", "reference"});
    EXPECT_EQ(update.status, 0) << update.said();
    for (const std::string engine : {"reference", "layered"}) {
      EXPECT_EQ(opened(engine), "1.1");
      EXPECT_EQ(cache({"rollback", engine}).status, 0);
      EXPECT_EQ(opened(engine), "1.0") << "the older build is there";
    }
  }
  static std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
    return count;
  }

  std::string reference_plan() const {
    return R"({"format": 1, "engine": "reference", "manifest": "../repository/engines/reference.json",
 "facts": "../repository/facts",
 "licenses": {"open": {"id": "MIT", "accept": "implicit", "redistribute": "yes"}},
 "layouts": {"whole": {"project": "reference-engine", "wheel": "reference_engine-{version}-*.whl",
   "component": "reference-{version}", "license": "open", "select": ["reference_engine/libengine_reference.so",
   "reference_engine/release.txt", "reference_engine/*.bin"], "libraries": ["libengine_reference.so"],
   "ignored": ["libreference_engine.so"]}},
 "tracks": [{"name": "cpu", "project": "reference-engine", "versions": ">=1.0", "rows": [
  {"os": "linux", "arch": ")" +
           std::string(architecture) + R"(", "layout": "whole",
   "build": {"id": "reference-{version}-cpu", "flavor": "cpu", "search": ["reference_engine"],
    "capabilities": ["device.cpu"],
    "plugin": {"component": "reference-{version}", "path": "reference_engine/libengine_reference.so"}}}]}]})";
  }
  // Before somebody has read `new_terms`, the kernels of every release are under the same license.
  std::string layered_plan(const std::string& new_terms = {}) {
    const std::string bytes = read_text(adapter);
    const auto layout = [&](const std::string& name, const std::string& part, const std::string& license) {
      return "\"" + name + R"(": {"project": "layered-)" + part + R"(", "wheel": "layered_)" + part +
             R"(-{version}-*.whl", "component": "layered-)" + part + R"(-{version}", "license": ")" +
             license + R"(", "license_file": "layered_)" + part + R"(-{version}.dist-info/licenses/LICENSE",
   "select": ["layered_)" +
             part + R"(/*"], "libraries": ["liblayered_)" + part + R"(.so"]})";
    };
    const auto track = [&](const std::string& name, const std::string& versions, const std::string& kernels) {
      return R"({"name": ")" + name + R"(", "project": "layered-runtime", "versions": ")" + versions +
             R"(", "rows": [{"os": "linux", "arch": ")" + std::string(architecture) +
             R"(", "layout": "runtime",
   "parts": [{"layout": ")" +
             kernels + R"(", "version": "metadata"}, {"layout": "layered-adapter", "version": "none"}],
   "build": {"id": "layered-{version}-cpu", "flavor": "cpu", "search": ["layered_runtime", "layered_kernels"],
    "capabilities": ["device.cpu"], "plugin": {"component": "layered-adapter", "path": "libengine_layered.so"}}}]})";
    };
    std::string licenses =
                    R"("open": {"id": "MIT", "accept": "implicit", "redistribute": "yes", "sha256": ")" +
                    sha256_hex(std::string("MIT License")) + "\"}",
                layouts =
                    layout("runtime", "runtime", "open") + ",\n " + layout("kernels", "kernels", "open"),
                tracks = track("cpu", ">=1.0", "kernels");
    if (!new_terms.empty()) {
      write_text(index.server.root() / "terms.txt", new_terms);
      licenses +=
          R"(, "kernels": {"id": "LicenseRef-kernels", "accept": "explicit", "redistribute": "no", "url": ")" +
          index.server.url("terms.txt") + R"(", "sha256": ")" + sha256_hex(new_terms) + "\"}";
      layouts += ",\n " + layout("new-kernels", "kernels", "kernels");
      tracks = track("old terms", ">=1.0,<1.1", "kernels") + ",\n " + track("cpu", ">=1.1", "new-kernels");
    }
    return R"({"format": 1, "engine": "layered", "manifest": "../repository/engines/layered.json",
 "facts": "../repository/facts", "licenses": {)" +
           licenses + R"(},
 "components": {"layered-adapter": {"version": "1", "license": "open", "artifacts": [{"sha256": ")" +
           sha256_hex(bytes) + R"(", "size": )" + std::to_string(bytes.size()) +
           R"(, "archive": "none", "path": "libengine_layered.so", "sources": [{"file": "files/libengine_layered.so"}]}]}},
 "layouts": {)" +
           layouts + "},\n \"tracks\": [" + tracks + "]}";
  }

  static constexpr std::int64_t long_ago = 1'580'000'000;
  const std::string tag = "py3-none-manylinux_2_17_" + std::string(architecture);
  const fs::path adapter = publisher_ / "repository/files/libengine_layered.so";
  follow::ToyIndex index;
  Json report;
};

TEST_F(FollowedIndex, ReachesAUserWhoConsentsOnceAndGoesBack) {
  const std::string terms = "Kernels of release 1.1 may be run on one machine.\n";
  release("1.1", terms);
  EXPECT_THAT(follow("reference"), ElementsAre("1.0 unchanged", "1.1 new"));
  EXPECT_THAT(follow("layered", 2), ElementsAre("1.0 unchanged", "1.1 failed"))
      << "nobody has read the new terms";
  const Json& refused = report["rows"].as_array().back()["diagnosis"];
  EXPECT_EQ(refused["code"].as_string(), "EH-M19");
  EXPECT_EQ(evidence(refused, "actual"), sha256_hex(terms));
  write_text(publisher_ / "plans/layered.json", layered_plan(terms));
  EXPECT_THAT(follow("layered"), testing::IsSupersetOf({"1.1 new"}));
  const std::string before = read_text(publisher_ / "repository/engines/layered.json");
  EXPECT_THAT(follow("layered"), ElementsAre("1.0 unchanged", "1.1 unchanged"));
  EXPECT_EQ(read_text(publisher_ / "repository/engines/layered.json"), before);
  sign_and_publish();

  for (const std::string engine : {"reference", "layered"}) {
    const Ended opened = open_text(engine);
    EXPECT_EQ(opened.status, 0) << opened.said();
    EXPECT_THAT(opened.said(), ContainsRegex("newer, but +1\\.1 cpu: not installed"));
  }
  const Ended listed = user_.run("engine-cache", {"update"});
  EXPECT_THAT(listed.said(), ContainsRegex("layered +1\\.0 -> 1\\.1"));
  EXPECT_THAT(listed.said(), ContainsRegex("reference +1\\.0 -> 1\\.1"));

  RunOptions terminal;
  terminal.launcher = on_a_terminal();
  terminal.input = "n\n";
  const Ended declined = user_.run("engine-cache", {"update", "--install", "layered"}, terminal);
  EXPECT_EQ(declined.status, 8) << declined.said();
  EXPECT_EQ(opened("layered"), "1.0");
  terminal.input = "y\n";
  const Ended updated = user_.run("engine-cache", {"update", "--install"}, terminal);
  EXPECT_EQ(updated.status, 0) << updated.said();
  EXPECT_EQ(count_of(updated.output, "[y/n"), 1u) << updated.said();
  EXPECT_EQ(opened("reference"), "1.1");
  EXPECT_EQ(opened("layered"), "1.1");

  for (const std::string engine : {"reference", "layered"}) {
    const Ended back = cache({"rollback", engine});
    EXPECT_EQ(back.status, 0) << back.said();
    EXPECT_EQ(opened(engine), "1.0");
  }
  EXPECT_EQ(user_.run("engine-cache", {"update", "--install", "layered", "reference"}).status, 0);
  EXPECT_EQ(opened("layered"), "1.1") << "its license was accepted";
  EXPECT_EQ(opened("reference"), "1.1");
}

TEST_F(FollowedIndex, ALockStillOpensTheOlderReleaseAfterAnUpdate) {
  const std::string lock = (user_.folder() / "enginehost.lock").native();
  const Ended locked = user_.run("engine-cache", {"lock", "reference", "layered", "-o", lock});
  ASSERT_EQ(locked.status, 0) << locked.said();
  release("1.1");
  publish();
  ASSERT_EQ(cache({"update", "--install", "layered", "reference"}).status, 0);
  for (const std::string engine : {"reference", "layered"}) {
    EXPECT_EQ(opened(engine), "1.1");
    const Ended with_lock = user_.info({engine, "--lock", lock, "--json"});
    EXPECT_EQ(with_lock.status, 0) << with_lock.said();
    EXPECT_EQ(with_lock.outcome()["build"].as_string(), engine + "-1.0-cpu") << with_lock.said();
  }
}

// The signed repository promises bytes that the index no longer serves.
TEST_F(FollowedIndex, ThatServesOtherBytesLaterUpdatesNobody) {
  release("1.1");
  publish();
  const std::string signed_manifest = read_text(publisher_ / "repository/engines/reference.json");
  const fs::path wheel = index.server.root() / ("files/reference_engine-1.1-" + tag + ".whl");
  const std::string bytes = read_text(wheel);
  write_text(wheel, std::string(bytes.size(), 'x'));
  const Ended lied = cache({"update", "--install", "reference"});
  EXPECT_EQ(lied.status, 5) << lied.said();
  EXPECT_EQ(opened("reference"), "1.0");
  index.publish(
      "reference-engine", "1.1",
      {.uploaded = long_ago, .plugin = build_path("/engines/libengine_reference.so"), .data = "changed"},
      tag);
  const Ended update = cache({"update", "--install", "reference"});
  EXPECT_EQ(update.document["engines"].as_array().front()["diagnosis"]["code"].as_string(), "EH-N13")
      << update.said();
  EXPECT_EQ(opened("reference"), "1.0");
  EXPECT_THAT(follow("reference", 5), ElementsAre("1.0 unchanged", "1.1 unchanged"));
  std::vector<std::string> codes;
  for (const Json& problem : report["problems"].as_array()) codes.push_back(problem["code"].as_string());
  EXPECT_THAT(codes, testing::Contains("EH-M20"));
  EXPECT_EQ(read_text(publisher_ / "repository/engines/reference.json"), signed_manifest);
}

// A wheel that arrives slowly enough for a kill in the middle.
class KilledUpdate : public FollowedIndex {
 protected:
  KilledUpdate() : FollowedIndex("limit_rate 400k;") {}

  void SetUp() override {
    FollowedIndex::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    release("1.1", "MIT License", noise(3u << 20));
    publish();
  }
  std::uintmax_t arrived() const {
    std::uintmax_t sum = 0;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(user_.cache() / "partial", error))
      if (std::error_code gone; entry.is_regular_file(gone)) sum += entry.file_size(gone);
    return sum;
  }
};

TEST_F(KilledUpdate, InTheMiddleOfADownloadLeavesTheOlderBuildAndGoesOn) {
  {
    const Running update(user_.request("engine-cache", {"update", "--install", "reference"}),
                         user_.folder() / "said");
    for (int looks = 0; looks < 10'000 && arrived() < (256u << 10); ++looks) std::this_thread::sleep_for(2ms);
  }  // killed
  const std::uintmax_t kept = arrived();
  ASSERT_GT(kept, 0u);
  EXPECT_EQ(opened("reference"), "1.0");
  expect_an_update();
}

// Calls that change names, or sync, are the last ones of a run.
TEST_F(FollowedIndex, UpdatesThatAreKilledAtAnyStepLeaveBuildsThatOpen) {
  if (run_child({.argv = {"strace", "-o", "/dev/null", "true"}})->exit_code != 0)
    GTEST_SKIP() << "strace cannot trace here";
  release("1.1");
  publish();
  int killed = 0;
  for (int at = 1; at < 400; at += 6) {
    RunOptions traced;
    traced.may_crash = true;
    traced.launcher = {"strace",
                       "-f",
                       "-qq",
                       "-o",
                       "/dev/null",
                       "-e",
                       "inject=rename,renameat,renameat2,unlink,unlinkat,link,linkat,symlink,mkdir,fsync:"
                       "signal=SIGKILL:when=" +
                           std::to_string(at)};
    if (cache({"update", "--install", "layered", "reference"}, traced).status == 0) break;
    ++killed;
    EXPECT_THAT(opened("reference"), AnyOf("1.0", "1.1")) << at;
    EXPECT_THAT(opened("layered"), AnyOf("1.0", "1.1")) << at;
    expect_an_update();
    for (const char* const build : {"layered-1.1-cpu", "reference-1.1-cpu"})
      EXPECT_EQ(cache({"remove", build}).status, 0) << at;
    if (HasFailure()) return;
  }
  EXPECT_GT(killed, 8);
}

}  // namespace
}  // namespace enginehost::test
