// A failed build is recorded, shown, and tried again only when something changed or a user clears it.
#include <gmock/gmock.h>

#include <functional>

#include "base/files.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/reference_plugin.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Quarantine : public testing::Test {
 protected:
  void SetUp() override {
    TestBuild build =
        faulty_build({{plugin, plugin_that_needs({"libstart.so"}, "$ORIGIN/lib")},
                      {"lib/libstart.so",
                       compile_library("#include <unistd.h>\nint* volatile nowhere;\n"
                                       "__attribute__((constructor)) static void begin(void) {\n"
                                       "  (void)!write(2, \"about to touch what is not there\\n\", 33);\n"
                                       "  *nowhere = 1;\n}\n",
                                       {"-Wl,-soname,libstart.so"})}});
    build.search = {"lib"};
    repository.add(build);
    repository.add(good_build());
    repository.write();
    const Ended run = open();
    ASSERT_EQ(run.status, 0) << run.said();
    ASSERT_EQ(run.candidate(id)["verdict"].as_string(), "failed") << run.said();
  }
  Ended open(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workplace.info(arguments);
  }
  Ended quarantine(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "quarantine");
    arguments.push_back("--json");
    return workplace.run("engine-cache", arguments);
  }

  const std::string id = "reference-faulty";
  Workplace workplace;
  TestRepository repository{workplace.folder() / "repository"};
};

TEST_F(Quarantine, ACrashedBuildIsListedAndNotTriedAgain) {
  const Ended again = open();
  EXPECT_EQ(again.status, 0) << again.said();
  EXPECT_EQ(again.candidate(id)["verdict"].as_string(), "quarantined") << again.said();
  EXPECT_TRUE(again.outcome()["fallback"].as_bool());
  EXPECT_EQ(again.outcome()["build"].as_string(), "reference-good");
}

TEST_F(Quarantine, Case30ListsAndShowsTheReason) {
  const Ended list = quarantine({"list"});
  EXPECT_EQ(list.status, 0) << list.said();
  ASSERT_EQ(list.document["records"].as_array().size(), 1u) << list.said();
  EXPECT_EQ(list.document["records"].as_array()[0]["build"].as_string(), id);
  const Ended show = quarantine({"show", id});
  EXPECT_EQ(show.status, 0) << show.said();
  EXPECT_THAT(show.output, HasSubstr("EH-R02"));
  const Json& record = show.document["records"].as_array().at(0);
  EXPECT_EQ(evidence(record["diagnosis"], "signal"), "SIGSEGV") << show.said();
  EXPECT_THAT(evidence(record["diagnosis"], "in_library"), HasSubstr("libstart.so"));
  EXPECT_EQ(evidence(record["diagnosis"], "last_words"), "about to touch what is not there") << show.said();
  for (const char* member : {"first_seen", "last_seen", "host"})
    EXPECT_FALSE(record[member].is_null()) << member;
  const Ended text = workplace.run("engine-cache", {"quarantine", "show", id});
  EXPECT_THAT(text.output, HasSubstr("engine-cache quarantine clear " + id));
  EXPECT_EQ(quarantine({"show", "no-such-build"}).status, exit_status_of("EH-S20"));
}

// A user's mistake proves nothing about the build, neither before it is proven nor afterwards.
TEST(WrongDevice, IsReportedAndLeavesNoRecord) {
  Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  TestBuild older = faulty_build({{plugin, reference_plugin()}});
  repository.add(older);
  repository.write();
  const auto open = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"reference", "--repository", repository.root().native(), "--json"});
    return workplace.info(more);
  };
  for (const bool proven : {false, true}) {
    const Ended wrong = open({"--device", "cpu:7"});
    EXPECT_EQ(wrong.code(), "EH-S09") << wrong.said();
    EXPECT_EQ(wrong.status, exit_status_of("EH-S09")) << "proven: " << proven;
    EXPECT_EQ(evidence(wrong.diagnosis(), "offered"), "cpu:0") << wrong.said();
    int tried = 0;
    for (const Json& candidate : wrong.document["candidates"].as_array())
      tried += candidate["verdict"].as_string() == "failed" ? 1 : 0;
    EXPECT_EQ(tried, 1) << "another build has no more processors: " << wrong.said();
    const Json list = workplace.run("engine-cache", {"quarantine", "list", "--json"}).document["records"];
    EXPECT_TRUE(list.as_array().empty()) << list.dump(2);
    const Ended right = open({});
    EXPECT_EQ(right.status, 0) << right.said();
    EXPECT_FALSE(right.outcome()["fallback"].as_bool()) << right.said();
  }
}

