// A cached decision leads to the engine that a new decision would choose, and never to another one.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "host/explain/explain.hpp"
#include "host/history/sentinel.hpp"
#include "host/open/open.hpp"
#include "tests/open/fixture.hpp"
#ifndef _WIN32
#include "tests/support/posix/limit.hpp"
#endif

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { test::set_variable(name, value); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { test::remove_variable(name_); }

 private:
  const char* name_;
};

class CachedDecisionTest : public LoadOrder {
 protected:
  void SetUp() override { open_until_ready(); }
  // The next open decides again and still finds an engine.
  void expect_decided_again() {
    const Outcome outcome = open();
    EXPECT_EQ(outcome.state, State::opened);
    EXPECT_FALSE(outcome.by_cached_decision);
  }
};

TEST_F(CachedDecisionTest, LeadsToTheSameBuildAgain) {
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = open();
    ASSERT_EQ(outcome.state, State::opened);
    EXPECT_TRUE(outcome.by_cached_decision);
    EXPECT_EQ(outcome.opened->installed.build, "reference-good");
    EXPECT_TRUE(outcome.proven_before);
    EXPECT_FALSE(outcome.fallback);
    EXPECT_FALSE(outcome.opened->devices.empty());
  }
}

TEST_F(CachedDecisionTest, CandidatesAreComputedOnRequest) {
  Outcome outcome = open();
  ASSERT_TRUE(outcome.by_cached_decision);
  EXPECT_TRUE(outcome.plan.candidates.empty());
  const Json document = open::document(*context_, outcome);
  EXPECT_EQ(document["outcome"]["build"].as_string(), "reference-good");
  ASSERT_EQ(document["candidates"].as_array().size(), 1u);
  EXPECT_EQ(document["candidates"].as_array()[0]["verdict"].as_string(), "chosen");
  EXPECT_EQ(document["request"]["engine"].as_string(), "reference");
}

TEST_F(CachedDecisionTest, IsBypassedForARequestWithCandidates) {
  request_.bypass_cache = true;
  const Outcome outcome = open();
  EXPECT_FALSE(outcome.by_cached_decision);
  EXPECT_EQ(outcome.plan.candidates.size(), 1u);
}

TEST_F(CachedDecisionTest, EndsWhenTheBuildIsQuarantined) {
  history::Record record;
  record.build = "reference-good";
  record.state = history::State::disabled;
  const history::Record proof = *context_->history().find("reference-good");
  record.digest = proof.digest;
  record.artifacts_digest = proof.artifacts_digest;
  ASSERT_TRUE(history::write(state(), record));
  EXPECT_EQ(open().state, State::failed);
}

TEST_F(CachedDecisionTest, EndsWhenTheProofIsCleared) {
  ASSERT_TRUE(history::clear(state(), "reference-good").value_or(false));
  const Outcome outcome = open();
  EXPECT_FALSE(outcome.by_cached_decision);
  EXPECT_TRUE(outcome.probed);
}

TEST_F(CachedDecisionTest, RepeatsTheWarningsOfTheProof) {
  history::Record proof = *context_->history().find("reference-good");
  const Diagnosis printed = diagnose(Code::engine_writes_to_standard_output).with(Key::output, "two\nlines");
  proof.facts.set("warnings", Json::array().push(explain::to_json(printed)));
  ASSERT_TRUE(history::write(state(), proof));
  open_until_ready();
  const Outcome outcome = open();
  EXPECT_TRUE(outcome.by_cached_decision);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(outcome.warnings[0].code, "EH-R07");
  EXPECT_EQ(outcome.warnings[0].value(Key::output), "two\nlines");
}

#ifndef _WIN32  // has no numeric permissions
TEST_F(CachedDecisionTest, WarnsOfAnIgnoredLayerUntilItIsFixed) {
  const fs::path layer = folder_ / "layer";
  fs::create_directories(layer / "refs");
  fs::permissions(layer, fs::perms::all);
  test::write_text(test::config_of_tests(), "{\"repositories_default\": false, \"system_layers\": [" +
                                                Json(path_text(layer)).dump() + "]}");
  open_until_ready();
  Outcome outcome = open();
  ASSERT_TRUE(outcome.by_cached_decision);
  const std::string why = path_text(layer) + " is not trusted: everybody may write into it";
  ASSERT_EQ(context_->warnings().size(), 1u);
  EXPECT_NE(context_->warnings()[0].find(why), std::string::npos) << context_->warnings()[0];
  const Json document = open::document(*context_, outcome);
  ASSERT_EQ(document["warnings"].as_array().size(), 1u) << "also where the layer was checked again";
  EXPECT_EQ(document["warnings"].as_array()[0]["text"].as_string(), context_->warnings()[0]);
  fs::permissions(layer, fs::perms::owner_all);
  expect_decided_again();
  EXPECT_TRUE(context_->warnings().empty());
}

