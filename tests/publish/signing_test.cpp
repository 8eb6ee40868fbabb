#include "tests/publish/fixture.hpp"
#include "tools/publish/signed_documents.hpp"

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
  // The code that a user who trusts that key gets from the folder.
  std::string code_for(int key, std::int64_t now = in_2026) const {
    const fs::path state = folder() / ("state" + std::to_string(key));
    const manifest::TrustStore store(state, {});
    manifest::TrustedKey trusted;
    trusted.key = test_key(key).public_key();
    EXPECT_TRUE(store.add(trusted));
    const manifest::Trust trust{store, true, false, {}};
    manifest::FolderReader reader;
    const auto content = manifest::load_repository(path_text(repository()), reader, now, &trust);
    return content ? "" : std::string(content.error().code_text());
  }
  // An edit of root.json by hand.
  void only_index_for_key_2() const {
    manifest::Root root = workspace().root()->value();
    root.keys.at(1).root = false;
    ASSERT_TRUE(write_file(repository() / "root.json", to_json(root).dump(2)));
  }
  // The files that users would get.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(repository()))
      if (entry.is_regular_file() && entry.path().filename() != ".lock")
        all[generic_text(entry.path().lexically_relative(repository()))] = bytes_of(entry.path());
    return all;
  }
};

TEST_F(Signing, TheFirstSignatureMakesTheRootThatUsersTrust) {
  const auto result = sign_with({1});
  ASSERT_TRUE(result) << result.error().value(Key::problem);
  EXPECT_THAT(result->missing, IsEmpty());
  EXPECT_EQ(result->documents.size(), 2u);
  EXPECT_EQ(code_for(1), "");
  EXPECT_EQ(code_for(2), "EH-M10");
}

TEST_F(Signing, UnchangedDocumentsKeepSerialAndSignatures) {
  ASSERT_TRUE(sign_with({1}));
  const auto again = sign_with({1}, {}, in_2026 + 1000);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->serial, 1);
  EXPECT_THAT(again->documents, IsEmpty());
  add_toy("1.0.1");
  EXPECT_EQ(sign_with({1})->serial, 2);
  EXPECT_EQ(code_for(1), "");
}