// The launcher failed before any build was used: the setting is named, and no build is quarantined.
TEST(ProbeLauncher, AFailingLauncherIsNamedAndNoBuildIsBlamed) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  RunOptions options;
  options.environment = {"ENGINEHOST_PROBE_LAUNCHER=/bin/false"};
  const Ended run =
      workplace.info({"reference", "--repository", repository.root().native(), "--json"}, options);
  EXPECT_EQ(run.code(), "EH-P20") << run.said();
  EXPECT_EQ(evidence(run.diagnosis(), "program"), "/bin/false");
  EXPECT_EQ(evidence(run.diagnosis(), "set_by"), "ENGINEHOST_PROBE_LAUNCHER") << run.said();
  EXPECT_THAT(run.diagnosis()["remedy"].dump(), HasSubstr("set by ENGINEHOST_PROBE_LAUNCHER"));
  EXPECT_TRUE(
      workplace.run("engine-cache", {"quarantine", "list", "--json"}).document["records"].as_array().empty());
}

TEST_F(Quarantine, AClearedBuildIsTriedAgain) {
  EXPECT_EQ(quarantine({"clear", id}).status, 0);
  EXPECT_EQ(open().candidate(id)["verdict"].as_string(), "failed");
  EXPECT_EQ(quarantine({"clear", "--all"}).status, 0);
  EXPECT_TRUE(quarantine({"list"}).document["records"].as_array().empty());
}

TEST_F(Quarantine, AForcedBuildIsTriedForOneRun) {
  RunOptions options;
  options.environment = {"ENGINEHOST_FORCE=" + id};
  const Ended forced =
      workplace.info({"reference", "--repository", repository.root().native(), "--json"}, options);
  EXPECT_EQ(forced.candidate(id)["diagnosis"]["code"].as_string(), "EH-R02") << forced.said();
  EXPECT_EQ(forced.candidate(id)["verdict"].as_string(), "failed") << forced.said();
  // Another build opened, and the user who forced the first one gets the reason.
  EXPECT_EQ(forced.status, 0) << forced.said();
  EXPECT_TRUE(forced.outcome()["fallback"].as_bool()) << forced.said();
  EXPECT_THAT(forced.document["warnings"].dump(),
              testing::AllOf(HasSubstr("EH-S22"), HasSubstr(id), HasSubstr("EH-R02")));
  const Ended text = workplace.info({"reference", "--repository", repository.root().native()}, options);
  EXPECT_THAT(text.error, HasSubstr(id + " was forced")) << text.said();
}

TEST_F(Quarantine, OtherBytesUnderTheSameNameAreTriedAtOnce) {
  TestRepository repaired(workplace.folder() / "repository");
  TestBuild build = faulty_build({{plugin, reference_plugin() + "repaired"}});
  repaired.add(build);
  repaired.add(good_build());
  repaired.write();
  const Ended run = open();
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), id) << run.said();
}

TEST_F(Quarantine, ADisabledBuildStaysDisabledUntilEnabled) {
  EXPECT_EQ(quarantine({"disable", "reference-good"}).status, 0);
  Ended run = open();
  EXPECT_EQ(run.candidate("reference-good")["verdict"].as_string(), "disabled") << run.said();
  EXPECT_NE(run.status, 0);
  EXPECT_EQ(quarantine({"clear", "--all"}).status, 0);
  EXPECT_EQ(open().candidate("reference-good")["verdict"].as_string(), "disabled");
  EXPECT_EQ(quarantine({"enable", "reference-good"}).status, 0);
  EXPECT_EQ(open().outcome()["build"].as_string(), "reference-good");
}

TEST_F(Quarantine, ClearReportsThatItEndedADisable) {
  ASSERT_EQ(quarantine({"disable", id}).status, 0);
  const Ended cleared = workplace.run("engine-cache", {"quarantine", "clear", id});
  EXPECT_THAT(cleared.output, HasSubstr(id + " was disabled by hand: it may be used again, too"))
      << cleared.said();
  EXPECT_EQ(quarantine({"show", id}).status, exit_status_of("EH-S20")) << "what was known before is dropped";
  ASSERT_EQ(quarantine({"disable", id}).status, 0);
  EXPECT_EQ(quarantine({"clear", id}).document["enabled"].as_array().size(), 1u);
}