TEST_F(CachedDecisionTest, IsNotStoredWhileALayerHasATransientFault) {
  const fs::path layer = folder_ / "layer";
  fs::create_directory_symlink("nowhere", layer);
  test::write_text(test::config_of_tests(), "{\"repositories_default\": false, \"system_layers\": [" +
                                                Json(path_text(layer)).dump() + "]}");
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    EXPECT_FALSE(open().by_cached_decision);
    EXPECT_EQ(context_->warnings().size(), 1u);
  }
}
#endif

TEST_F(CachedDecisionTest, EndsWhenAnotherBuildFailsOrIsProven) {
  history::Record other;
  other.build = "something-else";
  other.state = history::State::unfit;
  ASSERT_TRUE(history::write(state(), other));
  expect_decided_again();
}

TEST_F(CachedDecisionTest, EndsWhenAManifestOffersABetterBuild) {
  flags_.update = "open";
  open_until_ready();
  test::TestBuild better = test::good_build("reference-better");
  better.version = "1.1.0";
  repository_.add(better);
  repository_.write();
  const Outcome outcome = open();
  EXPECT_FALSE(outcome.by_cached_decision);
  ASSERT_EQ(outcome.state, State::opened);
  EXPECT_EQ(outcome.opened->installed.build, "reference-better");
}

TEST_F(CachedDecisionTest, EndsWhenABuildIsInstalledOrRemoved) {
  test::write_text(folder_ / "cache" / "refs" / "another.ref", "not a record\n");
  expect_decided_again();
}

TEST_F(CachedDecisionTest, EndsWhenALoaderOrRuntimeVariableIsSet) {
  const Variable visible("CUDA_VISIBLE_DEVICES", "0");
  expect_decided_again();
}

TEST_F(CachedDecisionTest, StaysWhenAnUnrelatedVariableChanges) {
  const Variable other("SOMETHING_ELSE", "1");
  EXPECT_TRUE(open().by_cached_decision);
}

TEST_F(CachedDecisionTest, EndsWhenTheProbeProgramIsUpdated) {
  fs::last_write_time(helper_, fs::file_time_type::clock::now() + std::chrono::seconds(1));
  expect_decided_again();
}

// Each release has its own probe program; one proof by each is enough.
TEST_F(CachedDecisionTest, IsKeptByEachOfTwoReleasesThatShareACache) {
  const fs::path other = folder_ / (std::string("newer-probe") + test::program_ending);
  fs::copy_file(helper_, other);
  fs::last_write_time(other, fs::last_write_time(helper_) - std::chrono::hours(1));
  const auto open_by = [&](const fs::path& helper) {
    flags_.helper = path_text(helper);
    return open();
  };
  EXPECT_TRUE(open_by(other).probed);
  for (const fs::path& helper : {helper_, other, helper_, other}) {
    const Outcome outcome = open_by(helper);
    EXPECT_EQ(outcome.state, State::opened);
    EXPECT_FALSE(outcome.probed);
    EXPECT_TRUE(outcome.proven_before);
  }
  for (const fs::path& helper : {helper_, other}) {
    flags_.helper = path_text(helper);
    open_until_ready();
  }
  EXPECT_TRUE(open_by(helper_).by_cached_decision);
  EXPECT_TRUE(open_by(other).by_cached_decision);
}

TEST_F(CachedDecisionTest, EndsWhenALibraryThatTheProofDependsOnChanges) {
  history::Record proof = *context_->history().find("reference-good");
  proof.dependency_stamps.push_back(history::dependency_stamp_of(folder_ / "libdependency.so"));
  ASSERT_TRUE(history::write(state(), proof));
  open_until_ready();
  test::write_text(folder_ / "libdependency.so", "it has appeared");
  EXPECT_FALSE(open().by_cached_decision);
}

