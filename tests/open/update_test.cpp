// Installed builds and newer ones in a repository: what an open takes, fetches and reports, and which failure
// it shows.
#include <gmock/gmock.h>

#include "host/explain/explain.hpp"
#include "tests/open/fixture.hpp"

namespace enginehost::open {
namespace {

class Updates : public LoadOrder {
 protected:
  // The fixture's build has version 1.0.0.
  void offer(const std::string& version, const std::string& id = {}) {
    test::TestBuild build = test::good_build(id.empty() ? "reference-" + version : id);
    build.version = version;
    repository_.add(build);
    repository_.write();
  }
  // Opens as an application with that setting; returns the version that it gets, or the failure's code.
  std::string open_with(const std::string& update, const std::string& version = {}) {
    flags_.update = update;
    request_.request.version = version;
    last_ = open();
    if (last_.state != State::opened)
      return last_.diagnosis ? std::string(last_.diagnosis->code_text()) : "no diagnosis";
    return last_.opened->installed.version;
  }
  std::string update_in_document() {
    const Json document = open::document(*context_, last_);
    const Json& update = document["outcome"]["update"];
    return update.is_null() ? "none" : update["version"].as_string() + " " + update["build"].as_string();
  }
  std::size_t installed() const { return OpenContext(settings()).store().list().size(); }

  Outcome last_;
};

TEST_F(Updates, OfOneApplicationReachTheOther) {
  ASSERT_EQ(open_with("report"), "1.0.0");
  offer("2.0.0");
  EXPECT_EQ(open_with("report"), "1.0.0");
  EXPECT_EQ(last_.downloaded, 0u);
  EXPECT_FALSE(last_.fallback);
  EXPECT_TRUE(last_.warnings.empty());
  EXPECT_EQ(update_in_document(), "2.0.0 reference-2.0.0");
  EXPECT_EQ(installed(), 1u) << "nothing was fetched";
  EXPECT_EQ(open_with("open"), "2.0.0");
  EXPECT_EQ(update_in_document(), "none");
  EXPECT_EQ(open_with("report"), "2.0.0") << "it is installed now";
  EXPECT_EQ(update_in_document(), "none");
  EXPECT_EQ(open_with("never"), "2.0.0");
}

TEST_F(Updates, ComeFirstIfTheirApplicationDoes) {
  offer("2.0.0");
  ASSERT_EQ(open_with("open", "1.0"), "1.0.0");
  EXPECT_EQ(open_with("open"), "2.0.0");
  EXPECT_EQ(open_with("report"), "2.0.0");
  offer("3.0.0");
  EXPECT_EQ(open_with("never"), "2.0.0");
  EXPECT_EQ(update_in_document(), "none") << "never mentions none";
  EXPECT_EQ(open_with("report"), "2.0.0");
  EXPECT_EQ(update_in_document(), "3.0.0 reference-3.0.0");
  EXPECT_EQ(installed(), 2u);
}

// Each constraint is decided on its own, in both orders.
TEST_F(Updates, LeaveOtherConstraintsAlone) {
  offer("1.1.0");
  offer("2.0.0");
  EXPECT_EQ(open_with("report", "1"), "1.1.0");
  EXPECT_EQ(open_with("report", ">=2"), "2.0.0") << "the constraint needs it";
  EXPECT_EQ(open_with("report", "1"), "1.1.0");
  offer("1.2.0");
  EXPECT_EQ(open_with("report", "<2"), "1.1.0");
  EXPECT_EQ(update_in_document(), "1.2.0 reference-1.2.0");
  EXPECT_EQ(open_with("open", "<2"), "1.2.0");
  EXPECT_EQ(open_with("open"), "2.0.0");
  EXPECT_EQ(open_with("report", "<2"), "1.2.0");
}

// A cached decision belongs to one setting, and ends when another application has fetched the update.
TEST_F(Updates, EndTheCachedDecisionsOfOthers) {
  offer("2.0.0");
  ASSERT_EQ(open_with("report", "1.0"), "1.0.0");
  request_.request.version.clear();
  open_until_ready();
  EXPECT_EQ(open_with("report"), "1.0.0");
  EXPECT_TRUE(last_.by_cached_decision);
  EXPECT_EQ(update_in_document(), "2.0.0 reference-2.0.0") << "also of an open that decided nothing";
  EXPECT_EQ(open_with("open"), "2.0.0");
  EXPECT_FALSE(last_.by_cached_decision);
  EXPECT_EQ(open_with("report"), "2.0.0");
  EXPECT_FALSE(last_.by_cached_decision);
}

// Nothing newer is fetched for an installed build that fails here, as long as another one is installed.
TEST_F(Updates, AreNotFetchedWhileAnotherInstalledBuildOpens) {
  ASSERT_EQ(open_with("report"), "1.0.0");
  offer("1.1.0");
  ASSERT_EQ(open_with("open"), "1.1.0");
  offer("2.0.0");
  history::Record record;
  record.build = "reference-1.1.0";
  record.state = history::State::disabled;
  ASSERT_TRUE(history::write(state(), record));
  EXPECT_EQ(open_with("report"), "1.0.0");
  EXPECT_TRUE(last_.fallback);
  EXPECT_EQ(installed(), 2u);
}

TEST_F(Updates, OutOfReachFallBackToTheInstalledBuild) {
  ASSERT_EQ(open_with("report"), "1.0.0");
  offer_out_of_reach(repository_, "reference-2.0.0", "cpu", "2.0.0");
  EXPECT_EQ(open_with("report"), "1.0.0");
  EXPECT_FALSE(last_.fallback) << "nobody was asked";
  EXPECT_EQ(open_with("open"), "1.0.0");
  EXPECT_TRUE(last_.fallback);
  EXPECT_EQ(open_with("report"), "1.0.0");
  EXPECT_FALSE(last_.fallback) << "that its server did not answer just now concerns nobody";
  EXPECT_EQ(open_with("open", ">=2"), "EH-N02");
}

TEST(ShownFailures, AreThoseThatSomebodyHereCanActOn) {
  const auto shown = [](const std::vector<const char*>& codes) {
    std::optional<Diagnosis> reason;
    for (const char* code : codes) keep_the_reason(reason, diagnosis_named(code));
    return reason->code;
  };
  EXPECT_EQ(shown({"EH-N01", "EH-L17"}), "EH-L17") << "a conflict in this process";
  EXPECT_EQ(shown({"EH-L17", "EH-N01"}), "EH-L17");
  EXPECT_EQ(shown({"EH-N01", "EH-P03"}), "EH-P03") << "a license";
  EXPECT_EQ(shown({"EH-N02", "EH-L02", "EH-L17"}), "EH-L02") << "the better build's";
  EXPECT_EQ(shown({"EH-N08", "EH-F15"}), "EH-F15") << "the disk; nobody here repairs a server's bytes";
  EXPECT_EQ(shown({"EH-N01", "EH-N02"}), "EH-N01");
  EXPECT_EQ(shown({"EH-L02", "EH-P03"}), "EH-L02");
  EXPECT_EQ(shown({"EH-L02", "EH-P10"}), "EH-P10") << "the caller canceled";
}

}  // namespace
}  // namespace enginehost::open
