// An early decision leads to the engine that settings and cached decision would choose, and ends when any of
// their dependencies changes.
#include <fstream>

#include "base/files.hpp"
#include "base/json.hpp"
#include "host/history/sentinel.hpp"
#include "host/history/store.hpp"
#include "tests/open/fixture.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

enum class Way { early_decisions, decision, walk, failed };

class EarlyDecisionTest : public LoadOrder {
 protected:
  void SetUp() override {
    const auto begin = std::chrono::steady_clock::now();
    while (way() != Way::early_decisions) {
      ASSERT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << "none is ever kept";
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  Result<std::shared_ptr<SharedEngine>> ask() {
    SharedRequest request;
    request.key = folder_.path().native();  // not shared with other tests of this process
    request.flags = [&] { return flags_; };
    request.request = [&](AskedSettings) { return request_; };
    request.cancel = cancel_;
    return open_shared(request);
  }
  // The way in which one open got its engine, which is closed again.
  Way way() {
    const auto engine = ask();
    if (!engine) return Way::failed;
    const Outcome& outcome = (*engine)->outcome();
    if (!outcome.by_cached_decision) return Way::walk;
    return outcome.decision == nullptr ? Way::early_decisions : Way::decision;
  }
  fs::path shortcuts() const { return folder_ / "cache" / "state" / "shortcuts"; }
  fs::path file() const {
    for (const auto& entry : fs::directory_iterator(shortcuts())) return entry.path();
    return {};
  }
  fs::path user_config() const {
    return fs::path(std::getenv("XDG_CONFIG_HOME")) / "enginehost" / "config.json";
  }
  std::optional<CancelToken> cancel_;
};

TEST_F(EarlyDecisionTest, LeadsToTheSameEngineAgain) {
  for (int i = 0; i < 3; ++i) {
    const auto engine = ask();
    ASSERT_TRUE(engine);
    EXPECT_EQ((*engine)->outcome().decision, nullptr);
    EXPECT_EQ((*engine)->opened().installed.build, "reference-good");
    EXPECT_EQ((*engine)->outcome().plan.request.engine, "reference");
    EXPECT_TRUE((*engine)->outcome().proven_before);
    EXPECT_FALSE((*engine)->outcome().fallback);
    EXPECT_FALSE((*engine)->device_names().empty());
  }
}

// The decision holds what an open needs of the build's record, unchanged.
TEST_F(EarlyDecisionTest, HoldsTheRecordOfTheBuild) {
  const auto engine = ask();
  ASSERT_TRUE(engine);
  const cache::Installed& known = (*engine)->opened().installed;
  const auto store = cache::Store::open(folder_ / "cache");
  const auto recorded = store.record_of("reference-good");
  ASSERT_TRUE(recorded && *recorded);
  EXPECT_EQ(cache::record_lines(known), cache::record_lines(**recorded));
  EXPECT_EQ(known.folder, (*recorded)->folder);
  EXPECT_EQ(known.layer, (*recorded)->layer);
  EXPECT_EQ(known.manifest, "");
  EXPECT_NE(read_file(file())->find("\nrecord engine reference\n"), std::string::npos);
}

// A removal waits until the engine is closed, as with any other open.
TEST_F(EarlyDecisionTest, KeepsTheBuildInUse) {
  const auto engine = ask();
  ASSERT_TRUE(engine);
  const fs::path lease = folder_ / "cache" / "leases" / ((*engine)->opened().installed.digest + ".lk");
  const auto lock = cache::FileLock::try_exclusive(lease, "");
  ASSERT_TRUE(lock);
  EXPECT_FALSE(lock->has_value());
}

TEST_F(EarlyDecisionTest, IsBypassedWhileTheBuildIsBeingRemoved) {
  const fs::path leases = folder_ / "cache" / "leases";
  const auto name = fs::directory_iterator(leases)->path();
  {
    const auto lock = cache::FileLock::exclusive(name, "");
    ASSERT_TRUE(lock);
    EXPECT_NE(way(), Way::early_decisions) << "somebody takes it away, or its lock";
  }
  fs::remove(name);
  EXPECT_NE(way(), Way::early_decisions) << "it has no lock any more";
}

TEST_F(EarlyDecisionTest, ReportStillHasSettingsAndCandidates) {
  const auto engine = ask();
  ASSERT_TRUE(engine);
  const auto document = parse_json((*engine)->report(), "the report");
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["candidates"].as_array().at(0)["verdict"].as_string(), "chosen");
  bool cache_is_reported = false;
  for (const Json& setting : (*document)["config"].as_array())
    cache_is_reported |=
        setting["key"].as_string() == "cache" && setting["value"].as_string() == *flags_.cache;
  EXPECT_TRUE(cache_is_reported);
}

TEST_F(EarlyDecisionTest, EndsWhenTheUsersConfigurationChanges) {
  test::write_text(user_config().native(), R"({"repositories_default": false, "flavor": "cpu"})");
  EXPECT_NE(way(), Way::early_decisions);
}

TEST_F(EarlyDecisionTest, WarnsOfAnIgnoredLayerUntilItIsFixed) {
  const fs::path layer = folder_ / "layer";
  fs::create_directories(layer);
  fs::permissions(layer, fs::perms::all);
  test::write_text(user_config().native(),
                   R"({"repositories_default": false, "system_layers": [")" + layer.native() + "\"]}");
  SetUp();
  std::ifstream kept(file());
  const std::string text{std::istreambuf_iterator<char>(kept), {}};
  EXPECT_NE(text.find("\npassed-over "), std::string::npos);
  {
    const auto engine = ask();
    ASSERT_TRUE(engine);
    EXPECT_NE((*engine)->report().find("is not trusted: everybody may write into it"), std::string::npos);
  }
  fs::permissions(layer, fs::perms::owner_all);
  EXPECT_NE(way(), Way::early_decisions);
}

