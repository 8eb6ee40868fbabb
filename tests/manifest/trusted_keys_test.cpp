// Limits of a key that was trusted by hand: some engines only, and only together with other keys.
#include <gmock/gmock.h>

#include "base/json.hpp"
#include "tests/manifest/trust_fixture.hpp"

namespace enginehost::manifest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TrustedKeys : public TrustTest {
 protected:
  void trust_for(int key, std::vector<std::string> engines, const std::string& repository = location,
                 std::int64_t threshold = 1) {
    TrustedKey trusted;
    trusted.key = test_key(key).public_key();
    trusted.repository = repository;
    trusted.engines = std::move(engines);
    trusted.threshold = threshold;
    ASSERT_TRUE(store_.add(trusted));
  }
  // The engines that the repository offers, or the code of the failure.
  std::vector<std::string> offered() {
    const auto content = load();
    if (!content) return {std::string(content.error().code_text())};
    std::vector<std::string> engines;
    for (const auto& manifest : content->manifests) engines.push_back(manifest->engine);
    return engines;
  }
};

TEST_F(TrustedKeys, OneThatIsLimitedSignsOnlyItsEngines) {
  put_all();
  for (const std::string& repository : {std::string(location), std::string()}) {
    trust_for(1, {"toy"}, repository);
    EXPECT_THAT(offered(), IsEmpty()) << repository;
    trust_for(1, {"toy", "pytorch"}, repository);
    EXPECT_THAT(offered(), ElementsAre("pytorch")) << "what was said last counts";
    trust_for(1, {"toy"}, repository);
    EXPECT_THAT(offered(), IsEmpty()) << repository;
    trust_for(1, {}, repository);
    EXPECT_THAT(offered(), ElementsAre("pytorch")) << repository;
    ASSERT_TRUE(*store_.remove(test_key(1).public_key().id));
  }
}

TEST_F(TrustedKeys, TheLimitStaysWhenTheRootGetsOtherKeys) {
  put_all();
  trust_for(1, {"toy"});
  EXPECT_THAT(offered(), IsEmpty());
  put_root(root_of(2, {2}), {1, 2});
  put_index(index_of(8), {2});
  EXPECT_THAT(offered(), IsEmpty());
  ASSERT_TRUE(*store_.remove(test_key(1).public_key().id));
  EXPECT_THAT(offered(), ElementsAre("EH-M10")) << "its root counted by that key alone";
}

TEST_F(TrustedKeys, AKeyOfAnotherRepositoryLiftsNoLimit) {
  put_all();
  trust_for(2, {}, "");
  trust_for(1, {"toy"}, "");
  EXPECT_THAT(offered(), IsEmpty());
}

TEST_F(TrustedKeys, OneForTheRepositoryReplacesTheSameForAll) {
  put_all();
  trust_for(1, {"toy"}, "");
  trust_for(1, {}, location);
  EXPECT_THAT(offered(), ElementsAre("pytorch"));
  trust_for(1, {"toy"}, location);
  trust_for(1, {}, "");
  EXPECT_THAT(offered(), IsEmpty());
}

TEST_F(TrustedKeys, OfTwoThatSignedTheLessLimitedCounts) {
  put_root(root_of(1, {1, 2}), {1, 2});
  put_index(index_of(7), {1});
  trust_for(1, {"toy"});
  trust_for(2, {});
  EXPECT_THAT(offered(), ElementsAre("pytorch"));
}

TEST_F(TrustedKeys, WithoutWhoSignedTheFirstRootAllOfThemCount) {
  put_all();
  trust_for(1, {"toy"});
  EXPECT_THAT(offered(), IsEmpty());
  const std::filesystem::path file = store_.files(location).back();
  Json stored = *parse_json(*read_file(file, 1u << 20), "seen");
  ASSERT_THAT(stored["trusted_by"].as_array(), testing::SizeIs(1));
  Json before = Json::object();  // as EngineHost wrote it before it stored that
  for (const auto& [name, value] : stored.as_object())
    if (name != "trusted_by") before.set(name, value);
  ASSERT_TRUE(write_file(file, before.dump(1)));
  EXPECT_THAT(offered(), IsEmpty());
  trust_for(1, {});
  EXPECT_THAT(offered(), ElementsAre("pytorch"));
}

// A thief of one key of three makes a root with another threshold and keys of his own.
TEST_F(TrustedKeys, AsManyAsTheUserSaidSignTheFirstRoot) {
  put_root(root_of(1, {1, 9}), {1, 9});
  put_index(index_of(7), {9});
  for (const int key : {1, 2, 3}) trust_for(key, {}, location, 2);
  trust_for(9, {}, "");  // of another publisher
  EXPECT_THAT(offered(), ElementsAre("EH-M08"));
  put_root(root_of(1, {1, 2, 3}, 2), {1, 3});
  put_index(index_of(7), {1, 2});
  EXPECT_THAT(offered(), ElementsAre("pytorch"));
}

TEST_F(TrustedKeys, AsManyAsTheUserSaidAlsoLeadThroughOlderRoots) {
  for (const int key : {1, 2}) trust_for(key, {}, location, 2);
  put_root(root_of(1, {1, 2}, 2), {1});
  put_root(root_of(2, {4}), {1, 4});
  put_index(index_of(7), {4});
  EXPECT_THAT(offered(), ElementsAre("EH-M08"));
  put_root(root_of(1, {1, 2}, 2), {1, 2});
  put_root(root_of(2, {4}), {1, 2, 4});
  drop_signatures("root.json");
  sign("root.json", 4, Role::root, 2);
  sign("root.json", 1, Role::root, 2);
  EXPECT_THAT(offered(), ElementsAre("pytorch"));
}

}  // namespace
}  // namespace enginehost::manifest