TEST_F(Quarantine, EnableEndsOnlyADisable) {
  const Ended set_aside = quarantine({"enable", id});
  EXPECT_EQ(set_aside.status, exit_status_of("EH-S20")) << set_aside.said();
  EXPECT_THAT(set_aside.diagnosis()["cause"].as_string(), HasSubstr(id + " is not disabled"));
  EXPECT_THAT(set_aside.diagnosis()["remedy"].dump(), HasSubstr("engine-cache quarantine clear " + id));
  EXPECT_EQ(open().candidate(id)["verdict"].as_string(), "quarantined") << "only clear ends that";
  const Ended proven = quarantine({"enable", "reference-good"});
  EXPECT_EQ(proven.status, exit_status_of("EH-S20")) << proven.said();
  EXPECT_THAT(proven.diagnosis()["cause"].as_string(), HasSubstr("it is proven"));
  EXPECT_EQ(quarantine({"show", "reference-good"}).status, 0) << "the proof stands";
}

TEST_F(Quarantine, TheTextNamesDisabledBuilds) {
  ASSERT_EQ(quarantine({"clear", id}).status, 0);
  EXPECT_THAT(workplace.run("engine-cache", {"quarantine", "disable", id}).output,
              HasSubstr("(engine-cache quarantine enable " + id + " takes that back)"));
  const Ended text = workplace.info({"reference", "--repository", repository.root().native()});
  EXPECT_EQ(text.status, 0) << text.said();
  EXPECT_THAT(text.output, HasSubstr("instead of\n  " + id + "  "));
}

// Without its record a disabled build could be used again.
TEST_F(Quarantine, ListAndVerifyReportAnUnreadableRecord) {
  ASSERT_EQ(quarantine({"disable", "reference-good"}).status, 0);
  std::filesystem::path records;
  for (const auto& state : std::filesystem::directory_iterator(workplace.cache() / "state"))
    if (std::filesystem::exists(state.path() / "history")) records = state.path() / "history";
  const std::filesystem::path file = records / "reference-good.json";
  std::filesystem::resize_file(file, 30);
  ASSERT_EQ(quarantine({"clear", "--all"}).status, 0);
  const auto reported = HasSubstr(file.native() + " is not a readable record");
  EXPECT_THAT(quarantine({"list"}).document["warnings"].dump(), reported);
  const Ended list = workplace.run("engine-cache", {"quarantine", "list"});
  EXPECT_THAT(list.output, HasSubstr("no build with a readable record is quarantined"));
  EXPECT_THAT(list.error, reported);
  const std::string here = workplace.cache().native(),
                    clear = "engine-cache quarantine clear --cache " + here + " reference-good removes it";
  EXPECT_THAT(workplace.run("engine-cache", {"quarantine", "list", "--cache", here}).error, HasSubstr(clear));
  EXPECT_THAT(workplace.run("engine-cache", {"verify", "--cache", here}).output, HasSubstr(clear));
  EXPECT_THAT(workplace.info({}).said(), reported);
  EXPECT_THAT(workplace.run("engine-cache", {"verify"}).output, reported);
  const Ended verified = workplace.run("engine-cache", {"verify", "--json"});
  EXPECT_FALSE(verified.document["records"]["ok"].as_bool()) << verified.said();
  EXPECT_EQ(quarantine({"clear", "reference-good"}).status, 0);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(quarantine({"list"}).document["warnings"].as_array().empty());

  std::filesystem::remove_all(records);
  write_text(records, "x");
  EXPECT_THAT(quarantine({"list"}).document["warnings"].dump(),
              HasSubstr(records.native() + " cannot be read"));
  EXPECT_THAT(workplace.run("engine-cache", {"verify"}).output,
              HasSubstr(records.native() + " cannot be read"));
}

// A record that cannot be read for a moment may be a disable. It is neither ignored nor overwritten.
TEST_F(Quarantine, NothingOpensWhileARecordCannotBeRead) {
  const std::filesystem::path failing = "/proc/self/mem";
  if (!std::filesystem::exists(failing)) GTEST_SKIP() << "no file whose reading fails";
  ASSERT_EQ(quarantine({"disable", "reference-good"}).status, 0);
  std::filesystem::path file;
  for (const auto& state : std::filesystem::directory_iterator(workplace.cache() / "state"))
    if (const auto record = state.path() / "history/reference-good.json"; std::filesystem::exists(record))
      file = record;
  std::filesystem::rename(file, workplace.folder() / "kept");
  std::filesystem::create_symlink(failing, file);
  const auto reported = HasSubstr(file.native() + " cannot be read: Input/output error");
  for (const Ended& ended : {open(), quarantine({"list"}), quarantine({"disable", "reference-good"}),
                             quarantine({"enable", "reference-good"}), quarantine({"clear", "--all"})}) {
    EXPECT_EQ(ended.status, 7) << ended.said();
    EXPECT_EQ(ended.code(), "EH-F23");
    EXPECT_THAT(ended.diagnosis()["cause"].as_string(), reported);
  }
  EXPECT_THAT(workplace.info({}).said(), HasSubstr(file.native() + " cannot be read now"));
  EXPECT_THAT(workplace.run("engine-cache", {"verify"}).output, HasSubstr(file.native() + " cannot be read"));
  ASSERT_TRUE(std::filesystem::is_symlink(file)) << "nothing was written over it";
  std::filesystem::rename(workplace.folder() / "kept", file);
  EXPECT_EQ(open().candidate("reference-good")["verdict"].as_string(), "disabled");
}

