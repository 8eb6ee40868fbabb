// Keys and detached signatures in minisign's formats. Keepers of a repository can make
// and check them with the ordinary minisign tool.
//
// Formats: https://jedisct1.github.io/minisign/ ("Signature format", "Public key format"). A signature is
// Ed25519 over the BLAKE2b-512 of the file (algorithm "ED"); a second one covers the first and the trusted
// comment. The legacy algorithm "Ed", over the file itself, is refused because the signed file could be the
// digest of another one.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::manifest {

using KeyBytes = std::array<unsigned char, 32>;
using SignatureBytes = std::array<unsigned char, 64>;

// A public key. Two keys are equal only when both number and bytes are.
struct PublicKey {
  std::string id;  // 16 upper-case hexadecimal digits: "67F243FC3C79E031"
  KeyBytes bytes{};
  bool operator==(const PublicKey&) const = default;
  // Returns the line that minisign -P takes: "RWQ…", 56 characters.
  std::string text() const;
};

struct Signature {
  std::string key_id;
  SignatureBytes bytes{};
  std::string trusted_comment;
  SignatureBytes global{};  // over `bytes` and the trusted comment
};

// Reads a key: the line itself, or a key file whose first line is an untrusted comment. Error: EH-M15 with
// "file" = name and "problem".
Result<PublicKey> read_public_key(std::string_view text, std::string_view name);

// Reads a .minisig file. Error: EH-M09 with "signature" = name and "problem".
Result<Signature> read_signature(std::string_view text, std::string_view name);

// Returns what is wrong with the signature of `bytes` by that key. Empty when both the bytes and the trusted
// comment are as signed.
std::string problem_of(const Signature& signature, const PublicKey& key, std::string_view bytes);

// Converts the eight bytes of a key's number to minisign's notation, last byte first.
std::string key_id_of(const unsigned char* number);
std::array<unsigned char, 8> number_of_key_id(std::string_view id);

// Returns the 16 digits of an id that a person copied, because minisign prints the number without leading
// zeros. Empty for text that is no key id.
std::string full_key_id(std::string_view text);

// RFC 4648 with padding, strict: accepts only what base64_text() would have written. Empty for other text.
std::string base64_text(std::string_view bytes);
std::string bytes_of_base64(std::string_view text);

// The cryptography of the format: OpenSSL's, on Windows libgcrypt's, because CNG has neither Ed25519 nor
// BLAKE2b.

// RFC 8032. Returns false for a wrong signature and when the library fails. Any thread.
bool ed25519_verifies(const KeyBytes& public_key, std::string_view bytes, const SignatureBytes& signature);

// Returns the BLAKE2b-512 of the bytes, which is what signatures cover.
std::string blake2b_512(std::string_view bytes);

}  // namespace enginehost::manifest
