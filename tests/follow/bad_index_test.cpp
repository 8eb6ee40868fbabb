// A hostile or broken index: each ends in a report, never in a manifest that names bytes nobody saw.
#include "tests/follow/fixture.hpp"
#include "tests/support/fault_server.hpp"

namespace enginehost::follow {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BadIndex : public FollowTest {
 protected:
  // "VERSION REASON" of releases that were not used.
  static std::vector<std::string> skipped(const Report& report) {
    std::vector<std::string> lines;
    for (const SkippedRelease& one : report.skipped) lines.push_back(one.version + " " + one.reason);
    return lines;
  }
};

TEST_F(BadIndex, AYoungReleaseIsHeldBack) {
  index.publish("toy", "1.2", {.uploaded = toy_now - 2 * a_day});
  const Report first = report();
  EXPECT_THAT(builds(), ElementsAre("1.0", "1.1"));
  ASSERT_EQ(first.skipped.size(), 1u);
  EXPECT_EQ(first.skipped[0].until, toy_now + a_day);
  EXPECT_THAT(text_of(first), HasSubstr("held back  toy 1.2 until 2026-12-02T00:00:00Z"));
  now = toy_now + a_day;
  EXPECT_THAT(states(report()), ElementsAre("1.1 unchanged", "1.2 new"));
}

TEST_F(BadIndex, AnUploadInTheFutureIsHeldBackAndSaid) {
  index.publish("toy", "1.2", {.uploaded = toy_now + 400 * a_day});
  EXPECT_THAT(skipped(report()), ElementsAre(HasSubstr("has not come yet")));
  EXPECT_THAT(builds(), ElementsAre("1.0", "1.1"));
}

TEST_F(BadIndex, AClockThatWentBackIsSaid) {
  report();
  now -= 2 * a_day;
  const Report second = report();
  ASSERT_EQ(second.warnings.size(), 1u);
  EXPECT_EQ(second.warnings[0].code, "EH-M22");
  EXPECT_FALSE(second.changed);
}

TEST_F(BadIndex, WithoutDatesTheMemoryDecides) {
  index.publish("toy", "1.2", {.uploaded = 0});
  EXPECT_THAT(skipped(report()), ElementsAre(HasSubstr("no date")));
  now += 2 * a_day;
  EXPECT_THAT(skipped(report()), ElementsAre(HasSubstr("seen first at 2026-12-01T00:00:00Z")));
  now += a_day;
  EXPECT_THAT(states(report()), ElementsAre("1.1 unchanged", "1.2 new"));
}

TEST_F(BadIndex, YankedReleasesAndPreReleasesAreLeftOut) {
  index.publish("toy", "1.2", {.yanked = "wrong results", .is_yanked = true});
  index.publish("toy", "1.3rc1");
  index.publish("toy", "1.4.dev2");
  EXPECT_THAT(skipped(report()), ElementsAre("1.4.dev2 it is a pre-release", "1.3rc1 it is a pre-release",
                                             "1.2 it was yanked: wrong results"));
  EXPECT_THAT(builds(), ElementsAre("1.0", "1.1"));
}

TEST_F(BadIndex, AReleaseThatIsYankedLaterKeepsItsRowsAndIsReported) {
  report();
  const std::string before = manifest();
  index.publish("toy", "1.1", {.yanked = "stolen token", .is_yanked = true});
  const Report second = report();
  EXPECT_THAT(codes(second), ElementsAre("EH-M21"));
  EXPECT_EQ(second.problems[0].value(Key::reason), "it was yanked: stolen token");
  EXPECT_EQ(manifest(), before);
}

TEST_F(BadIndex, AReleaseThatVanishedKeepsItsRowsAndIsReported) {
  report();
  const std::string before = manifest();
  index.withdraw("toy", "1.1");
  const Report second = report();
  EXPECT_THAT(codes(second), ElementsAre("EH-M21"));
  EXPECT_EQ(manifest(), before);
  EXPECT_THAT(text_of(second), HasSubstr("the index lists no such release"));
  EXPECT_THAT(text_of(second), HasSubstr("\"!=1.1\""));
}

TEST_F(BadIndex, AKeptReleaseThatIsNotThereIsReported) {
  write_plan(R"("versions": ">=1.0", "newest": 1, "keep": ["0.9"])");
  const Report found = report();
  EXPECT_THAT(codes(found), ElementsAre("EH-M21"));
  EXPECT_THAT(text_of(found), HasSubstr("the plan keeps toy 0.9"));
  index.publish("toy", "0.9", {.uploaded = toy_now - a_day});
  EXPECT_THAT(codes(report()), ElementsAre());
}

TEST_F(BadIndex, OtherBytesUnderAKnownNameAreLeftOut) {
  report();
  const std::string before = manifest();
  index.publish("toy", "1.1", {.license = "MIT License, by somebody else"});
  const Report second = report();
  EXPECT_THAT(codes(second), testing::Contains("EH-M20"));
  EXPECT_EQ(manifest(), before);
  EXPECT_EQ(explain::exit_status(*first_failure(second)), explain::ExitStatus::wrong_bytes);
}

TEST_F(BadIndex, OtherBytesAreFoundBeforeAReleaseWasTaken) {
  index.publish("toy", "1.2", {.uploaded = toy_now - a_day});
  report();
  index.publish("toy", "1.2", {.uploaded = toy_now - a_day, .license = "replaced"});
  now += 10 * a_day;
  const Report second = report();
  EXPECT_THAT(codes(second), ElementsAre("EH-M20"));
  EXPECT_THAT(builds(), ElementsAre("1.0", "1.1"));
}

TEST_F(BadIndex, OtherBytesThanItsDigestLeaveTheReleaseOut) {
  report();
  const std::string before = manifest();
  index.publish("toy", "1.2");
  const std::filesystem::path wheel =
      index.server.root() / "files/toy-1.2-py3-none-manylinux_2_17_x86_64.whl";
  const std::string bytes = test::read_text(wheel);
  for (const std::string& served :
       {make_wheel("toy", "1.2", {.license = "MIT license"}), std::string(bytes.size(), 'x'), bytes + "x",
        bytes.substr(0, bytes.size() / 2), std::string()}) {
    test::write_text(wheel, served);
    const Report found = report();
    EXPECT_THAT(states(found), ElementsAre("1.1 unchanged", "1.2 failed")) << served.size();
    ASSERT_NE(first_failure(found), nullptr);
    EXPECT_THAT(std::string(first_failure(found)->code_text()),
                testing::AnyOf("EH-M19", testing::StartsWith("EH-N")));
    EXPECT_EQ(manifest().find("toy-1.2"), std::string::npos);
    EXPECT_FALSE(exists(folder / "facts" / (sha256_hex(served) + ".json")));
  }
  EXPECT_THAT(builds(), ElementsAre("1.1"));
  test::write_text(wheel, bytes);
  EXPECT_THAT(states(report()), ElementsAre("1.1 unchanged", "1.2 new")) << "nothing wrong was remembered";
}

TEST_F(BadIndex, AServerOfWrongRangesLeavesTheReleaseOut) {
  report();
  index.publish("toy", "1.2");
  const std::string name = "toy-1.2-py3-none-manylinux_2_17_x86_64.whl";
  const std::string wheel = test::read_text(index.server.root() / "files" / name);
  const test::FaultServer wrong(
      [&](const test::FaultServer::Request& request, test::FaultServer::Connection& connection) {
        const std::uint64_t start = request.range_start.value_or(0) / 2;
        connection.answer("206 Partial Content", wheel.substr(start),
                          "Content-Range: bytes " + std::to_string(start) + "-" +
                              std::to_string(wheel.size() - 1) + "/" + std::to_string(wheel.size()) + "\r\n");
      });
  index.files["toy"][name].set("url", wrong.url(name));
  index.write_page("toy");
  const Report found = report();
  EXPECT_GT(wrong.requests(), 0);
  EXPECT_THAT(states(found), ElementsAre("1.1 unchanged", "1.2 failed"));
  EXPECT_THAT(builds(), ElementsAre("1.1"));
}

TEST_F(BadIndex, AWheelElsewhereThanOnTheWebIsNotRead) {
  report();
  const std::string name = "toy-1.2-py3-none-manylinux_2_17_x86_64.whl";
  index.publish("toy", "1.2");
  const std::string own = "file://" + (index.server.root() / "files" / name).native();
  for (const std::string& url : {own, std::string("file:///dev/zero"), std::string("file:///etc/passwd"),
                                 std::string("ftp://127.0.0.1/toy.whl"), std::string("data:,toy")}) {
    index.files["toy"][name].set("url", url);
    index.write_page("toy");
    const Report found = report();
    ASSERT_EQ(found.left_out.size(), 1u) << url;
    EXPECT_EQ(found.left_out[0].file, name);
    EXPECT_THAT(found.left_out[0].reason, HasSubstr("not on the web"));
    EXPECT_THAT(builds(), ElementsAre("1.0", "1.1")) << url;
  }
}

TEST_F(BadIndex, AYankedFileIsNotTaken) {
  report();
  index.publish("toy", "1.2", {.yanked = "built with a debug flag", .is_yanked = true});
  index.publish("toy", "1.2", {}, "py3-none-win_amd64");
  const Report found = report();
  EXPECT_THAT(states(found), ElementsAre("1.1 unchanged", "1.2 failed"));
  ASSERT_NE(first_failure(found), nullptr);
  EXPECT_EQ(first_failure(found)->code, "EH-M19");
  EXPECT_THAT(builds(), ElementsAre("1.1"));
  index.publish("toy", "1.2", {}, "py3-none-manylinux_2_28_x86_64");
  report();
  EXPECT_THAT(manifest(), HasSubstr("toy-1.2-py3-none-manylinux_2_28_x86_64.whl"));
  EXPECT_EQ(manifest().find("toy-1.2-py3-none-manylinux_2_17"), std::string::npos);
}

TEST_F(BadIndex, AVersionThatIsNoneIsReported) {
  for (const char* const version : {"newest", "1.2.x", "1..2"}) index.publish("toy", version);
  const Report found = report();
  std::vector<std::string> reasons;
  for (const LeftOut& one : found.left_out) reasons.push_back(one.reason);
  EXPECT_THAT(reasons, testing::UnorderedElementsAre("\"newest\" is no version", "\"1.2.x\" is no version",
                                                     "\"1..2\" is no version"));
  EXPECT_THAT(builds(), ElementsAre("1.0", "1.1"));
}

TEST_F(BadIndex, OddNamesAreLeftOut) {
  auto& files = index.files["toy"];
  for (const char* const name :
       {"../../etc/passwd.whl", "toy-1.2.whl", "toy-newest-py3-none-any.whl", "other-1.2-py3-none-any.whl",
        "toy-1.2-py3-none-any.whl\n", "", "toy-1.2.tar.gz"})
    files[name] = Json::object()
                      .set("filename", name)
                      .set("url", "../../files/x.whl")
                      .set("hashes", Json::object().set("sha256", std::string(64, 'a')));
  files["toy-1.5-py3-none-any.whl"] =
      Json::object().set("filename", "toy-1.5-py3-none-any.whl").set("url", "../../files/x.whl");
  files["toy-1.6-py3-none-any.whl"] = Json::object()
                                          .set("filename", "toy-1.6-py3-none-any.whl")
                                          .set("url", "../../files/x.whl")
                                          .set("hashes", Json::object().set("sha256", "abc"));
  index.write_page("toy");
  const Report found = report();
  EXPECT_THAT(builds(), ElementsAre("1.0", "1.1"));
  std::vector<std::string> names;
  for (const LeftOut& one : found.left_out) names.push_back(one.file);
  EXPECT_THAT(names,
              testing::UnorderedElementsAre("../../etc/passwd.whl", "toy-1.2.whl",
                                            "toy-newest-py3-none-any.whl", "other-1.2-py3-none-any.whl",
                                            "toy-1.5-py3-none-any.whl", "toy-1.6-py3-none-any.whl"));
}

TEST_F(BadIndex, AReleaseWithTenThousandFilesIsLeftOut) {
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "toy-1.2-" + std::to_string(i) + "-py3-none-any.whl";
    index.files["toy"][name] = Json::object()
                                   .set("filename", name)
                                   .set("url", "../../files/" + name)
                                   .set("upload-time", "2026-01-01T00:00:00Z")
                                   .set("hashes", Json::object().set("sha256", std::string(64, 'a')));
  }
  index.write_page("toy");
  const Report found = report();
  ASSERT_EQ(found.left_out.size(), 1u);
  EXPECT_THAT(found.left_out[0].reason, HasSubstr("10000 files, and at most 1000"));
  EXPECT_THAT(builds(), ElementsAre("1.0", "1.1"));
}

