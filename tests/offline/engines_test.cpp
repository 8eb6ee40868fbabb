// Bundles and requests with builds of several engines under one id.
#include "tests/offline/site.hpp"
#include "tools/offline/answer.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

// The builds of another engine, toy, have the id of a build of the engine sample.
class Engines : public test::SiteTest {
 protected:
  Engines() {
    test::SiteComponent plugin = test::plugin_of("toy");
    toys.add("sample-1", {plugin, test::runtime()});
  }
  fs::path bundle_of_toys() {
    EXPECT_TRUE(toys.install("sample-1"));
    EXPECT_TRUE(toys.export_to(toys.request({"sample-1"})));
    return folder / "toys/site.bundle";
  }
  // "NAME ENGINE ID" of everything that is installed there.
  std::vector<std::string> installed(const std::string& cache = "lab") const {
    std::vector<std::string> texts;
    for (const cache::Installed& one : store(cache).list())
      texts.push_back(one.build + " " + one.engine + " " + one.published_id());
    return texts;
  }

  test::Site toys{folder / "toys", "toy"};
};

TEST_F(Engines, ABundleReplacesNoBuildOfAnotherEngine) {
  ASSERT_EQ(outcome(bundle()), "ok");
  const std::string digest = (*store().find("sample-1"))->digest;
  ASSERT_EQ(outcome(bundle_of_toys()), "ok");
  EXPECT_THAT(installed(), ElementsAre("sample-1 sample sample-1", "toy+sample-1 toy sample-1"));
  EXPECT_EQ((*store().find("sample-1"))->digest, digest);
  EXPECT_TRUE(store().verify("sample-1", true)->empty());
  EXPECT_TRUE(store().verify("toy+sample-1", true)->empty());
  const auto again = import(folder / "toys/site.bundle");
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->builds[0].was_there);
  EXPECT_EQ(again->builds[0].installed.build, "toy+sample-1");
}

// A build that came first keeps its name, whatever proof the other has.
TEST_F(Engines, ABundleIsNotKeptOutByAnotherEnginesBuild) {
  ASSERT_EQ(outcome(bundle_of_toys()), "ok");
  cache::Installed signed_by_somebody = **store().find("sample-1");
  signed_by_somebody.signers = {"00000000000000A1"};
  signed_by_somebody.files_by = "manifest";
  ASSERT_TRUE(store().write_ref(signed_by_somebody));
  ASSERT_EQ(outcome(bundle()), "ok") << "a stronger proof of another engine counts for nothing";
  EXPECT_THAT(installed(), ElementsAre("sample+sample-1 sample sample-1", "sample-1 toy sample-1"));
}

TEST_F(Engines, AWeakerProofIsRefusedForTheSameEngineOnly) {
  ASSERT_EQ(outcome(bundle_of_toys()), "ok");
  ASSERT_EQ(outcome(bundle()), "ok");
  cache::Installed better = **store().find("sample+sample-1");
  better.trees.pop_back();
  better.files_by = "archive";
  auto stage = store().stage("better");
  ASSERT_TRUE(stage && store().make_view(better.trees, *stage) && store().write_ref(better));
  stage = store().stage("end");
  EXPECT_EQ(outcome(folder / "site.bundle").substr(0, 6), "EH-M40");
  EXPECT_EQ(outcome(folder / "toys/site.bundle"), "ok");
}

TEST_F(Engines, OneBundleCarriesBothUnderTheirPublishedId) {
  ASSERT_EQ(outcome(bundle()), "ok");
  ASSERT_EQ(outcome(bundle_of_toys()), "ok");
  site.settings.cache_folder = folder / "lab";
  site.settings.repositories.clear();
  const auto exported = site.export_to(site.request({"sample-1", "toy+sample-1"}, "both.bundle"));
  ASSERT_TRUE(exported);
  ASSERT_EQ(exported->list.builds.size(), 2u);
  for (const BundledBuild& build : exported->list.builds) EXPECT_EQ(build.id, "sample-1");
  ASSERT_EQ(outcome(folder / "both.bundle", "third"), "ok");
  EXPECT_THAT(installed("third"), ElementsAre("sample-1 sample sample-1", "toy+sample-1 toy sample-1"));
  ASSERT_TRUE(site.export_to(site.request({"toy+sample-1"}, "one.bundle")));
  ASSERT_EQ(outcome(folder / "one.bundle", "fourth"), "ok");
  EXPECT_THAT(installed("fourth"), ElementsAre("sample-1 toy sample-1"));
}

// The catalog of a machine calls a build as its record is called, so that it is found, proven and quarantined
// by itself.
TEST_F(Engines, TheCatalogCallsABuildAsItsRecordIsCalled) {
  ASSERT_EQ(outcome(bundle()), "ok");
  ASSERT_EQ(outcome(bundle_of_toys()), "ok");
  settings::Settings settings = site.settings;
  settings.cache_folder = folder / "lab";
  for (const bool from_repositories : {true, false}) {
    settings.repositories.clear();
    if (from_repositories)
      settings.repositories = {site.settings.repositories.front(), toys.settings.repositories.front()};
    open::OpenContext context(settings);
    std::map<std::string, std::string> engines;
    for (const auto& build : context.catalog().builds) engines[build->id] = build->engine;
    EXPECT_EQ(engines["sample-1"], "sample") << from_repositories;
    EXPECT_EQ(engines["toy+sample-1"], "toy") << from_repositories;
  }
}

TEST_F(Engines, ARequestIsNotAnsweredByAnotherEnginesBuild) {
  ASSERT_EQ(outcome(bundle_of_toys()), "ok");
  settings::Settings lab;
  lab.cache_folder = folder / "lab";
  lab.offline = true;
  open::OpenContext context(lab);
  SiteRequest asked = request_of_this_machine(context, {{"sample", "", "", "", false}});
  EXPECT_THAT(asked.installed_of, ElementsAre("toy+sample-1"));
  const auto answers = answer(site.settings, asked, {});
  ASSERT_TRUE(answers) << answers.error().code;
  EXPECT_FALSE(answers->at(0).was_there);
  asked.installed_of = {"sample+sample-1"};
  EXPECT_TRUE(answer(site.settings, asked, {})->at(0).was_there);
  asked.installed_of.clear();
  EXPECT_TRUE(answer(site.settings, asked, {})->at(0).was_there) << "an older version lists ids only";
}

}  // namespace
}  // namespace enginehost::offline
