// Builds of several engines under one id: nobody who may publish one engine's builds replaces, hides or
// removes those of another.
#include "cache/record_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "cache/check.hpp"
#include "cache/store.hpp"
#include "cache/store_inside.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Records : public testing::Test {
 protected:
  static Installed install(const Store& store, const std::string& engine, const std::string& id = "one") {
    auto installed = test::install_small_build(store, id, engine);
    EXPECT_TRUE(installed) << (installed ? "" : std::string(installed.error().code_text()));
    return installed ? *installed : Installed{};
  }
  // "NAME ENGINE ID" of everything that is listed.
  static std::vector<std::string> listed(const Store& store) {
    std::vector<std::string> texts;
    for (const Installed& one : store.list())
      texts.push_back(one.build + " " + one.engine + " " + one.published_id());
    return texts;
  }
  std::vector<std::string> files(const char* below = "refs", const char* cache = "cache") const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder / cache / below))
      names.push_back(path_text(entry.path().filename()));
    std::sort(names.begin(), names.end());
    return names;
  }
  static std::string engine_of(const Store& store, const std::string& name) {
    const auto found = store.find(name);
    if (!found) return std::string(found.error().code_text());
    return *found ? (*found)->engine : "none";
  }

  test::TemporaryFolder folder;
  Store store = Store::open(folder / "cache", {}, "records_test");
};

TEST_F(Records, AnIdThatAnotherEngineHasGetsTheEngine) {
  EXPECT_EQ(install(store, "good").build, "one");
  EXPECT_EQ(install(store, "toy").build, "toy+one");
  EXPECT_THAT(files(), ElementsAre("one.ref", "toy+one.ref"));
  EXPECT_THAT(listed(store), ElementsAre("one good one", "toy+one toy one"));
  EXPECT_EQ(engine_of(store, "one"), "good");
  EXPECT_EQ(engine_of(store, "toy+one"), "toy");
  EXPECT_EQ(engine_of(store, "good+one"), "good") << "the long form always means that engine";
  EXPECT_EQ(engine_of(store, "small+one"), "none");
}

TEST_F(Records, TheSameEngineReplacesItsOwn) {
  install(store, "good");
  install(store, "toy");
  for (const std::string engine : {"good", "toy", "good"}) {
    Installed again = **store.find(engine == "toy" ? "toy+one" : "one");
    again.version = "2.0";
    ASSERT_TRUE(store.write_ref(again)) << engine;
  }
  EXPECT_THAT(listed(store), ElementsAre("one good one", "toy+one toy one"));
  for (const Installed& one : store.list()) EXPECT_EQ(one.version, "2.0");
}

TEST_F(Records, ANameStaysWhenTheIdBecomesFree) {
  install(store, "good");
  install(store, "toy");
  ASSERT_TRUE(store.remove("one"));
  EXPECT_THAT(files(), ElementsAre("toy+one.ref"));
  install(store, "toy");
  EXPECT_EQ(install(store, "third").build, "one");
  install(store, "good");
  EXPECT_THAT(files(), ElementsAre("good+one.ref", "one.ref", "toy+one.ref"));
}

TEST_F(Records, RemovalAndPinsConcernTheNamedBuild) {
  install(store, "good");
  install(store, "toy");
  ASSERT_TRUE(store.pin("toy+one"));
  EXPECT_FALSE(*store.is_pinned("one"));
  EXPECT_TRUE(*store.is_pinned("toy+one"));
  CollectOptions everything;
  everything.max_bytes = 0;
  const auto collected = store.collect(everything);
  ASSERT_TRUE(collected);
  EXPECT_EQ(collected->removed.at(0).build, "one");
  EXPECT_EQ(collected->kept.at(0).build, "toy+one");
  EXPECT_EQ(engine_of(store, "toy+one"), "toy");
  install(store, "good");
  ASSERT_TRUE(store.remove("toy+one"));
  EXPECT_THAT(files("pins"), IsEmpty());
  EXPECT_THAT(listed(store), ElementsAre("one good one"));
  EXPECT_EQ(engine_of(store, "one"), "good");
}