TEST_F(BadIndex, ADamagedPageIsReported) {
  report();
  const std::string before = manifest();
  for (const char* const page :
       {"{\"files\": [", "{\"files\": [{\"filename\": 1}]}",
        "<html><title>Sign in</title><form><input type=\"password\"></form></html>"}) {
    index.write_page("toy", page);
    const Report second = report();
    ASSERT_NE(first_failure(second), nullptr) << page;
    EXPECT_EQ(manifest(), before) << page;
  }
}

TEST_F(BadIndex, APageOfLinksIsReadToo) {
  std::string page = "<!DOCTYPE html><html><head><title>toy</title></head><body>";
  for (const auto& [name, entry] : index.files["toy"])
    page += "<a href=\"../../files/" + name + "#sha256=" + entry["hashes"]["sha256"].as_string() + "\">" +
            name + "</a>";
  index.write_page("toy", page);
  EXPECT_EQ(report().skipped.size(), 2u);
  EXPECT_THAT(builds(), ElementsAre());
  now += 3 * a_day;
  report();
  EXPECT_THAT(builds(), ElementsAre("1.0", "1.1"));
}

TEST_F(BadIndex, FurtherFilesOfAKnownReleaseWait) {
  report();
  index.publish("toy", "1.1", {.uploaded = toy_now}, "py3-none-manylinux_2_99_x86_64");
  const Report second = report();
  EXPECT_THAT(states(second), ElementsAre("1.0 unchanged", "1.1 unchanged"));
  EXPECT_FALSE(second.changed);
}

}  // namespace
}  // namespace enginehost::follow
