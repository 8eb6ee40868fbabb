// The cryptography of signatures, with the test vectors of its own documents, because Windows uses another
// library.
#include "host/manifest/trust/minisign.hpp"

#include <gtest/gtest.h>

namespace enginehost::manifest {
namespace {

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return bytes;
}

template <std::size_t size>
std::array<unsigned char, size> array_of(std::string_view hex) {
  std::array<unsigned char, size> array{};
  const std::string bytes = bytes_of(hex);
  for (std::size_t i = 0; i < size && i < bytes.size(); ++i) array[i] = static_cast<unsigned char>(bytes[i]);
  return array;
}

struct Vector {
  const char *key, *message, *signature;
};
// RFC 8032, section 7.1, tests 1 to 3.
constexpr Vector vectors[] = {
    {"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f"
     "0595bbe24655"
     "141438e7a100b"},
    {"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2ea"
     "eb4302aeeb00"
     "d291612bb0c00"},
    {"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e"
     "9716ed28dc02"
     "7beceea1ec40a"},
};

TEST(Ed25519, TheVectorsOfItsDocumentHoldAndNothingElse) {
  for (const Vector& vector : vectors) {
    const auto key = array_of<32>(vector.key);
    auto signature = array_of<64>(vector.signature);
    const std::string message = bytes_of(vector.message);
    EXPECT_TRUE(ed25519_verifies(key, message, signature)) << vector.message;
    EXPECT_FALSE(ed25519_verifies(key, message + "x", signature));
    for (const std::size_t at : {std::size_t{0}, std::size_t{31}, std::size_t{32}, std::size_t{62}}) {
      signature[at] ^= 1;
      EXPECT_FALSE(ed25519_verifies(key, message, signature)) << at;
      signature[at] ^= 1;
    }
    auto other = key;
    other[3] ^= 4;
    EXPECT_FALSE(ed25519_verifies(other, message, signature));
  }
}

// A long message, as a manifest is; its length decides the number of blocks.
TEST(Blake2b, TheVectorOfItsDocumentHolds) {
  EXPECT_EQ(blake2b_512("abc"),
            bytes_of("ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5d"
                     "e4533cc9518d3"
                     "8aa8dbf1925ab92386edd4009923"));  // RFC 7693, appendix A
  EXPECT_EQ(blake2b_512(std::string(1'000'000, 'a')).size(), 64u);
  EXPECT_NE(blake2b_512(std::string(1'000'000, 'a')), blake2b_512(std::string(1'000'001, 'a')));
}

TEST(Base64, ThereIsOneTextForTheSameBytes) {
  // RFC 4648, section 10.
  constexpr const char* pairs[][2] = {{"f", "Zg=="},        {"fo", "Zm8="},        {"foo", "Zm9v"},
                                      {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(base64_text(bytes), text);
    EXPECT_EQ(bytes_of_base64(text), bytes);
  }
  EXPECT_EQ(base64_text(""), "");
  EXPECT_EQ(base64_text(std::string("\xff\x00\xfe", 3)), "/wD+");
  for (const char* wrong :
       {"", "Zg=", "Zg", "Zh==", "Z===", "Zm9v\n", "Zm 9v", "Zg==Zg==", "====", "Zm9*", "=Zg="})
    EXPECT_EQ(bytes_of_base64(wrong), "") << wrong;
}

}  // namespace
}  // namespace enginehost::manifest
