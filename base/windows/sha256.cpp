// SHA-256 through CNG, which every Windows has.
#include "base/sha256.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/windows/system.hpp"
// After <windows.h>, which it needs.
#include <bcrypt.h>

namespace enginehost {
namespace {

// Opened once; a provider's handle may be used by any thread.
BCRYPT_ALG_HANDLE provider() {
  static const BCRYPT_ALG_HANDLE handle = [] {
    BCRYPT_ALG_HANDLE opened = nullptr;
    ::BCryptOpenAlgorithmProvider(&opened, BCRYPT_SHA256_ALGORITHM, nullptr, 0);
    return opened;
  }();
  return handle;
}

}  // namespace

struct Sha256::State {
  BCRYPT_HASH_HANDLE hash = nullptr;
  State() { ::BCryptCreateHash(provider(), &hash, nullptr, 0, nullptr, 0, 0); }
  ~State() { ::BCryptDestroyHash(hash); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, 1u << 30);
    ::BCryptHashData(state_->hash, reinterpret_cast<PUCHAR>(const_cast<char*>(part.data())),
                     static_cast<ULONG>(part.size()), 0);
    bytes.remove_prefix(part.size());
  }
}

std::string Sha256::hex() {
  unsigned char digest[32]{};
  // Without a provider, returns a text that equals no digest.
  if (::BCryptFinishHash(state_->hash, digest, sizeof digest, 0) < 0) return {};
  return hex_of({reinterpret_cast<const char*>(digest), sizeof digest});
}

}  // namespace enginehost
