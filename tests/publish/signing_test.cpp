#include "tests/publish/fixture.hpp"

namespace enginehost::publish {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Signing : public PublisherTest {
 protected:
  void SetUp() override {
    PublisherTest::SetUp();
    if (!HasFatalFailure()) add_toy();
  }
  // As a user who trusts that key reads the folder.
  std::string code_for(int key, std::int64_t now = in_2026) const {
    const fs::path state = folder() / ("state" + std::to_string(key));
    const manifest::TrustStore store(state, {});
    manifest::TrustedKey trusted;
    trusted.key = test_key(key).public_key();
    EXPECT_TRUE(store.add(trusted));
    const manifest::Trust trust{store, true, false, {}};
    manifest::FolderReader reader;
    const auto content = manifest::load_repository(path_text(repository()), reader, now, nullptr, &trust);
    return content ? "" : content.error().code;
  }
};

TEST_F(Signing, the_first_signature_makes_the_root_and_users_of_its_key_read_the_repository) {
  const auto result = sign_with({1});
  ASSERT_TRUE(result) << result.error().value("problem");
  EXPECT_THAT(result->missing, IsEmpty());
  EXPECT_EQ(result->documents.size(), 2u);
  EXPECT_EQ(code_for(1), "");
  EXPECT_EQ(code_for(2), "EH-M10");
}

TEST_F(Signing, what_did_not_change_keeps_its_serial_and_its_signatures) {
  ASSERT_TRUE(sign_with({1}));
  const auto again = sign_with({1}, {}, in_2026 + 1000);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->serial, 1);
  EXPECT_THAT(again->documents, IsEmpty());
  add_toy("1.0.1");
  EXPECT_EQ(sign_with({1})->serial, 2);
  EXPECT_EQ(code_for(1), "");
}

TEST_F(Signing, an_index_is_renewed_after_half_its_time) {
  ASSERT_TRUE(sign_with({1}));
  EXPECT_EQ(sign_with({1}, {}, in_2026 + 200 * 86'400)->serial, 2);
}

TEST_F(Signing, several_keepers_sign_one_after_the_other) {
  RootChange change;
  change.add = {test_key(2).public_key()};
  change.root_threshold = change.index_threshold = 2;
  const auto first = sign_with({1}, change);
  ASSERT_TRUE(first);
  EXPECT_THAT(first->missing, testing::Contains(HasSubstr("1 of 2")));
  EXPECT_EQ(code_for(1), "EH-M08");
  const auto second = sign_with({2});
  ASSERT_TRUE(second);
  EXPECT_THAT(second->missing, IsEmpty());
  EXPECT_EQ(code_for(1), "");
}

TEST_F(Signing, keys_rotate_and_old_users_follow) {
  ASSERT_TRUE(sign_with({1}));
  ASSERT_EQ(code_for(1), "");
  RootChange change;
  change.add = {test_key(2).public_key()};
  change.remove = {test_key(1).public_key().id};
  const auto alone = sign_with({2}, change);
  ASSERT_TRUE(alone);
  EXPECT_THAT(alone->missing, testing::Not(IsEmpty())) << "the old key has not signed";
  const auto both = sign_with({1, 2});
  ASSERT_TRUE(both) << both.error().value("problem");
  EXPECT_THAT(both->missing, IsEmpty());
  EXPECT_EQ(code_for(1), "");
  EXPECT_EQ(code_for(2), "");
  EXPECT_FALSE(sign_with({1, 3})) << "3 is a stranger";
}

TEST_F(Signing, a_revoked_keys_signatures_are_refused_by_name) {
  RootChange change;
  change.add = {test_key(2).public_key()};
  ASSERT_TRUE(sign_with({1}, change));
  ASSERT_EQ(code_for(1), "");
  RootChange revoke;
  revoke.revoke = {test_key(2).public_key().id};
  ASSERT_TRUE(sign_with({1}, revoke));
  EXPECT_EQ(code_for(1), "");
  fs::remove(repository() / ("index.json." + test_key(1).public_key().id + ".minisig"));
  const auto forged =
      test_key(2).sign(bytes_of(repository() / "index.json"), "role:index version:1 ts:1795000000");
  write("repository/index.json." + test_key(2).public_key().id + ".minisig",
        write_signature(*forged, "by the thief"));
  EXPECT_EQ(code_for(1), "EH-M13");
}

// Where there is less memory minisign makes a key that takes less to open: 128 MiB here instead of 1 GiB,
// which several tests at once would have to have. tests/end-to-end/publishers_way_test.cpp opens one of 1
// GiB.
TEST_F(Signing, minisign_checks_what_we_sign_and_we_check_what_it_signs) {
  ChildRequest probe;
  probe.argv = {"minisign", "-v"};
  if (const auto there = run_child(probe); !there || there->exit_code != 0) GTEST_SKIP() << "no minisign";
  const std::string in = path_text(folder()) + "/";
  for (const bool encrypted : {false, true}) {
    SCOPED_TRACE(encrypted);
    run({"bash", "-c",
         "cd '" + in + "' && rm -f k.* && " +
             (encrypted
                  ? std::string("ulimit -v 200000 && printf 'pw\\npw\\n' | minisign -G -p k.pub -s k.key")
                  : std::string("minisign -G -W -p k.pub -s k.key"))});
    const auto ask = [](const std::string&) -> Result<std::string> { return std::string("pw"); };
    const auto key = read_secret_key(bytes_of(folder() / "k.key"), "k.key", ask);
    ASSERT_TRUE(key) << key.error().value("problem");
    EXPECT_EQ(key->public_key(), *manifest::read_public_key(bytes_of(folder() / "k.pub"), "k.pub"));
    for (const std::string& text : {std::string(), std::string("some bytes"), std::string(3'000'000, 'x')}) {
      write("document", text);
      write("document.minisig", write_signature(*key->sign(text, "role:index version:1 ts:2"), "ours"));
      EXPECT_THAT(run({"minisign", "-V", "-p", in + "k.pub", "-m", in + "document"}),
                  HasSubstr("role:index version:1 ts:2"));
      run({"bash", "-c", "cd '" + in + "' && printf 'pw\\n' | minisign -S -s k.key -m document -t theirs"});
      const auto theirs = manifest::read_signature(bytes_of(folder() / "document.minisig"), "theirs");
      ASSERT_TRUE(theirs) << theirs.error().value("problem");
      EXPECT_EQ(problem_of(*theirs, key->public_key(), text), "");
      EXPECT_EQ(theirs->trusted_comment, "theirs");
      EXPECT_NE(problem_of(*theirs, key->public_key(), text + "x"), "");
    }
    if (!encrypted) continue;
    const auto wrong =
        read_secret_key(bytes_of(folder() / "k.key"), "k.key",
                        [](const std::string&) -> Result<std::string> { return std::string("no"); });
    ASSERT_FALSE(wrong);
    EXPECT_THAT(std::string(wrong.error().value("problem")), HasSubstr("passphrase"));
  }
}

}  // namespace
}  // namespace enginehost::publish
