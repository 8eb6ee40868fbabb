// A cache whose state is read-only: quarantines in it count, and new records go elsewhere.
#include <gmock/gmock.h>

#include "tests/end-to-end/fault.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ReadOnlyState : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_mount()) GTEST_SKIP() << "a folder that nobody can write needs the right to mount";
    repository.add(good_build());
    repository.write();
    ASSERT_EQ(open().status, 0);
    read_only.launcher = with_read_only(workplace.cache());
  }
  Ended open(const RunOptions& options = {}) const {
    return workplace.info({"reference", "--repository", repository.root().native(), "--json"}, options);
  }
  Ended quarantine(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.insert(arguments.begin(), "quarantine");
    arguments.push_back("--json");
    return workplace.run("engine-cache", arguments, options);
  }

  Workplace workplace;
  TestRepository repository{workplace.folder() / "repository"};
  RunOptions read_only;
};

TEST_F(ReadOnlyState, KeepsADisable) {
  ASSERT_EQ(quarantine({"disable", "reference-good"}).status, 0);
  const Ended run = open(read_only);
  EXPECT_NE(run.status, 0) << run.said();
  EXPECT_EQ(run.candidate("reference-good")["verdict"].as_string(), "disabled") << run.said();
  const Ended list = quarantine({"list"}, read_only);
  ASSERT_EQ(list.document["records"].as_array().size(), 1u) << list.said();
  EXPECT_EQ(list.document["records"].as_array()[0]["state"].as_string(), "disabled");
  for (const char* action : {"enable", "clear"}) {
    const Ended ended = quarantine({action, "reference-good"}, read_only);
    EXPECT_EQ(ended.status, 7) << ended.said();
    EXPECT_EQ(ended.code(), "EH-F16");
    EXPECT_THAT(ended.diagnosis()["cause"].as_string(), HasSubstr((workplace.cache() / "state").native()));
  }
  EXPECT_EQ(quarantine({"enable", "reference-good"}).status, 0);
  EXPECT_EQ(open(read_only).status, 0);
}

// A publisher's key that was trusted while the cache was writable stays trusted.
TEST_F(ReadOnlyState, KeepsTrustedKeys) {
  const std::string key = "RWQBAgMEBQYHCAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
  const Ended added = workplace.run("engine-cache", {"trust", "add", key, "--json"});
  ASSERT_EQ(added.status, 0) << added.said();
  const Ended list = workplace.run("engine-cache", {"trust", "list", "--json"}, read_only);
  ASSERT_EQ(list.document["keys"].as_array().size(), 1u) << list.said();
  EXPECT_FALSE(list.document["keys"].as_array()[0]["own"].as_bool());
  EXPECT_THAT(list.document["keys"].as_array()[0]["file"].as_string(),
              HasSubstr((workplace.cache() / "state").native()));
  // Unless another user may have put it there.
  for (const auto& state : std::filesystem::directory_iterator(workplace.cache() / "state")) {
    using std::filesystem::perms;
    const auto trust = state.path() / "trust";
    if (!std::filesystem::exists(trust)) continue;
    std::filesystem::permissions(trust, perms::others_write, std::filesystem::perm_options::add);
    const Ended doubtful = workplace.run("engine-cache", {"trust", "list", "--json"}, read_only);
    EXPECT_THAT(doubtful.document["keys"].as_array(), testing::IsEmpty()) << doubtful.said();
    std::filesystem::permissions(trust, perms::others_write, std::filesystem::perm_options::remove);
  }
  const std::string id = added.document["added"].as_string();
  const Ended removed = workplace.run("engine-cache", {"trust", "remove", id, "--json"}, read_only);
  EXPECT_EQ(removed.status, 7) << removed.said();
  EXPECT_EQ(removed.code(), "EH-F16");
  EXPECT_THAT(removed.diagnosis()["remedy"].dump(), HasSubstr("as the owner of"));
  EXPECT_EQ(workplace.run("engine-cache", {"trust", "remove", id}).status, 0);
}