TEST_F(EarlyDecisionTest, EndsWhenTheUsersConfigurationIsRemoved) {
  fs::remove(user_config());
  EXPECT_NE(way(), Way::early_decisions);
}

TEST_F(EarlyDecisionTest, NoticesAConfigurationOfTheSameSizeAndTime) {
  const auto before = fs::last_write_time(user_config());
  test::write_text(user_config().native(), R"({"repositories_default": fals })");
  fs::last_write_time(user_config(), before);
  EXPECT_EQ(way(), Way::failed);
}

TEST_F(EarlyDecisionTest, DependsOnTheSystemsConfigurationAndLayer) {
  const auto text = read_file(file());
  ASSERT_TRUE(text);
  for (const std::string& path :
       {std::string("/etc/enginehost/config.json"), std::string("/var/lib/enginehost")})
    EXPECT_TRUE(
        text->find("absent " + path + "\n") != std::string::npos ||
        (text->find("\nrights ") != std::string::npos && text->find(" " + path + "\n") != std::string::npos))
        << path;
  EXPECT_NE(text->find("\nwritable " + state().native() + "\n"), std::string::npos);
}

TEST_F(EarlyDecisionTest, EndsWhenARepositorysManifestChanges) {
  test::TestBuild better = test::good_build("reference-better");
  better.priority = 90;
  repository_.add(better);
  repository_.write();
  const auto engine = ask();
  ASSERT_TRUE(engine);
  EXPECT_EQ((*engine)->opened().installed.build, "reference-better");
}

// The index holds the digest of the correct manifest, and another one is not used.
TEST_F(EarlyDecisionTest, StaysWhenAManifestChangesThatTheIndexDoesNotList) {
  const fs::path index = repository_.root() / "index.json";
  const auto document = parse_json(*read_file(index), "the index");
  ASSERT_TRUE(document);
  const fs::path manifest =
      index.parent_path() / (*document)["manifests"].as_array().at(0)["path"].as_string();
  test::write_text(manifest.native(), "{}");
  EXPECT_EQ(way(), Way::early_decisions);
  request_.bypass_cache = true;
  const auto engine = ask();
  ASSERT_TRUE(engine);
  EXPECT_EQ((*engine)->opened().installed.build, "reference-good");
  EXPECT_EQ((*engine)->outcome().warnings.front().code, "EH-M05");
}

TEST_F(EarlyDecisionTest, EndsWhenThisProgramsFirstWorkIsForgotten) {
  EXPECT_NE(read_file(file())->find("\nopened before\n"), std::string::npos);
  fs::remove_all(state() / "tried");
  EXPECT_NE(way(), Way::early_decisions);
}

TEST_F(EarlyDecisionTest, EndsWhenTheBuildIsQuarantined) {
  history::Record record;
  record.build = "reference-good";
  record.state = history::State::disabled;
  const auto engine = ask();
  ASSERT_TRUE(engine);
  record.digest = (*engine)->opened().installed.digest;
  record.artifacts_digest = (*engine)->opened().installed.artifacts_digest;
  ASSERT_TRUE(history::write(state(), record));
  EXPECT_EQ(way(), Way::failed);
}

TEST_F(EarlyDecisionTest, EndsWhenABuildIsInstalledOrRemoved) {
  test::write_text((folder_ / "cache" / "refs" / "another.ref").native(), "not a record\n");
  EXPECT_NE(way(), Way::early_decisions);
}

TEST_F(EarlyDecisionTest, EndsWhenTheProbeProgramIsUpdated) {
  fs::last_write_time(helper_, fs::file_time_type::clock::now() + std::chrono::seconds(1));
  EXPECT_EQ(way(), Way::walk);
}