TEST_F(Signing, AnIndexIsRenewedAfterHalfItsTime) {
  ASSERT_TRUE(sign_with({1}));
  EXPECT_EQ(sign_with({1}, {}, in_2026 + 200 * 86'400)->serial, 2);
}

TEST_F(Signing, SeveralKeyHoldersSignOneAfterTheOther) {
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

TEST_F(Signing, KeysRotateAndOldUsersFollow) {
  ASSERT_TRUE(sign_with({1}));
  ASSERT_EQ(code_for(1), "");
  RootChange change;
  change.add = {test_key(2).public_key()};
  change.remove = {test_key(1).public_key().id};
  const auto alone = sign_with({2}, change);
  ASSERT_TRUE(alone);
  EXPECT_THAT(alone->missing, testing::Not(IsEmpty())) << "the old key has not signed";
  const auto both = sign_with({1, 2});
  ASSERT_TRUE(both) << both.error().value(Key::problem);
  EXPECT_THAT(both->missing, IsEmpty());
  EXPECT_EQ(code_for(1), "");
  EXPECT_EQ(code_for(2), "");
  EXPECT_FALSE(sign_with({1, 3})) << "3 is a stranger";
}

TEST_F(Signing, ARevokedKeysSignaturesAreRefusedByName) {
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

// The attack: by hand the second key loses the role for roots, and its thief signs one.
TEST_F(Signing, ARoleRemovedByHandBindsEveryHolderOfTheKey) {
  RootChange two;
  two.add = {test_key(2).public_key()};
  ASSERT_TRUE(sign_with({1}, two));
  ASSERT_EQ(code_for(1), "") << "with both roles";
  only_index_for_key_2();
  EXPECT_THAT(problems(), HasSubstr("it was edited"));
  EXPECT_EQ(publish::publish(workspace(), out(), in_2026).error().code, "EH-M16");
  const auto result = sign_with({1, 2});
  ASSERT_TRUE(result) << result.error().value(Key::problem);
  EXPECT_EQ(result->root_version, 2) << "two roots of one version would be two truths";
  EXPECT_THAT(result->missing, IsEmpty());
  EXPECT_EQ(problems(), "");
  EXPECT_EQ(bytes_of(repository() / "root.json"), bytes_of(repository() / "roots/2.json"));
  ASSERT_TRUE(publish::publish(workspace(), out(), in_2026));
  ASSERT_EQ(code_for(1), "");

  RootChange thief;
  thief.add = {test_key(3).public_key()};
  thief.remove = {test_key(1).public_key().id};
  const auto stolen = sign_with({2, 3}, thief);
  ASSERT_TRUE(stolen);
  EXPECT_THAT(stolen->missing, testing::Not(IsEmpty()));
  EXPECT_EQ(publish::publish(workspace(), out(), in_2026).error().code, "EH-M10");
  EXPECT_EQ(code_for(1), "EH-M10");
  fs::remove_all(folder() / "state1");
  EXPECT_EQ(code_for(1), "EH-M10") << "who never saw it before";
}

TEST_F(Signing, AnEditOfAPublishedRootIsTheNextRoot) {
  RootChange two;
  two.add = {test_key(2).public_key()};
  ASSERT_TRUE(sign_with({1}, two));
  ASSERT_TRUE(publish::publish(workspace(), out(), in_2026));
  ASSERT_EQ(code_for(1), "");
  only_index_for_key_2();
  ASSERT_TRUE(sign_with({1}));
  const auto published = publish::publish(workspace(), out(), in_2026);
  ASSERT_TRUE(published) << published.error().code;
  EXPECT_TRUE(published->changed) << "the index is the same";
  EXPECT_EQ(published->root_version, 2);
  EXPECT_EQ(bytes_of(out() / "root.json"), bytes_of(repository() / "root.json"));
  add_toy("1.0.1");
  ASSERT_TRUE(sign_with({1}));
  EXPECT_EQ(code_for(1), "") << "who saw the root before follows";
}

TEST_F(Signing, AnotherNameIsAnotherRoot) {
  ASSERT_TRUE(sign_with({1}));
  ASSERT_EQ(code_for(1), "");
  write("repository/repository.json", R"({"format": 1, "name": "Other", "expires_days": 365})");
  EXPECT_THAT(problems(), HasSubstr("it is the root of \"Toy\""));
  EXPECT_EQ(publish::publish(workspace(), out(), in_2026).error().code, "EH-M16");
  const auto result = sign_with({1});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->root_version, 2);
  EXPECT_EQ(problems(), "");
  EXPECT_EQ(code_for(1), "");
}

TEST_F(Signing, ChangesOfARefusedCommandAreNeverSigned) {
  RootChange two;
  two.add = {test_key(2).public_key()};
  ASSERT_TRUE(sign_with({1}, two));
  const auto before = files();
  RootChange evil;
  evil.revoke = {test_key(2).public_key().id};
  EXPECT_EQ(sign_with({3}, evil).error().code, "EH-M17");
  EXPECT_EQ(sign_with({1, 3}, evil).error().code, "EH-M17") << "one of two is a stranger";
  EXPECT_EQ(files(), before);
  // The same when the command ends for another reason: a manifest that cannot be read.
  fs::create_directory(repository() / "engines/broken.json");
  EXPECT_FALSE(sign_with({1}, evil));
  fs::remove(repository() / "engines/broken.json");
  const auto ordinary = sign_with({1});
  ASSERT_TRUE(ordinary);
  EXPECT_EQ(ordinary->root_version, 1);
  EXPECT_FALSE(workspace().root()->value().is_revoked(test_key(2).public_key().id));
}

// As after a kill between root.json and its copy, in the order in which sign once wrote them.
TEST_F(Signing, ARootWithoutItsCopyGetsItBackWithAllSignatures) {
  RootChange two;
  two.add = {test_key(2).public_key()};
  two.root_threshold = 2;
  ASSERT_TRUE(sign_with({1}, two));
  ASSERT_TRUE(sign_with({2}));
  const auto whole = files();
  for (const auto& entry : fs::directory_iterator(repository() / "roots")) fs::remove(entry.path());
  EXPECT_THAT(problems(), HasSubstr("there is no copy of it"));
  EXPECT_EQ(publish::publish(workspace(), out(), in_2026).error().code, "EH-M16");
  ASSERT_TRUE(sign_with({1}));
  EXPECT_EQ(files(), whole);
  fs::remove(repository() / "roots/1.json");
  RootChange third;
  third.add = {test_key(3).public_key()};
  ASSERT_TRUE(sign_with({1, 2, 3}, third)) << "no hole before the next root";
  EXPECT_EQ(bytes_of(repository() / "roots/1.json"), whole.at("roots/1.json"));
  EXPECT_EQ(problems(), "");
}

TEST_F(Signing, AnIndexThatNobodyCouldReadIsNeitherWrittenNorSigned) {
  ASSERT_TRUE(sign_with({1}));
  const auto before = files();
  const std::string repository_json = bytes_of(repository() / "repository.json");
  write("repository/repository.json",
        R"({"format": 1, "name": "Toy", "blocked": [{"sha256": "abc", "reason": "wrong sums"}]})");
  const auto opened = Workspace::open(repository());
  ASSERT_FALSE(opened) << "lint, sign and publish say so alike";
  EXPECT_EQ(opened.error().code, "EH-M02");
  EXPECT_THAT(std::string(opened.error().value(Key::document)), HasSubstr("repository.json"));
  EXPECT_EQ(opened.error().value(Key::member), "blocked[0].sha256");
  write("repository/repository.json", repository_json);
  for (const char* text : {"{", R"({"format": 1, "engine": "other"})"}) {
    write("repository/engines/other.json", text);
    EXPECT_FALSE(sign_with({1})) << text;
    EXPECT_FALSE(publish::publish(workspace(), out(), in_2026)) << text;
    fs::remove(repository() / "engines/other.json");
    EXPECT_EQ(files(), before);
  }
}

TEST_F(Signing, AKeyGetsTheRolesThatItIsAddedFor) {
  RootChange daily;
  daily.add_for_index = {test_key(2).public_key()};
  ASSERT_TRUE(sign_with({1}, daily));
  const auto root = [&] { return workspace().root()->value(); };
  EXPECT_THAT(root().keys_for(manifest::Role::root), testing::ElementsAre(test_key(1).public_key()));
  EXPECT_EQ(root().keys_for(manifest::Role::index).size(), 2u);
  ASSERT_EQ(code_for(1), "");
  add_toy("1.0.1");
  ASSERT_TRUE(sign_with({2}));
  EXPECT_EQ(code_for(1), "") << "signed by the key for every day";
  EXPECT_EQ(code_for(2), "EH-M10") << "which leads nobody to a root";
  // The key's thief makes a root, and no user follows it.
  const auto before = files();
  RootChange thief;
  thief.add = {test_key(3).public_key()};
  thief.remove = {test_key(1).public_key().id};
  EXPECT_THAT(sign_with({2, 3}, thief)->missing, testing::Not(IsEmpty()));
  EXPECT_EQ(code_for(1), "EH-M10");
  for (const char* left : {"root.json", "roots"}) fs::remove_all(repository() / left);
  for (const auto& [name, bytes] : before) write("repository/" + name, bytes);
  ASSERT_EQ(code_for(1), "");
  // The flags change the roles of an existing key.
  RootChange apart;
  apart.add_for_root = {test_key(1).public_key()};
  ASSERT_TRUE(sign_with({1}, apart));
  EXPECT_THAT(root().keys_for(manifest::Role::index), testing::ElementsAre(test_key(2).public_key()));
  add_toy("1.0.2");
  EXPECT_THAT(sign_with({1})->missing, testing::ElementsAre(HasSubstr("index.json has 0 of 1")));
  ASSERT_TRUE(sign_with({2}));
  EXPECT_EQ(code_for(1), "");
  RootChange both;
  both.add = {test_key(2).public_key()};
  ASSERT_TRUE(sign_with({1, 2}, both));
  EXPECT_EQ(root().keys_for(manifest::Role::root).size(), 2u);
  EXPECT_EQ(problems(), "");
}

TEST_F(Signing, ARootThatNobodyCouldSignOrReadIsNotWritten) {
  ASSERT_TRUE(sign_with({1}));
  const auto before = files();
  const manifest::PublicKey own = test_key(1).public_key(), other = test_key(2).public_key();
  RootChange none, twice, clash, strange, unknown;
  none.add_for_index = {own};
  twice.add = {other};
  twice.add_for_index = {other};
  clash.add = {other};
  clash.revoke = {other.id};
  strange.add = {own};
  strange.add[0].bytes[0] ^= 1;
  unknown.revoke = {"ABC"};
  const std::pair<RootChange*, std::string> refused[] = {
      {&none, "fewer keys would be left for the root than must sign it (1)"},
      {&twice, "--add-key and --add-index-key both name the key " + other.id},
      {&clash, "--add-key and --revoke-key both name the key " + other.id},
      {&strange, "its root has another key of the id " + own.id},
      {&unknown, "its root has no key ABC (its keys are " + own.id + ")"}};
  for (const auto& [change, problem] : refused) {
    const auto result = sign_with({1}, *change);
    ASSERT_FALSE(result) << problem;
    EXPECT_EQ(result.error().code, "EH-M17");
    EXPECT_THAT(std::string(result.error().value(Key::problem)), HasSubstr(problem));
  }
  RootChange many;
  for (int number = 0; number < 64; ++number) {
    manifest::PublicKey key = other;
    key.bytes[0] = static_cast<unsigned char>(number);
    key.id[15] = "0123456789ABCDEF"[number % 16];
    key.id[14] = "0123456789ABCDEF"[number / 16];
    many.add_for_index.push_back(key);
  }
  const auto result = sign_with({1}, many);
  ASSERT_FALSE(result);
  EXPECT_THAT(std::string(result.error().value(Key::problem)),
              HasSubstr("65 keys, and no reader takes more than 64"));
  // One key under two ids would count twice.
  RootChange copy;
  copy.add = {own};
  copy.add[0].id = other.id;
  EXPECT_EQ(sign_with({1}, copy).error().code, "EH-M02");
  EXPECT_EQ(files(), before);
}

TEST_F(Signing, AKeyGivenTwiceMakesAReadableRoot) {
  const auto result = sign_with({1, 1});
  ASSERT_TRUE(result) << result.error().value(Key::problem);
  EXPECT_EQ(result->documents.size(), 2u);
  EXPECT_EQ(workspace().root()->value().keys.size(), 1u);
  EXPECT_EQ(code_for(1), "");
}

TEST_F(Signing, AnUnlistedLostKeyCanBeRevoked) {
  const std::string id = test_key(2).public_key().id;
  RootChange two, out, lost;
  two.add_for_index = {test_key(2).public_key()};
  out.remove = {id};
  lost.revoke = {id};
  ASSERT_TRUE(sign_with({1}, two));
  ASSERT_TRUE(sign_with({1}, out));
  const auto result = sign_with({1}, lost);
  ASSERT_TRUE(result) << result.error().value(Key::problem);
  EXPECT_TRUE(workspace().root()->value().is_revoked(id));
  EXPECT_EQ(code_for(1), "");
  EXPECT_FALSE(sign_with({1}, two));
}

TEST_F(Signing, ACopyOfAnUnpublishedRootIsNotUsed) {
  ASSERT_TRUE(sign_with({1}));
  fs::copy_file(repository() / "roots/1.json", repository() / "roots/2.json");
  write("repository/roots/2.json." + test_key(3).public_key().id + ".minisig", "of a killed one");
  EXPECT_EQ(problems(), "");
  ASSERT_TRUE(publish::publish(workspace(), out(), in_2026));
  EXPECT_FALSE(fs::exists(out() / "roots/2.json"));
  RootChange two;
  two.add = {test_key(2).public_key()};
  ASSERT_TRUE(sign_with({1}, two));
  EXPECT_EQ(bytes_of(repository() / "roots/2.json"), bytes_of(repository() / "root.json"));
  ASSERT_TRUE(publish::publish(workspace(), out(), in_2026));
  EXPECT_EQ(code_for(1), "");
}

TEST_F(Signing, ARevokedKeyDoesNotComeBack) {
  const std::string id = test_key(2).public_key().id;
  RootChange two, revoke;
  two.add = {test_key(2).public_key()};
  revoke.revoke = {id};
  ASSERT_TRUE(sign_with({1}, two));
  ASSERT_TRUE(sign_with({1}, revoke));
  const auto revoked = files();
  for (const int key : {1, 2}) {
    const auto back = sign_with({key}, two);
    ASSERT_FALSE(back);
    EXPECT_THAT(std::string(back.error().value(Key::problem)), HasSubstr("revoked the key " + id));
    EXPECT_THAT(std::string(back.error().value(Key::remedy)), HasSubstr("make a new one"));
  }
  EXPECT_EQ(files(), revoked);
  RootChange third;
  third.add = {test_key(3).public_key()};
  ASSERT_TRUE(sign_with({1}, third)) << "until now it stood for the root before";
  const auto before = files();
  const auto alone = sign_with({2});
  ASSERT_FALSE(alone);
  EXPECT_THAT(std::string(alone.error().value(Key::problem)), HasSubstr("revoked the key " + id));
  EXPECT_THAT(std::string(alone.error().value(Key::remedy)), testing::Not(HasSubstr("--add-key " + id)));
  EXPECT_EQ(files(), before);
}

// With less memory minisign makes a key that needs less to open: 128 MiB here instead of 1 GiB, which several
// concurrent tests would need. tests/end-to-end/publisher_commands_test.cpp opens one of 1 GiB.
TEST_F(Signing, MinisignChecksWhatWeSignAndWeCheckWhatItSigns) {
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
    ASSERT_TRUE(key) << key.error().value(Key::problem);
    EXPECT_EQ(key->public_key(), *manifest::read_public_key(bytes_of(folder() / "k.pub"), "k.pub"));
    for (const std::string& text : {std::string(), std::string("some bytes"), std::string(3'000'000, 'x')}) {
      write("document", text);
      write("document.minisig", write_signature(*key->sign(text, "role:index version:1 ts:2"), "ours"));
      EXPECT_THAT(run({"minisign", "-V", "-p", in + "k.pub", "-m", in + "document"}),
                  HasSubstr("role:index version:1 ts:2"));
      run({"bash", "-c", "cd '" + in + "' && printf 'pw\\n' | minisign -S -s k.key -m document -t theirs"});
      const auto theirs = manifest::read_signature(bytes_of(folder() / "document.minisig"), "theirs");
      ASSERT_TRUE(theirs) << theirs.error().value(Key::problem);
      EXPECT_EQ(problem_of(*theirs, key->public_key(), text), "");
      EXPECT_EQ(theirs->trusted_comment, "theirs");
      EXPECT_NE(problem_of(*theirs, key->public_key(), text + "x"), "");
    }
    if (!encrypted) continue;
    const auto wrong =
        read_secret_key(bytes_of(folder() / "k.key"), "k.key",
                        [](const std::string&) -> Result<std::string> { return std::string("no"); });
    ASSERT_FALSE(wrong);
    EXPECT_THAT(std::string(wrong.error().value(Key::problem)), HasSubstr("passphrase"));
  }
}

}  // namespace
}  // namespace enginehost::publish