TEST_F(Records, RemoveByTheLongFormOfAPlainName) {
  install(store, "good");
  install(store, "toy");
  ASSERT_TRUE(store.remove("toy+one"));
  EXPECT_EQ(store.remove("toy+one").error().code, "EH-S23") << "never the other engine's";
  EXPECT_THAT(listed(store), ElementsAre("one good one"));
}

// A leased build of one engine does not keep another engine's from being removed, nor is it removed with it.
TEST_F(Records, LeasesConcernTheFilesOfTheirBuild) {
  install(store, "good");
  const Installed toy = install(store, "toy");
  const auto lease = store.lease(toy);
  ASSERT_TRUE(lease && lease->holds());
  EXPECT_EQ(store.remove("toy+one").error().code, "EH-F18");
  ASSERT_TRUE(store.remove("one"));
  EXPECT_EQ(engine_of(store, "toy+one"), "toy");
}

// Ids may hold '+', so an id can look like the name of another engine's build.
TEST_F(Records, AnIdThatLooksLikeANameTakesNoOther) {
  const std::vector<std::pair<std::string, std::string>> all = {
      {"evil", "toy+one"}, {"good", "one"},   {"toy", "one"}, {"evil", "toy+toy+one"},
      {"a", "b+one"},      {"good", "b+one"}, {"a+b", "one"}};
  for (const auto& [engine, id] : all) install(store, engine, id);
  ASSERT_EQ(store.list().size(), all.size());
  EXPECT_EQ(files().size(), all.size());
  RecordNames names(store.list());
  for (const auto& [engine, id] : all) {
    const auto found = store.find(names.name_of(engine, id));
    ASSERT_TRUE(found && *found) << engine << " " << id;
    EXPECT_EQ((*found)->engine, engine);
    EXPECT_EQ((*found)->published_id(), id);
  }
}

TEST_F(Records, TheSameFilesOfTwoEnginesAreSharedAndStay) {
  Installed good = install(store, "good");
  Installed toy = good;
  toy.engine = "toy";
  ASSERT_EQ(store.write_ref(toy)->build, "toy+one");
  ASSERT_TRUE(store.remove("one"));
  EXPECT_EQ(engine_of(store, "toy+one"), "toy") << "its view and trees are still there";
  EXPECT_THAT(*check(folder / "cache"), IsEmpty());
}

TEST_F(Records, CheckAndRepairConcernTheNamedBuild) {
  install(store, "good");
  const Installed toy = install(store, "toy");
  const fs::path file = toy.folder / path_of(toy.plugin);
  calls::chmod(file.c_str(), 0644);
  test::write_text(file, "short");
  CheckOptions of_good, of_toy;
  of_good.build = "one";
  of_toy.build = "toy+one";
  EXPECT_THAT(*check(folder / "cache", of_good), IsEmpty());
  ASSERT_FALSE(check(folder / "cache", of_toy)->empty());
  EXPECT_EQ(check(folder / "cache", of_toy)->front().build, "toy+one");
  EXPECT_THAT(*store.verify("one", true), IsEmpty());
  EXPECT_EQ(store.verify("toy+one", true)->size(), 1u);
  auto stage = store.stage(Store::key_of("toy+one"));
  ASSERT_TRUE(stage);
  const auto repaired =
      store.repair("toy+one", *stage, [](const auto&, const auto& wanted, const auto& into) {
        return test::bring_small_files({}, wanted, into);
      });
  ASSERT_TRUE(repaired);
  EXPECT_THAT(repaired->left, IsEmpty());
  EXPECT_THAT(*check(folder / "cache"), IsEmpty());
}

// A build of the user's that was there first does not hide the one that an administrator puts into the layer,
// and is not hidden by it.
class LayeredRecords : public Records {
 protected:
  LayeredRecords() {
    EXPECT_EQ(install(user, "toy").build, "one");
    EXPECT_EQ(install(Store::open(folder / "system"), "good").build, "one");
  }
  Store user = Store::open(folder / "user", {folder / "system"}, "records_test");
};

