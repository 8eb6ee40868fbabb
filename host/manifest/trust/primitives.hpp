// The cryptography of minisign's format: OpenSSL's, on Windows libgcrypt's, because CNG has neither Ed25519
// nor BLAKE2b.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace enginehost::manifest {

// RFC 8032. Returns false for a wrong signature and when the library fails. Any thread.
bool ed25519_verifies(const std::array<unsigned char, 32>& public_key, std::string_view bytes,
                      const std::array<unsigned char, 64>& signature);

}  // namespace enginehost::manifest
