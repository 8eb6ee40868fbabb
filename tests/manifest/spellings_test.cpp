// Another spelling of a repository's location must not switch off the trust in its keys, the required
// signatures, or the floor under its versions.
#include <gmock/gmock.h>

#include "tests/manifest/trust_fixture.hpp"

namespace enginehost::manifest {
namespace {

class Spellings : public TrustTest {
 protected:
  static std::vector<std::string> spellings() {
    const std::string plain = location;
    return {plain,
            plain + "/",
            plain + "/.",
            plain + "//",
            "HTTPS://Engines.Example/repository",
            "https://engines.example:443/repository/",
            "https://engines.example./repository",
            "https://engines.example//repository",
            "https://engines.example/./repository",
            "https://engines.example/other/../repository",
            "https://engines.example/%72epository",
            "https://somebody:secret@engines.example/repository"};
  }
  // As read by a user who spelled the location so.
  std::string code_as(const std::string& written, bool required = false) {
    Trust trust{store_, required, false, {}};
    trust.known_as = written;
    const auto content = load_repository(location, reader_, in_2026, &trust);
    return content ? "" : std::string(content.error().code_text());
  }
  void strip() {
    std::erase_if(reader_.files, [](const auto& one) {
      return one.first.ends_with(".minisig") || one.first.find("root") != std::string::npos;
    });
  }
  // State from before all spellings were one repository.
  void seen_as(const std::string& written, std::int64_t index) {
    Json document = Json::object().set("format", 1).set("repository", written);
    document.set("root", publish::to_json(root_of(1, {1})).dump(1))
        .set("root_version", 1)
        .set("index_version", index);
    document.set("time", in_2026 - 100).set("blocked", Json::array());
    std::filesystem::create_directories(folder_ / "trust");
    ASSERT_TRUE(
        write_file(folder_ / "trust" / (sha256_hex(written).substr(0, 32) + ".json"), document.dump(1)));
  }
};

TEST_F(Spellings, NoneAcceptsARepositoryWithoutItsSignature) {
  put_all();
  strip();
  for (const std::string& trusted : spellings()) {
    store_ = TrustStore(folder_ / sha256_hex(trusted), {});
    trust(1, trusted);
    for (const std::string& written : spellings())
      EXPECT_EQ(code_as(written), "EH-M08") << trusted << ", read as " << written;
  }
}

TEST_F(Spellings, NoneAcceptsUnsignedWhatWasSeenSigned) {
  put_all();
  trust(1, "");
  ASSERT_EQ(code_as(std::string(location) + "/"), "");
  strip();
  for (const std::string& written : spellings()) EXPECT_EQ(code_as(written), "EH-M08") << written;
}

TEST_F(Spellings, NoneReplaysAnOlderIndex) {
  put_all(9);
  trust(1, "");
  ASSERT_EQ(code_as(location), "");
  put_all(8);
  for (const std::string& written : spellings()) EXPECT_EQ(code_as(written), "EH-M11") << written;
}

TEST_F(Spellings, ShareTheirKeysWithEachOtherOnly) {
  put_all();
  trust(1, "HTTPS://Engines.Example:443/repository/");
  for (const std::string& written : spellings()) EXPECT_EQ(code_as(written, true), "") << written;
  for (const char* other : {"http://engines.example/repository", "https://engines.example/repository2",
                            "https://engines.example:8443/repository", "https://engines.example/Repository",
                            "https://engines.example.evil/repository"})
    EXPECT_EQ(code_as(other, true), "EH-M10") << other;
}

TEST_F(Spellings, AKeyKeptWithASlashStillRequiresSignatures) {
  put_all();
  strip();
  std::filesystem::create_directories(folder_ / "trust");
  Json key = Json::object().set("public", test_key(1).public_key().text());
  key.set("repository", std::string(location) + "/");
  ASSERT_TRUE(
      write_file(folder_ / "trust/keys.json",
                 Json::object().set("format", 1).set("keys", Json::array().push(std::move(key))).dump(1)));
  for (const std::string& written : spellings()) EXPECT_EQ(code_as(written), "EH-M08") << written;
}

TEST_F(Spellings, AVersionKeptUnderOneIsAFloorUnderAll) {
  for (const std::string& kept : spellings()) {
    if (kept.find('@') != std::string::npos) continue;  // nothing was stored with a password
    std::filesystem::remove_all(folder_ / "trust");
    seen_as(kept, 9);
    put_all(8);
    for (const std::string& written : spellings())
      EXPECT_EQ(code_as(written), "EH-M11") << kept << ", read as " << written;
    put_all(10);
    EXPECT_EQ(code_as(location), "") << kept;
    put_all(9);
    EXPECT_EQ(code_as(kept), "EH-M11") << kept;
    strip();
    EXPECT_EQ(code_as(location), "EH-M10") << kept << ": no key is left, and none is not enough";
  }
}

TEST_F(Spellings, TheNewestKeptVersionCounts) {
  seen_as(std::string(location) + "/", 9);
  seen_as(location, 5);
  EXPECT_EQ(store_.seen(location)->index_version, 9);
  seen_as(location, 12);
  EXPECT_EQ(store_.seen(std::string(location) + "/")->index_version, 12);
}

TEST_F(Spellings, ARemovedKeyIsForgottenUnderAll) {
  trust(1, "");
  seen_as(std::string(location) + "/", 9);
  seen_as(location, 5);
  ASSERT_TRUE(store_.remove(test_key(1).public_key().id));
  const auto seen = store_.seen(location);
  EXPECT_EQ(seen->root, "");
  EXPECT_EQ(seen->index_version, 9);
}

TEST_F(Spellings, UnreadableStateOfAnotherRepositoryDoesNotMatter) {
  put_all();
  trust(1);
  const auto damage = [&](const std::string& written) {
    ASSERT_TRUE(write_file(folder_ / "trust" / (sha256_hex(written).substr(0, 32) + ".json"), "{"));
  };
  damage("https://other.example");
  EXPECT_EQ(code_as(location), "");
  damage(std::string(location) + "/");
  EXPECT_EQ(code_as(location), "EH-M01") << "what was seen must not be guessed";
}

}  // namespace
}  // namespace enginehost::manifest