// The remedy for an unreadable record works where the record lies.
TEST_F(ReadOnlyState, AnUnreadableRecordGetsARemedyThatWorksThere) {
  ASSERT_EQ(quarantine({"disable", "reference-good"}).status, 0);
  for (const auto& state : std::filesystem::directory_iterator(workplace.cache() / "state"))
    if (const auto file = state.path() / "history/reference-good.json"; std::filesystem::exists(file))
      std::filesystem::resize_file(file, 30);
  const auto reported = testing::AllOf(HasSubstr("reference-good.json is not a readable record"),
                                       HasSubstr("a user who may write in "),
                                       testing::Not(HasSubstr("engine-cache quarantine clear")));
  EXPECT_THAT(quarantine({"list"}, read_only).document["warnings"].dump(), reported);
  EXPECT_THAT(workplace.run("engine-cache", {"verify", "--json"}, read_only).document["records"].dump(),
              reported);
  // The other remedies.
  EXPECT_EQ(quarantine({"disable", "reference-good"}, read_only).status, 0);
  EXPECT_EQ(open(read_only).candidate("reference-good")["verdict"].as_string(), "disabled");
}

// A decision that an earlier open of the read-only cache stored elsewhere must not skip a later disable.
TEST_F(ReadOnlyState, ACachedDecisionDoesNotSkipADisable) {
  for (int times = 0; times < 3; ++times) ASSERT_EQ(open(read_only).status, 0);
  ASSERT_EQ(quarantine({"disable", "reference-good"}).status, 0);
  EXPECT_EQ(open(read_only).candidate("reference-good")["verdict"].as_string(), "disabled");
  const Ended run = workplace.run(
      "engine-run", {"reference", "--repository", repository.root().native(), "--json"}, read_only);
  EXPECT_NE(run.status, 0) << run.said();
}

// Another cache would not help a user who imports for everybody.
TEST_F(ReadOnlyState, AnUnwritableLayerIsReportedWithItsOwner) {
  const fs::path layer = workplace.folder() / "layer";
  fs::create_directories(layer);
  const std::string bundle = (workplace.folder() / "lab.bundle").native();
  ASSERT_EQ(workplace.run("engine-cache", {"export", bundle, "reference-good"}).status, 0);
  workplace.configure(Json::object()
                          .set("repositories_default", false)
                          .set("system_layers", Json::array().push(layer.native())));
  RunOptions options;
  options.launcher = with_read_only(layer);
  const Ended ended =
      workplace.run("engine-cache", {"import", bundle, "--layer", "system", "--unsigned", "--json"}, options);
  EXPECT_EQ(ended.code(), "EH-F16") << ended.said();
  EXPECT_THAT(ended.diagnosis()["remedy"].dump(), HasSubstr("as the owner of " + layer.native()));
  EXPECT_THAT(ended.diagnosis()["context"].dump(), HasSubstr("without --layer system"));
  EXPECT_THAT(ended.diagnosis()["remedy"].dump(), testing::Not(HasSubstr("--cache")));
}

// Another cache would not help a user who named a folder for the state.
TEST_F(ReadOnlyState, AnUnwritableStateFolderIsReportedWithItsSetting) {
  const fs::path state = workplace.folder() / "state";
  fs::create_directories(state);
  workplace.configure(Json::object().set("repositories_default", false).set("state", state.native()));
  RunOptions options;
  options.launcher = with_read_only(state);
  const std::string key = "RWQBAgMEBQYHCAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
  for (const Ended& ended : {quarantine({"disable", "reference-good"}, options),
                             workplace.run("engine-cache", {"trust", "add", key, "--json"}, options)}) {
    EXPECT_EQ(ended.code(), "EH-F16") << ended.said();
    EXPECT_THAT(ended.diagnosis()["remedy"].dump(),
                HasSubstr("config.json, to a folder that this user can write"));
    EXPECT_THAT(ended.diagnosis()["remedy"].dump(), testing::Not(HasSubstr("--cache")));
  }
}

}  // namespace
}  // namespace enginehost::test
