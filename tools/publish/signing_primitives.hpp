// The cryptographic functions for signing: OpenSSL's, on Windows libgcrypt's.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/manifest/trust/minisign.hpp"

namespace enginehost::publish {

// Ed25519 (RFC 8032) with seeds of 32 bytes. Empty when the library fails.
std::optional<manifest::SignatureBytes> ed25519_signature(std::string_view seed, std::string_view bytes);
std::optional<manifest::KeyBytes> ed25519_public_key(std::string_view seed);

// scrypt (RFC 7914) with r = 8. Returns `size` bytes, or nothing when there is too little memory.
std::optional<std::string> scrypt_stream(std::string_view passphrase, std::string_view salt, std::uint64_t n,
                                         std::uint64_t p, std::size_t size);

// Overwrites the text in a way that compilers do not optimize away.
void wipe(std::string& text);

}  // namespace enginehost::publish
