// A cache whose state can be read and not written: what was set aside there holds, and new records go
// elsewhere.
#include <gmock/gmock.h>

#include "tests/end-to-end/fault.hpp"

namespace enginehost::test {
namespace {

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

TEST_F(ReadOnlyState, WhatIsDisabledThereStaysDisabled) {
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

// What an earlier open of the read-only cache wrote down elsewhere must not lead past a later disable.
TEST_F(ReadOnlyState, NoTicketLeadsPastADisable) {
  for (int times = 0; times < 3; ++times) ASSERT_EQ(open(read_only).status, 0);
  ASSERT_EQ(quarantine({"disable", "reference-good"}).status, 0);
  EXPECT_EQ(open(read_only).candidate("reference-good")["verdict"].as_string(), "disabled");
  const Ended run = workplace.run(
      "engine-run", {"reference", "--repository", repository.root().native(), "--json"}, read_only);
  EXPECT_NE(run.status, 0) << run.said();
}

}  // namespace
}  // namespace enginehost::test
