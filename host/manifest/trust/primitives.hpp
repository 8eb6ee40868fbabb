// The cryptography under minisign's format: OpenSSL's, on Windows libgcrypt's (CNG knows neither of the two).
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace enginehost::manifest {

// RFC 8032. False for a wrong signature and when the library cannot tell. Any thread.
bool ed25519_verifies(const std::array<unsigned char, 32>& public_key, std::string_view bytes,
                      const std::array<unsigned char, 64>& signature);

}  // namespace enginehost::manifest
