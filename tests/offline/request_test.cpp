#include "tools/offline/answer.hpp"

#include "tests/offline/site.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::offline {
namespace {

using testing::HasSubstr;
using testing::Not;

platform::Platform recorded(const char* name) {
  const std::string file = std::string(test::source_path("/tests/profiles/")) + name;
  const auto document = parse_json(test::read_text(file), file);
  EXPECT_TRUE(document);
  auto platform = platform::platform_from_json(*document, file);
  EXPECT_TRUE(platform);
  return platform ? std::move(*platform) : platform::Platform();
}

class Request : public test::SiteTest {
 protected:
  Request() {
    test::SiteComponent newer = test::runtime();
    newer.id = "runtime-2";
    newer.files.push_back({"lib/new.so", test::library("new")});
    site.add("sample-2", {test::plugin_of("2"), newer}, "2.0.0");
    lab.cache_folder = folder / "lab";
    lab.offline = true;
  }
  SiteRequest ask(const std::vector<EngineConstraint>& constraints) {
    open::OpenContext context(lab, recorded("linux-ubuntu2204-driver525-rtx3090.json"));
    return request_of_this_machine(context, constraints);
  }
  settings::Settings lab;
};

TEST_F(Request, IsAnsweredForTheMachineThatAskedAndImportedBack) {
  const SiteRequest asked = ask({{"sample", "", "", "", false}});
  const auto read = read_request(asked.text(), "site.request");
  ASSERT_TRUE(read) << read.error().value(Key::problem);
  const auto answers = answer(site.settings, *read, {});
  ASSERT_TRUE(answers) << answers.error().code;
  EXPECT_EQ(answers->at(0).build, "sample-2");
  ExportRequest writing = site.request({});
  writing.selection = selection_for(*read, *answers);
  ASSERT_TRUE(site.export_to(writing));
  ASSERT_EQ(outcome(folder / "site.bundle"), "ok");
  EXPECT_TRUE(store().verify("sample-2", true)->empty());
}

TEST_F(Request, InstalledBuildsAreNotSent) {
  ASSERT_TRUE(import(bundle({"sample-1"})));
  const SiteRequest asked = ask({{"sample", "2", "", "", false}});
  EXPECT_EQ(asked.installed, std::vector<std::string>{"sample-1"});
  EXPECT_FALSE(asked.holds.empty());
  const auto answers = answer(site.settings, asked, {});
  ASSERT_TRUE(answers);
  ExportRequest writing = site.request({}, "answer.bundle");
  writing.selection = selection_for(asked, *answers);
  const auto exported = site.export_to(writing);
  ASSERT_TRUE(exported);
  EXPECT_FALSE(exported->list.needs.empty());
  EXPECT_LT(exported->size * 10, std::filesystem::file_size(folder / "site.bundle"));
  ASSERT_EQ(outcome(folder / "answer.bundle"), "ok");
  EXPECT_TRUE(store().verify("sample-2", true)->empty());
  const auto again = answer(site.settings, ask({{"sample", "", "", "", false}}), {});
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->at(0).was_there);
  EXPECT_TRUE(selection_for(asked, *again).builds.empty());
}

TEST_F(Request, BuildsThatFailedThereAreNotSentAgain) {
  SiteRequest asked = ask({{"sample", "", "", "", false}});
  asked.set_aside = {"sample-2"};
  const auto answers = answer(site.settings, asked, {});
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->at(0).build, "sample-1");
  EXPECT_EQ(answers->at(0).passed_over, std::vector<std::string>{"sample-2"});
  asked.set_aside = {"sample-1", "sample-2"};
  const auto none = answer(site.settings, asked, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "EH-S14");
  EXPECT_EQ(none.error().value(Key::build), "sample-2");
  asked.set_aside = {"sample-1"};
  EXPECT_TRUE(answer(site.settings, asked, {})->at(0).passed_over.empty());
}

TEST_F(Request, ListsCurrentQuarantinesOnly) {
  lab.state_folder = folder / "state";
  open::OpenContext context(lab, std::nullopt);
  const auto remember = [&](const char* build, history::State state, std::int64_t retry_after) {
    history::Record record;
    record.build = build;
    record.state = state;
    record.retry_after = retry_after;
    record.host = context.fingerprint();
    ASSERT_TRUE(context.remember(record));
  };
  remember("disabled", history::State::disabled, 0);
  remember("quarantined", history::State::quarantined, open::OpenContext::now() + 1000);
  remember("over", history::State::quarantined, open::OpenContext::now() - 1);
  remember("proven", history::State::proven, 0);
  EXPECT_EQ(request_of_this_machine(context, {}).set_aside,
            (std::vector<std::string>{"disabled", "quarantined"}));
}

TEST_F(Request, AnUnmetConstraintIsReportedAsAtAnOpen) {
  const auto answers = answer(site.settings, ask({{"other", "", "", "", false}}), {});
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().code, "EH-S02");
}

TEST_F(Request, NamesNoDeviceAndNoPerson) {
  platform::Platform machine = recorded("linux-ubuntu2204-driver525-rtx3090.json");
  open::OpenContext context(lab, machine);
  const std::string text = request_of_this_machine(context, {{"sample", "", "", "", false}}).text();
  EXPECT_THAT(text, Not(HasSubstr("GPU-")));
  EXPECT_THAT(text, Not(HasSubstr("uuid")));
  EXPECT_THAT(text, Not(HasSubstr("/home/")));
}

TEST_F(Request, InvalidDocumentsAreRefusedByMember) {
  const std::string good = ask({{"sample", "", "", "", false}}).text();
  const auto said = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto read = read_request(text, "x.request");
    return read ? std::string("ok")
                : std::string(read.error().code_text()) + " " + std::string(read.error().value(Key::member));
  };
  EXPECT_EQ(said("enginehost-request", "something"), "EH-M02 kind");
  EXPECT_EQ(said("\"format\": 1", "\"format\": 7"), "EH-M04 ");
  EXPECT_EQ(said("\"engine\": \"sample\"", "\"engine\": \"\""), "EH-M02 wishes");
  EXPECT_EQ(said("\"engine\": \"sample\"", "\"engine\": \"sample\", \"version\": \"=>2\""), "EH-M02 wishes");
  EXPECT_EQ(said("\"installed\": []", "\"installed\": {}"), "EH-M02 installed");
  EXPECT_EQ(said("\"installed\": []", "\"installed\": [7]"), "EH-M02 installed");
  EXPECT_EQ(said("{", "[").substr(0, 6), "EH-M01");
}

}  // namespace
}  // namespace enginehost::offline