TEST_F(CachedDecisionTest, AppliesToItsOwnRequestOnly) {
  const OpenRequest before = request_;
  request_.request.version = "1.0";
  EXPECT_FALSE(open().by_cached_decision);
  request_ = before;
  request_.request.flavor = "cpu";
  EXPECT_FALSE(open().by_cached_decision);
  request_ = before;
  request_.request.device = "cpu:0";
  EXPECT_FALSE(open().by_cached_decision);
  request_ = before;
  request_.request.offline = true;
  EXPECT_FALSE(open().by_cached_decision);
  request_ = before;
  request_.request.force = "reference-good";
  EXPECT_FALSE(open().by_cached_decision);
  request_ = before;
  request_.attempt.probe = false;
  EXPECT_FALSE(open().by_cached_decision);
  request_ = before;
  EXPECT_TRUE(open().by_cached_decision);
}

TEST_F(CachedDecisionTest, AppliesToItsOwnSettingsOnly) {
  flags_.offline = true;
  EXPECT_FALSE(open().by_cached_decision);
  flags_.offline.reset();
  flags_.device = "cpu";
  EXPECT_FALSE(open().by_cached_decision);
  flags_.device.reset();
  EXPECT_TRUE(open().by_cached_decision);
  test::TestRepository second(folder_ / "second");
  second.write();
  flags_.repositories.push_back(path_text(second.root()));
  EXPECT_FALSE(open().by_cached_decision);
}

TEST_F(CachedDecisionTest, AppliesToItsOwnVariablesOnly) {
  for (const char* name : {"ENGINEHOST_LOG", "XDG_DATA_HOME", "https_proxy"}) {
    const Variable variable(name, "error");
    EXPECT_FALSE(open().by_cached_decision) << name;
  }
  EXPECT_TRUE(open().by_cached_decision);
}

// A relative folder means another place below each current folder.
TEST_F(CachedDecisionTest, ThereIsNoneForARelativeFolder) {
  flags_.cache = path_text(fs::relative(path_of(*flags_.cache)));
  for (int i = 0; i < 2; ++i) expect_decided_again();
}

// The decision holds what an open needs of the build's record, unchanged.
TEST_F(CachedDecisionTest, HoldsTheRecordOfTheBuild) {
  const Outcome outcome = open();
  const cache::Installed& known = outcome.opened->installed;
  const auto recorded = context_->store().record_of("reference-good");
  ASSERT_TRUE(recorded && *recorded);
  EXPECT_EQ(cache::record_lines(known), cache::record_lines(**recorded));
  EXPECT_EQ(known.folder, (*recorded)->folder);
  EXPECT_EQ(known.layer, (*recorded)->layer);
  EXPECT_EQ(known.manifest, "");
  EXPECT_NE(read_file(decision_file())->find("\nrecord engine reference\n"), std::string::npos);
}

// A removal waits until the engine is closed, as with any other open.
TEST_F(CachedDecisionTest, KeepsTheBuildInUse) {
  const Outcome outcome = open();
  const fs::path lease = folder_ / "cache" / "leases" / (outcome.opened->installed.digest + ".lk");
  const auto lock = cache::FileLock::try_exclusive(lease, "");
  ASSERT_TRUE(lock);
  EXPECT_FALSE(lock->has_value());
}

TEST_F(CachedDecisionTest, IsBypassedWhileTheBuildIsBeingRemoved) {
  const fs::path name = fs::directory_iterator(folder_ / "cache" / "leases")->path();
  {
    const auto lock = cache::FileLock::exclusive(name, "");
    ASSERT_TRUE(lock);
    auto decision = decisions_for(flags_, request_).find();
    ASSERT_TRUE(decision);
    context_ = std::make_unique<OpenContext>(settings());
    EXPECT_FALSE(open_by(*context_, request_, *decision, {})) << "somebody takes it away, or its lock";
  }
  fs::remove(name);
  EXPECT_FALSE(open().by_cached_decision) << "it has no lock any more";
}

TEST_F(CachedDecisionTest, EndsWhenTheUsersConfigurationChangesOrIsRemoved) {
  test::write_text(test::config_of_tests(), R"({"repositories_default": false, "flavor": "cpu"})");
  EXPECT_FALSE(open().by_cached_decision);
  open_until_ready();
  fs::remove(test::config_of_tests());
  EXPECT_FALSE(decisions_for(flags_, request_).find());
}

