#include "host/manifest/trust/minisign.hpp"

#include <openssl/evp.h>

#include <memory>

namespace enginehost::manifest {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

bool ed25519_verifies(const KeyBytes& key, std::string_view bytes, const SignatureBytes& signature) {
  const std::unique_ptr<EVP_PKEY, FreeKey> public_key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()));
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  return public_key && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, public_key.get()) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(),
                          reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()) == 1;
}

std::string blake2b_512(std::string_view bytes) {
  std::string digest(64, '\0');
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &length,
                 EVP_blake2b512(), nullptr) != 1)
    return {};
  return digest;
}

}  // namespace enginehost::manifest
