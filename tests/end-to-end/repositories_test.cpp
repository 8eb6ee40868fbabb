// Which repository answers for an engine, and what a key that is trusted with limits signs.
#include <gmock/gmock.h>

#include "tests/end-to-end/publisher.hpp"

namespace enginehost::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Repositories : public testing::Test {
 protected:
  void SetUp() override {
    offer(older, {"reference-older"}, "1.0.0");
    offer(newer, {"reference-newer"}, "2.0.0");
  }
  static void offer(const TestRepository& place, const std::vector<std::string>& builds,
                    const std::string& version, const std::string& engine = "reference") {
    TestRepository repository(place.root(), engine);
    for (const std::string& id : builds) {
      TestBuild build = good_build(id);
      build.version = version;
      repository.add(build);
    }
    repository.write();
  }
  static Json entry(const TestRepository& repository, const char* engine) {
    return Json::object()
        .set("location", repository.root().native())
        .set("engines", Json::array().push(engine));
  }
  void configure(Json repositories, bool own = false) const {
    user.configure(
        Json::object().set("repositories_default", own).set("repositories", std::move(repositories)));
  }
  Ended plan(std::vector<std::string> more = {}, const RunOptions& options = {}) const {
    more.insert(more.begin(), {"reference", "--plan", "--json"});
    return user.info(std::move(more), options);
  }
  static std::string chosen(const Ended& ended) {
    for (const Json& one : ended.document["candidates"].as_array())
      if (one["verdict"].as_string() == "chosen") return one["build"].as_string();
    return ended.said();
  }
  static std::string warnings(const Ended& ended) { return ended.document["warnings"].dump() + ended.error; }

  TemporaryFolder folder;
  TestRepository older{folder / "older"}, newer{folder / "newer"};
  Workplace user;
};

TEST_F(Repositories, TheFirstThatOffersAnEngineAnswersForIt) {
  configure(Json::array().push(older.root().native()).push(newer.root().native()));
  const Ended first = plan();
  EXPECT_EQ(chosen(first), "reference-older") << first.said();
  EXPECT_THAT(warnings(first),
              AllOf(HasSubstr("the repository " + newer.root().native()), HasSubstr("also offers reference"),
                    HasSubstr("for which " + older.root().native() + " answers")));
  configure(Json::array().push(newer.root().native()).push(older.root().native()));
  EXPECT_EQ(chosen(plan()), "reference-newer");
}

TEST_F(Repositories, AListOfEnginesLetsALaterOneAnswer) {
  configure(Json::array().push(older.root().native()).push(entry(newer, "reference")));
  const Ended listed = plan();
  EXPECT_EQ(chosen(listed), "reference-newer") << listed.said();
  EXPECT_THAT(warnings(listed), testing::Not(HasSubstr("also offers")));
  // An earlier one that is limited to another engine does not answer for this one.
  configure(Json::array().push(entry(older, "other")).push(newer.root().native()));
  EXPECT_EQ(chosen(plan()), "reference-newer");
}

TEST_F(Repositories, OneThatTheRequestNamesAnswersBesideTheConfiguredOnes) {
  configure(Json::array().push(older.root().native()));
  const Ended flag = plan({"--repository", newer.root().native()});
  EXPECT_EQ(chosen(flag), "reference-newer") << flag.said();
  RunOptions variable;
  variable.environment = {"ENGINEHOST_REPOSITORIES=" + newer.root().native()};
  EXPECT_EQ(chosen(plan({}, variable)), "reference-newer");
  // Also with the older build named: the configured one still answers.
  configure(Json::array().push(newer.root().native()));
  const Ended both = plan({"--repository", older.root().native()});
  EXPECT_EQ(chosen(both), "reference-newer") << both.said();
  EXPECT_THAT(warnings(both), testing::Not(HasSubstr("also offers")));
}

TEST_F(Repositories, EngineHostsOwnAnswersForItsEngines) {
  configure(Json::array().push(newer.root().native()), true);
  const Ended own = plan();
  EXPECT_THAT(chosen(own), HasSubstr("reference-0.")) << own.said();
  EXPECT_THAT(warnings(own),
              AllOf(HasSubstr("also offers reference, which comes with EngineHost"), HasSubstr("engines")));
  configure(Json::array().push(entry(newer, "reference")), true);
  EXPECT_EQ(chosen(plan()), "reference-newer");
}

TEST_F(Repositories, TwoPlacesOfOneRepositoryNeedNoWarning) {
  const TestRepository mirror(folder / "mirror");
  offer(mirror, {"reference-older"}, "1.0.0");
  configure(Json::array().push(older.root().native()).push(mirror.root().native()));
  const Ended ended = plan();
  EXPECT_EQ(chosen(ended), "reference-older") << ended.said();
  EXPECT_THAT(warnings(ended), testing::Not(HasSubstr("also offers")));
}

TEST_F(Repositories, OneThatCannotBeReadAnswersForNothing) {
  write_text(older.root() / "index.json", "{");
  configure(Json::array().push(older.root().native()).push(newer.root().native()));
  const Ended ended = plan();
  EXPECT_EQ(chosen(ended), "reference-newer") << ended.said();
}

class LimitedKeys : public Publisher {
 protected:
  void SetUp() override {
    Publisher::SetUp();
    if (IsSkipped()) return;
    publish_signed();
    sh("engine-cache trust remove $(sed -n '1s/.*key //p' key.pub)");
  }
};

TEST_F(LimitedKeys, SignNoOtherEngine) {
  sh("engine-cache trust add key.pub --repository " + location() + " --engines other");
  const Ended refused = open();
  EXPECT_NE(refused.status, 0) << refused.said();
  sh("engine-cache trust add key.pub --repository " + location() + " --engines other,reference");
  const Ended opened = open();
  EXPECT_EQ(opened.status, 0) << opened.said();
}

TEST_F(LimitedKeys, OneOfTwoMakesNoFirstRoot) {
  sh("engine-cache trust add key.pub --repository " + location() + " --threshold 2");
  const Ended refused = open();
  EXPECT_NE(refused.status, 0) << refused.said();
  EXPECT_THAT(refused.output, AllOf(HasSubstr("EH-M08"), HasSubstr("trust the publisher's other keys, too"),
                                    HasSubstr("--repository " + location() + " --threshold 2")));
  sh("minisign -G -W -p second.pub -s second.key\n"
     "engine-manifest sign repository --key key.key --add-key second.pub\n"
     "engine-manifest sign repository --key second.key\n"
     "engine-manifest publish repository /srv/www/engines\n"
     "engine-cache trust add second.pub --repository " +
     location() + " --threshold 2");
  an_hour_passes();
  const Ended opened = open();
  EXPECT_EQ(opened.status, 0) << opened.said();
}

}  // namespace
}  // namespace enginehost::test
