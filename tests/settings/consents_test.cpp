#include "host/settings/consents.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/paths.hpp"
#include "host/settings/records.hpp"
#include "tests/settings/fixture.hpp"

namespace enginehost::settings {
namespace {

using testing::StartsWith;

// The text with every digit replaced by 0.
std::string form_of(std::string text) {
  for (char& c : text)
    if (c >= '0' && c <= '9') c = '0';
  return text;
}

class ConsentFile : public SettingsTest {
 protected:
  std::filesystem::path state() const { return root_ / "state"; }
  Consents all() const { return *Consents::read(state()); }
  void accept(const LicenseTerms& terms, ConsentWay way = ConsentWay::command) {
    ASSERT_TRUE(record_consent(state(), Consent::now(terms, way)));
  }
  const std::string one_ = std::string(64, '1'), two_ = std::string(64, '2');
  const std::uint64_t me_ = User::of_this_process().uid;
};

TEST_F(ConsentFile, NothingIsAcceptedInitially) {
  EXPECT_TRUE(all().all().empty());
  EXPECT_TRUE(Consents::read({})->all().empty()) << "no state folder";
  EXPECT_EQ(all().find({"Vendor", "https://v.example/", one_}, me_), nullptr);
}

TEST_F(ConsentFile, ARecordHoldsTextUserMachineTimeAndManner) {
  accept({"Vendor", "https://v.example/", one_}, ConsentWay::flag);
  const Consents consents = all();
  const Consent* consent = consents.find({"Vendor", "https://v.example/", one_}, me_);
  ASSERT_NE(consent, nullptr);
  EXPECT_EQ(consent->terms.sha256, one_);
  EXPECT_EQ(consent->uid, me_);
  EXPECT_FALSE(consent->host.empty());
  EXPECT_EQ(consent->how, "flag");
  EXPECT_EQ(path_of(consent->application).stem(), "settings_tests");
  EXPECT_THAT(form_of(consent->tool), StartsWith("enginehost 0."));
  EXPECT_EQ(form_of(consent->time), "0000-00-00T00:00:00Z");
}

TEST_F(ConsentFile, AnotherTextNeedsAnotherConsent) {
  accept({"Vendor", "https://v.example/", one_});
  EXPECT_EQ(all().find({"Vendor", "https://v.example/", two_}, me_), nullptr);
  EXPECT_EQ(all().find({"Other", "https://v.example/", one_}, me_), nullptr);
  EXPECT_NE(all().find({"Vendor", "https://elsewhere.example/", one_}, me_), nullptr) << "the same text";
}

TEST_F(ConsentFile, WithoutADigestTheAddressIdentifiesTheText) {
  accept({"Vendor", "https://v.example/1", ""});
  EXPECT_NE(all().find({"Vendor", "https://v.example/1", ""}, me_), nullptr);
  EXPECT_EQ(all().find({"Vendor", "https://v.example/2", ""}, me_), nullptr);
  EXPECT_EQ(all().find({"Vendor", "https://v.example/1", one_}, me_), nullptr) << "the text is known now";
}

TEST_F(ConsentFile, AnotherTextUnderTheSameIdIsFoundAsSuch) {
  accept({"Vendor", "https://v.example/", one_});
  accept({"Policy", "", one_}, ConsentWay::policy);
  accept({"Undigested", "https://v.example/", ""});
  EXPECT_NE(all().find_other_text({"Vendor", "https://v.example/", two_}, me_), nullptr);
  EXPECT_NE(all().find_other_text({"Vendor", "https://evil.example/", ""}, me_), nullptr)
      << "of an unknown text";
  EXPECT_EQ(all().find_other_text({"Vendor", "https://elsewhere.example/", one_}, me_), nullptr)
      << "the same text";
  EXPECT_EQ(all().find_other_text({"Vendor", "", two_}, me_ + 1), nullptr) << "another user's";
  EXPECT_EQ(all().find_other_text({"Policy", "", two_}, me_), nullptr) << "nobody accepted it";
  EXPECT_EQ(all().find_other_text({"Undigested", "", two_}, me_), nullptr)
      << "nobody knows which text that was";
}

TEST_F(ConsentFile, RecordsHoldNoQueryAndAQueryIdentifiesNoText) {
  accept({"Vendor", "https://me:SECRET@v.example/eula?id=1&token=SECRET", ""});
  accept({"Digested", "https://v.example/eula?token=SECRET", one_});
  EXPECT_EQ(read_file(state() / "consents/consents.jsonl")->find("SECRET"), std::string::npos);
  EXPECT_EQ(all().find({"Vendor", "https://v.example/eula?id=2", ""}, me_), nullptr)
      << "perhaps another text";
  EXPECT_EQ(all().find({"Vendor", "https://v.example/eula?id=1&token=SECRET", ""}, me_), nullptr);
  EXPECT_NE(all().find({"Digested", "https://v.example/eula?token=OTHER", one_}, me_), nullptr);
}

// Written by a version that kept queries.
TEST_F(ConsentFile, AnOldConsentCountsForItsAddress) {
  const auto file = state() / "consents/consents.jsonl";
  std::filesystem::create_directories(file.parent_path());
  ASSERT_TRUE(
      write_file(file,
                 R"({"format":1,"license":"Vendor","text_sha256":null,"url":"https://v.example/e?id=1",)"
                 R"("user":"ada","uid":)" +
                     std::to_string(me_) +
                     R"(,"host":"h","time":"2026-01-01T00:00:00Z","how":"flag","application":"a","tool":"t"})"
                     "\n",
                 false));
  EXPECT_NE(all().find({"Vendor", "https://v.example/e?id=1", ""}, me_), nullptr);
  EXPECT_EQ(all().find({"Vendor", "https://v.example/e?id=2", ""}, me_), nullptr);
  EXPECT_EQ(all().find({"Vendor", "https://v.example/e?id=1", one_}, me_), nullptr)
      << "the text is known now";
}

TEST_F(ConsentFile, OneUserDoesNotAcceptForAnother) {
  accept({"Vendor", "", one_});
  EXPECT_EQ(all().find({"Vendor", "", one_}, me_ + 1), nullptr);
  EXPECT_NE(all().find({"Vendor", "", one_}), nullptr) << "but it is known that someone did";
}

TEST_F(ConsentFile, AConsentByPolicyEndsWithIt) {
  accept({"Vendor", "", one_}, ConsentWay::policy);
  EXPECT_EQ(all().find({"Vendor", "", one_}, me_), nullptr);
}

TEST_F(ConsentFile, ACutLineHidesNoOther) {
  accept({"First", "", one_});
  const auto file = state() / "consents/consents.jsonl";
  std::string text = *read_file(file);
  ASSERT_TRUE(write_file(file, text + R"({"format":1,"license":"Se)", false));
  accept({"Third", "", two_});
  EXPECT_EQ(all().unreadable(), 1);
  EXPECT_NE(all().find({"First", "", one_}, me_), nullptr);
  EXPECT_NE(all().find({"Third", "", two_}, me_), nullptr);
}

TEST_F(ConsentFile, LinesAreOnlyAdded) {
  accept({"First", "", one_});
  const auto file = state() / "consents/consents.jsonl";
  const std::string before = *read_file(file);
  accept({"Second", "", one_});
  EXPECT_TRUE(read_file(file)->starts_with(before));
  EXPECT_EQ(read_lines(file)->size(), 2u);
}

TEST_F(ConsentFile, AConsentInAReadOnlyFolderCounts) {
  accept({"First", "", one_});
  const Consents both = *Consents::read(root_ / "elsewhere", state());
  EXPECT_NE(both.find({"First", "", one_}, me_), nullptr);
  EXPECT_EQ(both.find({"First", "", one_}, me_ + 1), nullptr);
  EXPECT_NE(Consents::read({}, state())->find({"First", "", one_}, me_), nullptr) << "nowhere to write";
}

// A pipe would swallow a consent, and a folder would block it.
TEST_F(ConsentFile, ANonFileInItsPlaceFailsWithARemedy) {
  const auto file = state() / "consents/consents.jsonl";
  std::filesystem::create_directories(file.parent_path());
  for (const bool pipe : {true, false}) {
#ifdef _WIN32
    if (pipe) continue;  // pipes are in no folder there
#else
    if (pipe) ASSERT_EQ(::mkfifo(file.c_str(), 0644), 0);
#endif
    if (!pipe) std::filesystem::create_directory(file);
    const auto written = record_consent(state(), Consent::now({"First", "", one_}, ConsentWay::flag));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, "EH-F16");
    EXPECT_EQ(written.error().value(Key::in_the_way), path_text(file));
    const auto read = Consents::read(state());
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().value(Key::in_the_way), path_text(file));
    std::filesystem::remove(file);
  }
}

}  // namespace
}  // namespace enginehost::settings
