// Secret keys in minisign's format, and signing with them.
//
// Format: minisign's "Secret key format": "Ed", "Sc" or 0 0, "B2", 32 bytes of salt, limits of scrypt, then
// number, key and checksum, xored with a stream from the passphrase when it is encrypted.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "host/manifest/trust/minisign.hpp"

namespace enginehost::publish {

// Wipes its secret on destruction. Belongs to one thread.
class SecretKey {
 public:
  SecretKey(manifest::PublicKey public_key, std::string seed)
      : public_(std::move(public_key)), seed_(std::move(seed)) {}
  SecretKey(SecretKey&&) = default;
  SecretKey& operator=(SecretKey&&) = default;
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;
  ~SecretKey();

  const manifest::PublicKey& public_key() const { return public_; }
  // Signs with algorithm "ED": the bytes, and then the signature with the trusted comment.
  Result<manifest::Signature> sign(std::string_view bytes, std::string trusted_comment) const;

 private:
  manifest::PublicKey public_;
  std::string seed_;  // Ed25519 seed: 32 bytes
};

// Called for the passphrase of an encrypted key.
using AskPassphrase = std::function<Result<std::string>(const std::string& file)>;

// Reads the text of a secret key file. Errors: EH-M15 ("file" = name, "problem") when it is none or the
// passphrase is wrong; those of `ask`.
Result<SecretKey> read_secret_key(std::string_view text, const std::string& name, const AskPassphrase& ask);

// The cryptographic functions for signing: OpenSSL's, on Windows libgcrypt's.

// Ed25519 (RFC 8032) with seeds of 32 bytes. Empty when the library fails.
std::optional<manifest::SignatureBytes> ed25519_signature(std::string_view seed, std::string_view bytes);
std::optional<manifest::KeyBytes> ed25519_public_key(std::string_view seed);

// scrypt (RFC 7914) with r = 8. Returns `size` bytes, or nothing when there is too little memory.
std::optional<std::string> scrypt_stream(std::string_view passphrase, std::string_view salt, std::uint64_t n,
                                         std::uint64_t p, std::size_t size);

// Overwrites the text in a way that compilers do not optimize away.
void wipe(std::string& text);

}  // namespace enginehost::publish
