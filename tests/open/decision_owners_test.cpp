// A cached decision, and a layer that it passes over, that somebody else may change.
#include "base/paths.hpp"
#include "host/open/open.hpp"
#include "tests/open/fixture.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

class DecisionOwners : public LoadOrder {
 protected:
  void SetUp() override { open_until_ready(); }
  bool opened_by_cached_decision() {
    const Outcome outcome = open();
    EXPECT_EQ(outcome.state, State::opened);
    return outcome.by_cached_decision;
  }
};

TEST_F(DecisionOwners, WarnsOfALayerBelowAnOpenFolderUntilThatIsFixed) {
  const fs::path above = folder_ / "open";
  fs::create_directories(above / "layer/refs");
  fs::permissions(above, fs::perms::all);
  test::write_text(test::config_of_tests(), "{\"repositories_default\": false, \"system_layers\": [" +
                                                Json(path_text(above / "layer")).dump() + "]}");
  open_until_ready();
  ASSERT_TRUE(opened_by_cached_decision());
  ASSERT_EQ(context_->warnings().size(), 1u);
  EXPECT_NE(context_->warnings()[0].find(path_text(above) + " is not trusted"), std::string::npos);
  fs::permissions(above, fs::perms::owner_all);
  EXPECT_FALSE(opened_by_cached_decision());
  EXPECT_TRUE(context_->warnings().empty());
}

TEST_F(DecisionOwners, IsNotBelievedIfSomebodyElseMayChangeIt) {
  const fs::path state = folder_ / "cache/state";
  for (const fs::path& open_folder : {state / "decisions", state}) {
    open_until_ready();
    ASSERT_TRUE(opened_by_cached_decision());
    fs::permissions(open_folder, fs::perms::all);
    EXPECT_FALSE(opened_by_cached_decision());
    fs::permissions(open_folder, fs::perms::owner_all);
  }
  open_until_ready();
  fs::permissions(folder_ / "cache", fs::perms::all);
  const Outcome outcome = open();
  EXPECT_EQ(outcome.state, State::failed) << "the builds are not believed, either";
  EXPECT_EQ(outcome.diagnosis->code, "EH-F22");
  fs::permissions(folder_ / "cache", fs::perms::owner_all);
  open_until_ready();
  for (const auto& file : fs::directory_iterator(state / "decisions"))
    fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(opened_by_cached_decision());
}

}  // namespace
}  // namespace enginehost::open
