#include "base/sha256.hpp"

#include <gtest/gtest.h>

#include "base/paths.hpp"
#include "tests/base/temporary_folder.hpp"

namespace enginehost {
namespace {

// The messages of FIPS 180-4's examples (NIST, "SHA256.pdf" and "SHA2_Additional.pdf" of the examples page).
TEST(Sha256, GivesTheDigestsOfFips180) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1, '\xbd')),
            "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
  EXPECT_EQ(sha256_hex(std::string("\xc9\x8c\x8e\x55", 4)),
            "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheTextIsCut) {
  const std::string text(1000, 'x');
  for (const std::size_t piece : {1u, 7u, 63u, 64u, 65u, 999u}) {
    Sha256 digest;
    for (std::size_t at = 0; at < text.size(); at += piece)
      digest.update(std::string_view(text).substr(at, piece));
    EXPECT_EQ(digest.hex(), sha256_hex(text)) << piece;
  }
}

TEST(Sha256, ReadsFilesInPieces) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "million", std::string(3'000'000, 'a'), false));
  const auto digest = sha256_of_file(folder / "million");
  ASSERT_TRUE(digest);
  EXPECT_EQ(*digest, sha256_hex(std::string(3'000'000, 'a')));
}

TEST(Sha256, NamesTheFileThatCannotBeRead) {
  const TemporaryFolder folder;
  const auto missing = sha256_of_file(folder / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "EH-F01");
  EXPECT_EQ(missing.error().value(Key::file), path_text(folder / "missing"));
  EXPECT_EQ(missing.error().value(Key::errno_), "ENOENT");
  const auto is_folder = sha256_of_file(folder.path());
  ASSERT_FALSE(is_folder);
  EXPECT_EQ(is_folder.error().value(Key::errno_), "EISDIR");
}

TEST(Sha256, OnlySixtyFourLowerCaseDigitsAreADigest) {
  EXPECT_TRUE(is_sha256_hex(sha256_hex("")));
  EXPECT_FALSE(is_sha256_hex(""));
  EXPECT_FALSE(is_sha256_hex(std::string(63, 'a')));
  EXPECT_FALSE(is_sha256_hex(std::string(65, 'a')));
  EXPECT_FALSE(is_sha256_hex(std::string(64, 'A')));
  EXPECT_FALSE(is_sha256_hex(std::string(63, 'a') + "g"));
  EXPECT_FALSE(is_sha256_hex("../" + std::string(61, 'a')));
}

}  // namespace
}  // namespace enginehost