TEST_F(Quarantine, AnUnwritableRecordIsReported) {
  ASSERT_EQ(quarantine({"disable", "reference-good"}).status, 0);
  if (!can_mount()) GTEST_SKIP() << "a folder that nobody can write needs the right to mount";
  RunOptions read_only;
  // A folder that cannot hold records at all, and one that only looks writable.
  std::vector<std::filesystem::path> closed = {workplace.folder()};
  for (const auto& state : std::filesystem::directory_iterator(workplace.cache() / "state"))
    if (std::filesystem::exists(state.path() / "history")) closed.push_back(state.path() / "history");
  ASSERT_EQ(closed.size(), 2u);
  for (const std::filesystem::path& folder : closed)
    for (const std::vector<std::string>& action :
         {std::vector<std::string>{"disable", id}, {"enable", "reference-good"}, {"clear", id}}) {
      SCOPED_TRACE(action.front() + " in " + folder.native());
      read_only.launcher = with_read_only(folder);
      std::vector<std::string> arguments = {"quarantine"};
      arguments.insert(arguments.end(), action.begin(), action.end());
      const Ended text = workplace.run("engine-cache", arguments, read_only);
      EXPECT_EQ(text.status, 7) << text.said();
      EXPECT_EQ(text.output, "");
      arguments.emplace_back("--json");
      EXPECT_EQ(workplace.run("engine-cache", arguments, read_only).code(), "EH-F16");
    }
  EXPECT_EQ(open().candidate("reference-good")["verdict"].as_string(), "disabled");
}

TEST(DependencyStamps, RetryABuildOnceItsLibraryIsThere) {
  const Workplace workplace;
  const auto folder = workplace.folder() / "libraries";
  std::filesystem::create_directories(folder);
  TestRepository repository(workplace.folder() / "repository");
  repository.add(faulty_build({{plugin, plugin_that_needs({"libmissing_math.so.3"}, folder.native())}}));
  repository.add(good_build());
  repository.write();
  const std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(),
                                              "--json"};
  EXPECT_EQ(workplace.info(arguments).outcome()["build"].as_string(), "reference-good");
  write_text(folder / "libmissing_math.so.3",
             compile_library("int math(void) { return 1; }\n", {"-Wl,-soname,libmissing_math.so.3"}));
  const Ended run = workplace.info(arguments);
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-faulty") << run.said();
}

// Expects `code` for a build that lacks something, and a successful retry under a raised limit.
void expect_tried_again(const std::string& constructor, const char* code, const Workplace& workplace,
                        const RunOptions& before, const std::function<void()>& raise) {
  TestRepository repository(workplace.folder() / "repository");
  repository.add(
      with_library("libstart.so", compile_library(constructor, {"-O0", "-Wl,-soname,libstart.so"})));
  repository.add(good_build());
  repository.write();
  const std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(),
                                              "--json"};
  const Ended failed = workplace.info(arguments, before);
  EXPECT_EQ(failed.candidate("reference-faulty")["diagnosis"]["code"].as_string(), code) << failed.said();
  const Ended again = workplace.info(arguments, before);
  EXPECT_EQ(again.candidate("reference-faulty")["verdict"].as_string(), "quarantined") << again.said();
  raise();
  const Ended run = workplace.info(arguments);
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-faulty") << run.said();
}

TEST(RaisedLimits, RetryABuildWithALargerStack) {
  RunOptions narrow;
  narrow.launcher = {"sh", "-c", "ulimit -s 1024 && exec \"$@\"", "sh"};
  expect_tried_again(
      "__attribute__((constructor)) static void begin(void) {\n"
      "  volatile char large[4000000];\n  for (int i = sizeof large - 1; i > 0; i -= 1000) large[i] = "
      "1;\n}\n",
      "EH-R06", Workplace(), narrow, [] {});
}

TEST(RaisedLimits, RetryABuildWithMoreTime) {
  const Workplace workplace;
  const auto configure = [&](int seconds) {
    workplace.configure(Json::object()
                            .set("repositories_default", false)
                            .set("probe_deadline_seconds", static_cast<std::int64_t>(seconds)));
  };
  // Enough time for a probe to start on a busy machine.
  configure(4);
  expect_tried_again(
      "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { usleep(5000000); }\n",
      "EH-R05", workplace, {}, [&] { configure(60); });
}