TEST_F(LayeredRecords, TheLayerKeepsTheIdAndTheUsersIsFoundByItsEngine) {
  EXPECT_THAT(files("refs", "user"), ElementsAre("one.ref"));
  EXPECT_THAT(listed(user), ElementsAre("one good one", "toy+one toy one"));
  EXPECT_EQ(engine_of(user, "one"), "good");
  EXPECT_EQ(engine_of(user, "toy+one"), "toy");
  EXPECT_EQ((*user.record_of("toy+one"))->engine, "toy");
  const auto lease = user.lease(**user.find("toy+one"));
  ASSERT_TRUE(lease && lease->holds());
}

TEST_F(LayeredRecords, RemoveAndPinMeanTheRecordThatIsCalledSo) {
  EXPECT_EQ(user.remove("one").error().code, "EH-S23") << "it is in the layer";
  EXPECT_EQ(user.pin("one").error().code, "EH-S23");
  ASSERT_TRUE(user.pin("toy+one"));
  EXPECT_TRUE(*user.is_pinned("toy+one"));
  EXPECT_FALSE(*user.is_pinned("one"));
  EXPECT_EQ(Store::open(folder / "user").list().size(), 1u) << "nothing was removed";
  CollectOptions everything;
  everything.max_bytes = 0;
  const auto collected = user.collect(everything);
  ASSERT_TRUE(collected);
  EXPECT_EQ(collected->kept.at(0).build, "toy+one");
  ASSERT_TRUE(user.remove("toy+one"));
  EXPECT_THAT(listed(user), ElementsAre("one good one"));
  EXPECT_EQ(user.own_record("toy+one"), std::nullopt);
}

TEST_F(LayeredRecords, ANewerBuildOfTheLayersEngineTakesNoUsersRecord) {
  Installed newer = **user.find("one");
  newer.version = "2.0";
  auto stage = user.stage(Store::key_of("one"));
  ASSERT_TRUE(stage);
  for (const char* what : {"trees", "lists"})
    fs::copy(folder / "system" / what, folder / "user" / what,
             fs::copy_options::recursive | fs::copy_options::skip_existing);
  ASSERT_TRUE(user.make_view(newer.trees, *stage));
  const auto written = user.write_ref(newer);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->build, "one");
  EXPECT_THAT(files("refs", "user"), ElementsAre("good+one.ref", "one.ref"));
  EXPECT_EQ(engine_of(user, "toy+one"), "toy");
  const auto found = user.find("one", [](const Installed& one) { return one.version == "2.0"; });
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->build, "one");
  EXPECT_EQ((*found)->engine, "good");
  EXPECT_EQ(user.own_record("one"), "good+one");
}

// The rules of the versions that knew no such names: a record is the file refs/NAME.ref, whose line "build"
// is NAME; one record of each name is listed; whatever any .ref refers to stays. New records must keep them,
// because both versions may use one cache.
TEST_F(Records, AnOlderVersionListsFindsAndKeepsEveryBuild) {
  install(store, "good");
  install(store, "toy");
  install(store, "evil", "toy+one");
  std::map<std::string, std::string> engines;  // by the line "build"
  std::set<std::string> referred;
  for (const std::string& file : files()) {
    const std::vector<std::string> lines = split(test::read_text(folder / "cache/refs" / file), '\n');
    ASSERT_EQ(lines.at(0), "enginehost-ref 1");
    std::string build, engine;
    for (const std::string& line : lines) {
      if (line.starts_with("build ")) build = line.substr(6);
      if (line.starts_with("engine ")) engine = line.substr(7);
      if (line.starts_with("tree ") || line.starts_with("digest "))
        referred.insert(line.substr(line.find(' ') + 1));
    }
    EXPECT_EQ(file, inside::file_name_for(build) + ".ref") << "remove, pin and gc find it by its name";
    EXPECT_TRUE(engines.emplace(build, engine).second) << build << " would hide another";
  }
  EXPECT_THAT(engines, UnorderedElementsAre(std::pair("one", "good"), std::pair("toy+one", "toy"),
                                            std::pair("evil+toy+one", "evil")));
  for (const char* kind : {"trees", "views"})
    for (const std::string& name : files(kind)) EXPECT_TRUE(referred.contains(name)) << kind << " " << name;
  EXPECT_EQ(
      parse_json(test::read_text(folder / "cache/LAYER.json"), "LAYER.json").value()["format"].as_integer(),
      1)
      << "it may write here";
}

}  // namespace
}  // namespace enginehost::cache
