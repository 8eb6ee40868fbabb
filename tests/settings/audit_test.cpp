#include "host/settings/audit.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/file_calls.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/settings/records.hpp"
#include "tests/settings/fixture.hpp"

namespace enginehost::settings {
namespace {

using testing::HasSubstr;
using testing::Not;

class Audit : public SettingsTest {
 protected:
  std::filesystem::path state() const { return root_ / "state"; }
  std::filesystem::path file() const { return state() / "audit/audit.jsonl"; }
  void add(const std::string& event, const Json& facts = Json::object(), std::uint64_t rotate = 1u << 20) {
    const auto added = add_event(state(), rotate, event, facts);
    ASSERT_TRUE(added) << added.error().code;
  }
  std::vector<std::string> lines() const { return *read_lines(file()); }
  void replace(const std::vector<std::string>& lines) const {
    ASSERT_TRUE(write_file(file(), join(lines, "\n") + "\n", false));
  }
  AuditReport report() const { return *check_audit(state()); }
};

TEST_F(Audit, AnEventHoldsActionTimeUserAndPlace) {
  add("install", Json::object().set("build", "reference-1").set("bytes", 17));
  const Json event = *parse_json(lines().at(0), "line");
  EXPECT_EQ(event["event"].as_string(), "install");
  EXPECT_EQ(event["build"].as_string(), "reference-1");
  EXPECT_EQ(event["bytes"].as_integer(), 17);
  EXPECT_EQ(event["number"].as_integer(), 1);
  EXPECT_EQ(event["uid"].as_integer(), static_cast<std::int64_t>(User::of_this_process().uid));
  EXPECT_EQ(event["process"].as_integer(), calls::getpid());
  EXPECT_EQ(path_of(event["application"].as_string()).stem(), "settings_tests");
  EXPECT_EQ(event["previous"].as_string(), std::string(64, '0'));
}

TEST_F(Audit, EachLineHoldsTheDigestOfTheOneBeforeIt) {
  for (const char* event : {"fetch", "install", "remove"}) add(event);
  const auto all = lines();
  EXPECT_EQ((*parse_json(all[1], "line"))["previous"].as_string(), sha256_hex(all[0]));
  EXPECT_EQ((*parse_json(all[2], "line"))["previous"].as_string(), sha256_hex(all[1]));
  EXPECT_TRUE(report().problems.empty());
  EXPECT_EQ(report().events, 3);
  EXPECT_EQ(report().last, sha256_hex(all[2]));
}

TEST_F(Audit, SecretsOfUrlsAreNeverWritten) {
  add("fetch", Json::object()
                   .set("url", "https://me:word@files.example/a.whl?token=secret#part")
                   .set("sources", Json::strings({"first https://me:word@b.example/x?sig=secret then text",
                                                  "https://c.example/a@b"})));
  EXPECT_THAT(lines()[0], Not(HasSubstr("secret")));
  EXPECT_THAT(lines()[0], Not(HasSubstr("word")));
  const Json event = *parse_json(lines()[0], "line");
  EXPECT_EQ(event["url"].as_string(), "https://files.example/a.whl");
  EXPECT_EQ(event["sources"].as_array()[0].as_string(), "first https://b.example/x then text");
  EXPECT_EQ(event["sources"].as_array()[1].as_string(), "https://c.example/a@b");
}

TEST_F(Audit, AChangedRemovedAddedOrSwappedLineIsFound) {
  for (int i = 0; i < 5; ++i) add("install", Json::object().set("build", "build-" + std::to_string(i)));
  const auto all = lines();
  ASSERT_TRUE(report().problems.empty());
  auto changed = all;
  changed[2].replace(changed[2].find("build-2"), 7, "build-9");
  replace(changed);
  ASSERT_EQ(report().problems.size(), 1u);
  EXPECT_EQ(report().problems[0].line, 4) << "the one after it does not follow any more";
  auto removed = all;
  removed.erase(removed.begin() + 1);
  replace(removed);
  EXPECT_EQ(report().problems.at(0).line, 2);
  auto added = all;
  added.insert(added.begin() + 3, all[0]);
  replace(added);
  EXPECT_FALSE(report().problems.empty());
  auto swapped = all;
  std::swap(swapped[1], swapped[2]);
  replace(swapped);
  EXPECT_FALSE(report().problems.empty());
  replace({all[0], all[1], all[2], all[3]});
  EXPECT_TRUE(report().problems.empty()) << "a cut end cannot be seen in the log itself";
  EXPECT_NE(report().last, sha256_hex(all[4])) << "but by who kept the last digest";
}

TEST_F(Audit, AfterAPowerCutItContinuesAndReportsTheCutLine) {
  add("install");
  add("remove");
  std::string text = *read_file(file());
  text.resize(text.size() - 40);
  ASSERT_TRUE(write_file(file(), text, false));
  add("fetch");
  ASSERT_EQ(lines().size(), 3u);
  EXPECT_EQ((*parse_json(lines()[2], "line"))["number"].as_integer(), 3);
  ASSERT_EQ(report().problems.size(), 1u);
  EXPECT_EQ(report().problems[0].line, 2);
  EXPECT_THAT(report().problems[0].problem, HasSubstr("cut"));
}

TEST_F(Audit, ALongLogIsRotatedAndTheChainContinues) {
  for (int i = 0; i < 40; ++i) add("install", Json::object().set("build", std::string(200, 'b')), 4096);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(state() / "audit"))
    if (entry.path().extension() == ".jsonl") {
      ++files;
      EXPECT_LT(entry.file_size(), 4096u + 1000u) << entry.path();
    }
  EXPECT_GT(files, 3);
  EXPECT_EQ(report().files, files);
  EXPECT_EQ(report().events, 40);
  EXPECT_TRUE(report().problems.empty()) << report().problems[0].problem;
  // The oldest log may be removed, but not one in the middle.
  std::vector<std::filesystem::path> rotated;
  for (const auto& entry : std::filesystem::directory_iterator(state() / "audit"))
    if (matches_pattern(path_text(entry.path().filename()), "audit-*.jsonl")) rotated.push_back(entry.path());
  std::sort(rotated.begin(), rotated.end());
  std::filesystem::remove(rotated[0]);
  EXPECT_TRUE(report().problems.empty());
  std::filesystem::remove(rotated[2]);
  EXPECT_EQ(report().problems.size(), 1u);
}

TEST_F(Audit, WithoutAFolderNothingIsWrittenAndNothingFails) {
  EXPECT_TRUE(add_event({}, 4096, "install", Json::object()));
  EXPECT_EQ(check_audit({})->events, 0);
  EXPECT_EQ(report().events, 0);
}

}  // namespace
}  // namespace enginehost::settings
