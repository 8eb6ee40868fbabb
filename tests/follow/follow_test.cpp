// The loop over releases: what comes into the manifest, what stays, and what a run leaves behind.
#include <chrono>
#include <thread>

#include "tests/follow/fixture.hpp"

namespace enginehost::follow {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(FollowTest, WritesTheNewestReleases) {
  index.publish("toy", "1.2");
  const Report first = report();
  EXPECT_TRUE(first.changed);
  EXPECT_THAT(states(first), ElementsAre("1.1 new", "1.2 new"));
  EXPECT_THAT(builds(), ElementsAre("1.1", "1.2"));
  EXPECT_EQ(first_failure(first), nullptr);
  EXPECT_THAT(text_of(first), HasSubstr("decided only"));
}

TEST_F(FollowTest, ReportsWhatItFetchedOfEachWheel) {
  const Report first = report();
  ASSERT_EQ(first.archives.size(), 2u);
  std::uint64_t sizes = 0, served = 0;
  for (const ReadArchive& one : first.archives) {
    EXPECT_TRUE(one.whole) << one.file;
    EXPECT_EQ(one.size, std::filesystem::file_size(index.server.root() / "files" / one.file));
    sizes += one.size;
  }
  for (const std::string& line : split(index.server.log(), '\n'))
    if (const auto words = split(line, ' '); words.size() > 3 && words[1].starts_with("/files/"))
      served += std::stoull(words[3]);
  EXPECT_EQ(bytes_of(first).fetched, served);
  EXPECT_EQ(bytes_of(first).whole, sizes);
  EXPECT_EQ(to_json(first)["archives"].as_array().size(), 2u);
  EXPECT_THAT(text_of(first), HasSubstr("fetched of 2 wheels, 2 of them whole"));
  EXPECT_TRUE(report().archives.empty());
}

TEST_F(FollowTest, ASecondRunChangesNothing) {
  report();
  const std::string before = manifest(), memory = test::read_text(memory_file);
  const int asked = index.server.requests("GET /files/");
  now += a_day;
  const Report second = report();
  EXPECT_FALSE(second.changed);
  EXPECT_THAT(states(second), ElementsAre("1.0 unchanged", "1.1 unchanged"));
  EXPECT_EQ(manifest(), before);
  EXPECT_EQ(test::read_text(memory_file), memory);
  EXPECT_EQ(index.server.requests("GET /files/"), asked);
}

TEST_F(FollowTest, NewReleasesAreTakenAndTheOldestDropped) {
  report();
  index.publish("toy", "1.2");
  const Report second = report();
  EXPECT_THAT(states(second), ElementsAre("1.1 unchanged", "1.2 new"));
  EXPECT_THAT(second.dropped, ElementsAre("toy-1.0-cpu-linux-x86_64"));
  EXPECT_THAT(builds(), ElementsAre("1.1", "1.2"));
}

TEST_F(FollowTest, KeptReleasesStay) {
  index.publish("toy", "1.2");
  index.publish("toy", "1.3");
  write_plan(R"("versions": ">=1.0", "newest": 1, "keep": ["1.1"])");
  report();
  EXPECT_THAT(builds(), ElementsAre("1.1", "1.3"));
}

TEST_F(FollowTest, TheNewestOfEachMinorVersionCounts) {
  for (const char* const version : {"1.1.1", "1.2", "1.2.1", "1.2.2"}) index.publish("toy", version);
  write_plan(R"("versions": ">=1.0", "newest": 2, "newest_of": "minor")");
  report();
  EXPECT_THAT(builds(), ElementsAre("1.1.1", "1.2.2"));
}

TEST_F(FollowTest, VersionsOutsideOfTheRangeAreNotTaken) {
  index.publish("toy", "3.0");
  EXPECT_THAT(states(report()), ElementsAre("1.0 new", "1.1 new"));
}

TEST_F(FollowTest, CheckWritesNothing) {
  const Report checked = report(true);
  EXPECT_TRUE(checked.changed);
  EXPECT_THAT(states(checked), ElementsAre("1.0 to derive", "1.1 to derive"));
  EXPECT_FALSE(exists(manifest_file));
  EXPECT_FALSE(exists(folder / "facts"));
  report();
  EXPECT_FALSE(report(true).changed);
  index.publish("toy", "1.2");
  EXPECT_TRUE(report(true).changed);
}

TEST_F(FollowTest, OnlyDerivesTheNamedVersions) {
  EXPECT_THAT(states(report(false, {"1.1"})), ElementsAre("1.0 left", "1.1 new"));
  EXPECT_THAT(builds(), ElementsAre("1.1"));
  index.publish("toy", "1.2");
  index.publish("toy", "1.3");
  EXPECT_THAT(states(report(false, {"1.3"})), ElementsAre("1.1 left", "1.2 left", "1.3 new"));
  EXPECT_THAT(builds(), ElementsAre("1.1", "1.3"));
}

TEST_F(FollowTest, PluginsThatAreCompiledLaterStay) {
  std::string plan = test::read_text(plan_file);
  const std::size_t begin = plan.find("{\"version\": \"1\", \"license\": \"toy\", \"artifacts\""),
                    end = plan.find("},\n \"builds\"");
  plan.replace(begin, end - begin,
               R"({"plugin_of": "toy", "os": "linux", "arch": "x86_64", "license": "toy"})");
  test::write_text(plan_file, plan);
  report();
  EXPECT_THAT(manifest(), HasSubstr(R"("toy-plugin": {"plugin_of":"toy","os":"linux","arch":"x86_64")"));
}

TEST_F(FollowTest, ARowsComponentMayStandInThePlanToo) {
  report();
  const std::string id = "toy-1.1-linux-x86_64";
  const auto made = parse_json(manifest(), "manifest");
  ASSERT_TRUE(made);
  std::string plan = test::read_text(plan_file);
  plan.replace(plan.find("\"components\": {"), 15,
               "\"components\": {\"" + id + "\": " + (*made)["components"][id].dump() + ", ");
  test::write_text(plan_file, plan);
  report();
  const int asked = index.server.requests("GET /files/");
  EXPECT_THAT(states(report()), ElementsAre("1.0 unchanged", "1.1 unchanged"));
  EXPECT_EQ(index.server.requests("GET /files/"), asked);
}

TEST_F(FollowTest, AChangedPlanDerivesAgain) {
  report();
  std::string plan = test::read_text(plan_file);
  plan.replace(plan.find("\"search\": [\"toy\"]"), 17, "\"search\": [\"toy\", \"more\"]");
  test::write_text(plan_file, plan);
  EXPECT_THAT(states(report(true)), ElementsAre("1.0 to derive", "1.1 to derive"));
  report();
  EXPECT_THAT(states(report()), ElementsAre("1.0 unchanged", "1.1 unchanged"));
}

TEST_F(FollowTest, ARowThatWasChangedByHandIsDerivedAgain) {
  report();
  const std::string right = manifest();
  std::string wrong = right;
  const std::size_t digest = wrong.find("\"sha256\":\"", wrong.find("toy-1.1-linux"));
  wrong[digest + 10] = wrong[digest + 10] == '0' ? '1' : '0';
  test::write_text(manifest_file, wrong);
  // The manifest names other bytes than the index: that is for a person.
  EXPECT_THAT(codes(report()), testing::Contains("EH-M20"));
  std::string flavor = right;
  flavor.replace(flavor.rfind("\"flavor\":\"cpu\""), 14, "\"flavor\":\"gpu\"");
  test::write_text(manifest_file, flavor);
  report();
  EXPECT_EQ(manifest(), right);
}

TEST_F(FollowTest, AFailedReleaseLeavesTheOthers) {
  report();
  const std::string before = manifest();
  index.publish("toy", "1.2", {}, "py3-none-win_amd64");  // no wheel for the row
  const Report second = report();
  EXPECT_THAT(states(second), ElementsAre("1.1 unchanged", "1.2 failed"));
  ASSERT_NE(first_failure(second), nullptr);
  EXPECT_THAT(builds(), ElementsAre("1.1"));
}

TEST_F(FollowTest, AnIndexThatDoesNotAnswerChangesNothing) {
  report();
  const std::string before = manifest();
  std::filesystem::remove_all(index.server.root() / "simple");
  const Report second = report();
  EXPECT_THAT(states(second), ElementsAre("1.0 failed", "1.1 failed"));
  EXPECT_EQ(manifest(), before);
  EXPECT_NE(first_failure(second), nullptr);
}

TEST_F(FollowTest, HandWrittenEntriesAreCopied) {
  report();
  const auto document = parse_json(manifest(), "manifest");
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["components"].as_object()[0].first, "toy-plugin");
  EXPECT_EQ((*document)["licenses"]["toy"]["id"].as_string(), "MIT");
  EXPECT_THAT(manifest(), HasSubstr("\n  \"toy-1.1-linux-x86_64\": {"));
}

