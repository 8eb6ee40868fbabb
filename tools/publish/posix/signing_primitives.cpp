#include "tools/publish/secret_key.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <memory>

namespace enginehost::publish {
namespace {

constexpr std::uint64_t most_memory = std::uint64_t{4} << 30;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Key private_key(std::string_view seed) {
  return Key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(seed), seed.size()));
}

}  // namespace

std::optional<manifest::SignatureBytes> ed25519_signature(std::string_view seed, std::string_view bytes) {
  const Key key = private_key(seed);
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  manifest::SignatureBytes signature{};
  std::size_t size = signature.size();
  if (!key || !context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, bytes_of(bytes), bytes.size()) != 1)
    return {};
  return signature;
}

std::optional<manifest::KeyBytes> ed25519_public_key(std::string_view seed) {
  const Key key = private_key(seed);
  manifest::KeyBytes bytes{};
  std::size_t size = bytes.size();
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) != 1) return {};
  return bytes;
}

std::optional<std::string> scrypt_stream(std::string_view passphrase, std::string_view salt, std::uint64_t n,
                                         std::uint64_t p, std::size_t size) {
  std::string stream(size, '\0');
  if (EVP_PBE_scrypt(passphrase.data(), passphrase.size(), bytes_of(salt), salt.size(), n, 8, p, most_memory,
                     reinterpret_cast<unsigned char*>(stream.data()), stream.size()) != 1)
    return {};
  return stream;
}

void wipe(std::string& text) { OPENSSL_cleanse(text.data(), text.size()); }

}  // namespace enginehost::publish