TEST_F(EarlyDecisionTest, EndsWhenTheStateFolderBecomesUnwritable) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to root";
  fs::permissions(state(), fs::perms::owner_read | fs::perms::owner_exec);
  const Way went = way();
  fs::permissions(state(), fs::perms::owner_all);
  EXPECT_NE(went, Way::early_decisions);
}

TEST_F(EarlyDecisionTest, AppliesToItsOwnVariablesOnly) {
  const auto way_with = [&](const char* name) {
    ::setenv(name, "error", 1);
    const Way went = way();
    ::unsetenv(name);
    return went;
  };
  EXPECT_EQ(way_with("SOMETHING_ELSE"), Way::early_decisions);
  for (const char* name : {"ENGINEHOST_LOG", "XDG_DATA_HOME", "https_proxy"})
    EXPECT_NE(way_with(name), Way::early_decisions) << name;
  EXPECT_EQ(way(), Way::early_decisions);
  EXPECT_NE(way_with("CUDA_VISIBLE_DEVICES"), Way::early_decisions);
}

TEST_F(EarlyDecisionTest, AppliesToItsOwnFlagsAndRequestOnly) {
  const settings::FlagValues flags = flags_;
  const OpenRequest open = request_;
  flags_.offline = true;
  EXPECT_NE(way(), Way::early_decisions);
  flags_ = flags;
  flags_.device = "cpu";
  EXPECT_NE(way(), Way::early_decisions);
  flags_ = flags;
  request_.request.version = "1.0";
  EXPECT_NE(way(), Way::early_decisions);
  request_ = open;
  request_.request.flavor = "cpu";
  EXPECT_NE(way(), Way::early_decisions);
  request_ = open;
  request_.request.force = "reference-good";
  EXPECT_NE(way(), Way::early_decisions);
  request_ = open;
  request_.attempt.probe = false;
  EXPECT_NE(way(), Way::early_decisions);
  request_ = open;
  EXPECT_EQ(way(), Way::early_decisions);
}

TEST_F(EarlyDecisionTest, IsNotTakenFromARelativeFolder) {
  flags_.cache = fs::relative(*flags_.cache).native();
  EXPECT_EQ(way(), Way::decision);
  EXPECT_EQ(way(), Way::decision);
}

TEST_F(EarlyDecisionTest, IsBypassedWhileACrashMarkerExists) {
  const auto sentinel = history::Sentinel::raise(state(), "another", "digest", "dlopen");
  ASSERT_TRUE(sentinel);
  EXPECT_EQ(way(), Way::walk);
}

TEST_F(EarlyDecisionTest, DoesNotServeDamagedFiles) {
  fs::path plugin;
  {
    const auto engine = ask();
    ASSERT_TRUE(engine);
    plugin = (*engine)->opened().installed.folder / "libengine_reference.so";
  }
  fs::permissions(plugin, fs::perms::owner_write, fs::perm_options::add);
  test::write_text(plugin.native(), "not an engine any more");
  EXPECT_EQ(way(), Way::walk) << "it is fetched again";
}

TEST_F(EarlyDecisionTest, ADamagedOneIsAMiss) {
  std::string bytes = *read_file(file());
  const std::size_t at = bytes.find("build reference-good");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 6] = 'R';
  const fs::path damaged = file();
  test::write_text(damaged.native(), bytes);
  EXPECT_EQ(way(), Way::decision);
  test::write_text(damaged.native(), "");
  EXPECT_EQ(way(), Way::decision);
  EXPECT_EQ(way(), Way::early_decisions) << "it is made again";
}

TEST_F(EarlyDecisionTest, ACanceledRequestGetsNothing) {
  cancel_.emplace();
  cancel_->cancel();
  const auto engine = ask();
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, "EH-P10");
}

TEST_F(EarlyDecisionTest, IsReadAgainForAnEngineThatIsStillOpen) {
  const auto kept = ask();
  ASSERT_TRUE(kept);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const auto again = ask();
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *kept);
}

// The settings are read only after an engine is open; by then the file may be damaged.
TEST(LateSettings, UnreadableOnesAllowNoDownload) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "config.json", "{ this is no document");
  OpenContext context(
      OpenContext::Places{folder / "cache", folder / "cache/state/here", {}},
      [&]() -> Result<settings::Settings> {
        TRY_ASSIGN(const std::string text, read_file(folder / "config.json", 4096));
        TRY(parse_json(text, "config.json").map([](const Json&) {}));
        return settings::Settings();
      },
      std::nullopt);
  EXPECT_TRUE(context.transfer_options().offline);
  EXPECT_FALSE(context.settings().warnings.empty());
}

}  // namespace
}  // namespace enginehost::open