TEST_F(CachedDecisionTest, NoticesAConfigurationOfTheSameSizeAndTime) {
  const fs::path config = test::config_of_tests();
  const auto before = fs::last_write_time(config);
  test::write_text(config, R"({"repositories_default": fals })");
  fs::last_write_time(config, before);
  EXPECT_FALSE(decisions_for(flags_, request_).find());
}

#ifndef _WIN32
TEST_F(CachedDecisionTest, DependsOnTheSystemsConfigurationAndLayer) {
  const auto text = read_file(decision_file());
  ASSERT_TRUE(text);
  for (const std::string& path :
       {std::string("/etc/enginehost/config.json"), std::string("/var/lib/enginehost")})
    EXPECT_TRUE(
        text->find("absent " + path + "\n") != std::string::npos ||
        (text->find("\nrights ") != std::string::npos && text->find(" " + path + "\n") != std::string::npos))
        << path;
  EXPECT_NE(text->find("\nwritable " + state().native() + "\n"), std::string::npos);
}

TEST_F(CachedDecisionTest, EndsWhenTheStateFolderBecomesUnwritable) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to root";
  fs::permissions(state(), fs::perms::owner_read | fs::perms::owner_exec);
  const auto found = decisions_for(flags_, request_).find();
  fs::permissions(state(), fs::perms::owner_all);
  EXPECT_FALSE(found);
}
#endif

// The index holds the digest of the correct manifest, and another one is not used.
TEST_F(CachedDecisionTest, StaysWhenAManifestChangesThatTheIndexDoesNotList) {
  const fs::path index = repository_.root() / "index.json";
  const auto document = parse_json(*read_file(index), "the index");
  ASSERT_TRUE(document);
  const fs::path manifest =
      index.parent_path() / path_of((*document)["manifests"].as_array().at(0)["path"].as_string());
  test::write_text(manifest, "{}");
  EXPECT_TRUE(open().by_cached_decision);
  request_.bypass_cache = true;
  const Outcome outcome = open();
  ASSERT_EQ(outcome.state, State::opened);
  EXPECT_EQ(outcome.opened->installed.build, "reference-good");
  EXPECT_EQ(outcome.warnings.front().code, "EH-M05");
}

TEST_F(CachedDecisionTest, EndsWhenThisProgramsFirstOpenIsForgotten) {
  EXPECT_NE(read_file(decision_file())->find("\nopened_before yes\n"), std::string::npos);
  fs::remove_all(state() / "tried");
  EXPECT_FALSE(open().by_cached_decision);
  EXPECT_FALSE(fs::is_empty(state() / "tried"));
  open_until_ready();
}

// A warning that the next open would not give again must not take the place of one that it would.
TEST_F(CachedDecisionTest, IsNotKeptWithAWarningThatMayPass) {
  request_.bypass_cache = true;
  const Outcome outcome = open();
  ASSERT_EQ(outcome.state, State::opened);
  request_.bypass_cache = false;
  const auto keep = [&](const std::vector<Diagnosis>& warnings) {
    fs::remove_all(decisions());
    DecisionCache cache = decisions_for(flags_, request_);
    cache.begin(*context_);
    cache.keep(*context_, outcome.plan, outcome.opened->installed, false, warnings);
    return fs::exists(decisions());
  };
  EXPECT_TRUE(keep({}));
  history::Record proof = *context_->history().find("reference-good");
  const Diagnosis lasting = diagnose(Code::engine_writes_to_standard_output).with(Key::output, "text");
  proof.facts.set("warnings", Json::array().push(explain::to_json(lasting)));
  ASSERT_TRUE(history::write(state(), proof));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));  // until the record is at rest
  context_ = std::make_unique<OpenContext>(settings());
  EXPECT_TRUE(keep({lasting}));
  EXPECT_FALSE(keep({diagnose(Code::library_from_other_folder).with(Key::library, "libpassing.so")}))
      << "as many, but another";
}