TEST_F(FollowTest, AManifestThatIsNoJsonIsNotReplaced) {
  test::write_text(manifest_file, "{\"format\": 1,");
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-M01");
  EXPECT_EQ(manifest(), "{\"format\": 1,");
}

TEST_F(FollowTest, ADamagedMemoryIsReported) {
  report();
  test::write_text(memory_file, "{");
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-M17");
  EXPECT_EQ(result.error().value(Key::file), path_text(memory_file));
}

TEST_F(FollowTest, WithoutItsMemoryARunGivesTheSameManifest) {
  report();
  const std::string before = manifest();
  std::filesystem::remove_all(folder / "facts");
  EXPECT_FALSE(report().changed);
  EXPECT_EQ(manifest(), before);
}

TEST_F(FollowTest, TheNewestReleaseOfEachCudaMajorIsKept) {
  for (const char* const toolkit : {"12.8.1", "13.0.2"})
    index.publish("cuda-toolkit", toolkit, {}, "py2.py3-none-any");
  for (const auto& [version, toolkit] : {std::pair("1.2", "12.8.1"), std::pair("1.3", "12.8.1"),
                                         std::pair("1.4", "13.0.2"), std::pair("1.5", "13.0.2")})
    index.publish("toy", version,
                  {.metadata = std::string("Requires-Dist: cuda-toolkit==") + toolkit + "\n"});
  write_plan(R"("versions": ">=1.2", "newest": 1, "cuda_majors": ["12"])");
  std::string plan = test::read_text(plan_file);
  plan.replace(plan.find("\"layout\": \"linux\","), 18, "\"layout\": \"linux\", \"cuda\": \"metadata\",");
  test::write_text(plan_file, plan);
  EXPECT_THAT(states(report()), ElementsAre("1.3 new", "1.5 new"));
  const int asked = index.server.requests("GET /files/");
  EXPECT_GT(asked, 0);
  EXPECT_THAT(states(report()), ElementsAre("1.3 unchanged", "1.5 unchanged"));
  EXPECT_EQ(index.server.requests("GET /files/"), asked);
}

