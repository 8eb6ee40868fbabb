// The vectors of RFC 8032 (Ed25519, section 7.1) and RFC 7914 (scrypt, section 12), for either library.
#include "tools/publish/secret_key.hpp"

#include <gtest/gtest.h>

#include <charconv>

namespace enginehost::publish {
namespace {

std::string bytes_of(std::string_view digits) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    unsigned value = 0;
    std::from_chars(digits.data() + at, digits.data() + at + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

template <std::size_t size>
std::string text_of(const std::array<unsigned char, size>& bytes) {
  return {bytes.begin(), bytes.end()};
}

struct Vector {
  const char *seed, *key, *message, *signature;
};
constexpr Vector vectors[] = {{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                               "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                               "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33"
                               "bacc61e39701cf9b46bd25bf5f0595b"
                               "be24655141438e7a100b"},
                              {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                               "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                               "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e159"
                               "96e458f3613d0f11d8c387b2eaeb430"
                               "2aeeb00d291612bb0c00"}};

TEST(SigningPrimitives, Ed25519SignsAsTheRfcDoes) {
  for (const Vector& vector : vectors) {
    const auto key = ed25519_public_key(bytes_of(vector.seed));
    ASSERT_TRUE(key);
    EXPECT_EQ(text_of(*key), bytes_of(vector.key));
    const auto signature = ed25519_signature(bytes_of(vector.seed), bytes_of(vector.message));
    ASSERT_TRUE(signature);
    EXPECT_EQ(text_of(*signature), bytes_of(vector.signature));
  }
}

TEST(SigningPrimitives, ScryptGivesTheRfcsBytes) {
  EXPECT_EQ(
      scrypt_stream("password", "NaCl", 1024, 16, 64),
      bytes_of(
          "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830da"
          "c727afb94a83ee6d8360cbdfa2cc0640"));
  EXPECT_EQ(
      scrypt_stream("pleaseletmein", "SodiumChloride", 16384, 1, 64),
      bytes_of(
          "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9"
          "e61e85dc0d651e40dfcf017b45575887"));
}

TEST(SigningPrimitives, AWipedTextHoldsNothing) {
  std::string text = "secret";
  wipe(text);
  EXPECT_EQ(text, std::string(6, '\0'));
}

}  // namespace
}  // namespace enginehost::publish