TEST_F(CachedDecisionTest, RemovesTheFilesOfEarlierVersions) {
  const fs::path early = folder_ / "cache" / "state" / "shortcuts", late = state() / "ready";
  test::write_text(early / "0123456789abcdef", "enginehost-shortcut 5\n");
  test::write_text(late / "0123456789abcdef", "enginehost-ready 2\n");
  fs::remove_all(decisions());
  open_until_ready();
  EXPECT_TRUE(context_->warnings().empty());
  EXPECT_FALSE(fs::exists(early));
  EXPECT_FALSE(fs::exists(late));
}

TEST_F(CachedDecisionTest, DoesNotServeDamagedFiles) {
  const fs::path plugin = context_->store().find("reference-good").value()->folder / test::plugin_name;
  fs::permissions(plugin, fs::perms::owner_write, fs::perm_options::add);
  test::write_text(plugin, "not an engine any more");
  const Outcome outcome = open();
  EXPECT_FALSE(outcome.by_cached_decision);
  EXPECT_EQ(outcome.state, State::opened) << "it is fetched again";
}

TEST_F(CachedDecisionTest, ADamagedOneIsAMiss) {
  const fs::path decision = decision_file();
  std::string bytes = *read_file(decision);
  const std::size_t at = bytes.find("build reference-good");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 6] = 'R';
  test::write_text(decision, bytes);
  expect_decided_again();
  test::write_text(decision, "");
  expect_decided_again();
}

// Run in the process below, which ends without erasing the marker.
TEST(DyingProcess, DISABLED_DiesWhileLoading) {
  const auto sentinel =
      history::Sentinel::raise(path_of(std::getenv("ENGINEHOST_TEST_STATE")), "reference-good",
                               std::getenv("ENGINEHOST_TEST_DIGEST"), "dlopen");
  std::_Exit(sentinel ? 0 : 1);
}

TEST_F(CachedDecisionTest, EndsWhenAProcessDiedWhileLoading) {
  ChildRequest dying;
  dying.argv = {executable_path(), "--gtest_filter=DyingProcess.*", "--gtest_also_run_disabled_tests"};
  dying.environment = {"ENGINEHOST_TEST_STATE=" + path_text(state()),
                       "ENGINEHOST_TEST_DIGEST=" + context_->history().find("reference-good")->digest};
  const auto died = run_child(dying);
  ASSERT_TRUE(died && died->succeeded());
  EXPECT_FALSE(open().by_cached_decision);
}

TEST_F(CachedDecisionTest, IsBypassedWhileACrashMarkerExists) {
  const auto sentinel = history::Sentinel::raise(state(), "another", "digest", "dlopen");
  ASSERT_TRUE(sentinel);
  expect_decided_again();
}

#ifndef _WIN32
// Only the decision records that the better build may be tried again.
TEST_F(LoadOrder, TheCachedDecisionOfAFallbackEndsWithARaisedLimit) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_STACK, &limit), 0);
  constexpr rlim_t narrow = rlim_t{1} << 20;
  if (limit.rlim_cur < 2 * narrow) GTEST_SKIP() << "there is no larger stack to be had";
  std::optional<test::Limit> lower(std::in_place, RLIMIT_STACK, narrow);
  test::TestBuild better = test::good_build("reference-better");
  better.priority = 90;
  repository_.add(better);
  repository_.write();
  open();
  const history::Record* const proof = context_->history().find("reference-better");
  ASSERT_NE(proof, nullptr);
  history::Record record = *proof;
  record.state = history::State::quarantined;
  record.retry_after = OpenContext::now() + 1000;
  record.host = history::process_limits();
  ASSERT_TRUE(history::write(state(), record));
  open_until_ready();
  EXPECT_TRUE(open().fallback);
  lower.reset();
  const Outcome outcome = open();
  EXPECT_FALSE(outcome.by_cached_decision);
  ASSERT_EQ(outcome.state, State::opened);
  EXPECT_EQ(outcome.opened->installed.build, "reference-better");
}
#endif

TEST_F(LoadOrder, StoresNoDecisionWhileARepositoryCannotBeRead) {
  flags_.repositories.push_back(path_text(folder_ / "missing"));
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = open();
    ASSERT_EQ(outcome.state, State::opened);
    EXPECT_FALSE(outcome.by_cached_decision);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
  }
}

TEST_F(LoadOrder, StoresNoDecisionOnFilesThatWereJustWritten) {
  ASSERT_EQ(open().state, State::opened);
  open();
  EXPECT_FALSE(fs::exists(decisions()));
}

}  // namespace
}  // namespace enginehost::open