// As after a run that was killed between the two.
TEST_F(FollowTest, AManifestOlderThanItsMemoryIsWrittenAgain) {
  report();
  const std::string before = manifest();
  index.publish("toy", "1.2");
  report();
  const std::string after = manifest();
  ASSERT_NE(before, after);
  test::write_text(manifest_file, before);
  EXPECT_THAT(states(report()), ElementsAre("1.1 unchanged", "1.2 new"));
  EXPECT_EQ(manifest(), after);
}

TEST_F(FollowTest, TwoAtOnceGiveOneManifest) {
  std::vector<std::thread> threads;
  std::vector<int> failed(4, 1);
  for (int& one : failed) threads.emplace_back([&] { one = run() ? 0 : 1; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(failed, testing::Each(0));
  EXPECT_THAT(builds(), ElementsAre("1.0", "1.1"));
}

TEST_F(FollowTest, ACanceledRunLeavesTheManifest) {
  report();
  const std::string before = manifest();
  index.publish("toy", "1.2");
  FollowRequest request;
  request.plan = plan_file;
  request.now = now;
  request.options.package_index = index.url();
  request.cancel.emplace();
  request.cancel->cancel();
  const auto result = follow(request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-P10");
  EXPECT_EQ(manifest(), before);
}

}  // namespace
}  // namespace enginehost::follow