TEST(RaisedLimits, R19RetryABuildWithMoreMemoryForTheProbe) {
  const Workplace workplace;
  const auto configure = [&](std::int64_t bytes) {
    workplace.configure(Json::object().set("repositories_default", false).set("probe_memory_bytes", bytes));
  };
  configure(300 << 20);
  expect_tried_again(
      "#include <stdlib.h>\n#include <sys/mman.h>\n"
      "__attribute__((constructor)) static void begin(void) {\n"
      "  for (int i = 0; i < 10; ++i) if (mmap(0, 64 << 20, 3, 0x22, -1, 0) == MAP_FAILED) abort();\n}\n",
      "EH-R19", workplace, {}, [&] { configure(0); });
}

// The same files, loaded in another way.
class CorrectedManifest : public testing::Test {
 protected:
  void publish(std::vector<std::string> search) {
    fs::remove_all(root);
    TestRepository repository(root);
    TestBuild build = faulty_build(
        {{"libengine_reference.so", plugin_that_needs({"libcalm.so"})}, {"lib/libcalm.so", calm}});
    build.search = std::move(search);
    repository.add(build);
    repository.write();
  }
  Ended open(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"reference", "--repository", root.native(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workplace.info(arguments);
  }

  static bool was_probed(const Ended& run) { return run.outcome()["timings_ms"].find("probe") != nullptr; }

  Workplace workplace;
  const fs::path root = workplace.folder() / "repository";
  const std::string calm = compile_library("int calm = 1;\n", {"-Wl,-soname,libcalm.so"});
};

TEST_F(CorrectedManifest, ReplacesTheInstalledOneAndEndsTheQuarantine) {
  publish({});
  EXPECT_EQ(open().status, 6);
  EXPECT_EQ(open().code(), "EH-S14");
  publish({"lib"});
  const Ended corrected = open();
  EXPECT_EQ(corrected.status, 0) << corrected.said();
  EXPECT_TRUE(was_probed(corrected));
  EXPECT_FALSE(was_probed(open()));
  const Ended offline = open({"--offline"});
  EXPECT_EQ(offline.status, 0) << offline.said();
  EXPECT_FALSE(was_probed(offline)) << "the same manifest, kept with the build";
  publish({});
  EXPECT_NE(open().status, 0) << "what is published holds, not what once worked";
}

TEST_F(CorrectedManifest, AppliesToABuildOfALayer) {
  publish({});
  const fs::path layer = workplace.folder() / "layer";
  const Ended fetched = workplace.run(
      "engine-cache", {"--cache", layer.native(), "fetch", "reference", "--repository", root.native()});
  ASSERT_EQ(fetched.status, 0) << fetched.said();
  const fs::path record = *fs::directory_iterator(layer / "refs");
  const std::string before = *read_file(record);
  workplace.configure(Json::object()
                          .set("repositories_default", false)
                          .set("system_layers", Json::array().push(layer.native())));
  EXPECT_EQ(open().status, 6);
  publish({"lib"});
  for (const bool again : {false, true}) {
    const Ended corrected = open();
    EXPECT_EQ(corrected.status, 0) << corrected.said();
    EXPECT_EQ(was_probed(corrected), !again);
  }
  EXPECT_EQ(*read_file(record), before);
}

// The loader searches there first; the folders did not exist when the build was quarantined.
TEST(DependencyStamps, IncludeFoldersForThisProcessor) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the folders of x86-64";
#endif
  const Workplace workplace;
  const auto folder = workplace.folder() / "libraries";
  std::filesystem::create_directories(folder);
  TestRepository repository(workplace.folder() / "repository");
  repository.add(faulty_build({{plugin, plugin_that_needs({"libmissing_math.so.3"}, folder.native())}}));
  repository.add(good_build());
  repository.write();
  const std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(),
                                              "--json"};
  EXPECT_EQ(workplace.info(arguments).outcome()["build"].as_string(), "reference-good");
  EXPECT_EQ(workplace.info(arguments).candidate("reference-faulty")["verdict"].as_string(), "quarantined");
  write_text(folder / "glibc-hwcaps" / "x86-64-v2" / "libmissing_math.so.3",
             compile_library("int math(void) { return 1; }\n", {"-Wl,-soname,libmissing_math.so.3"}));
  const Ended run = workplace.info(arguments);
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-faulty") << run.said();
}

}  // namespace
}  // namespace enginehost::test
