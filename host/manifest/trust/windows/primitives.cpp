#include "host/manifest/trust/minisign.hpp"

#include <gcrypt.h>

#include <memory>

namespace enginehost::manifest {
namespace {

struct FreeExpression {
  void operator()(gcry_sexp* expression) const { ::gcry_sexp_release(expression); }
};
using Expression = std::unique_ptr<gcry_sexp, FreeExpression>;

// Initializes libgcrypt, which requires this first. A host that uses it too has already done so and may do it
// again.
bool is_ready() {
  static const bool ready = [] {
    if (::gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) != 0) return true;
    if (::gcry_check_version(GCRYPT_VERSION) == nullptr) return false;
    ::gcry_control(GCRYCTL_DISABLE_SECMEM, 0);  // no secrets are held
    return ::gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0) == 0;
  }();
  return ready;
}

template <class... Arguments>
Expression build(const char* format, Arguments... arguments) {
  gcry_sexp_t made = nullptr;
  if (::gcry_sexp_build(&made, nullptr, format, arguments...) != 0) return nullptr;
  return Expression(made);
}

}  // namespace

bool ed25519_verifies(const KeyBytes& key, std::string_view bytes, const SignatureBytes& signature) {
  if (!is_ready()) return false;
  const Expression public_key = build("(public-key (ecc (curve Ed25519) (flags eddsa) (q %b)))",
                                      static_cast<int>(key.size()), key.data());
  const Expression data = build("(data (flags eddsa) (hash-algo sha512) (value %b))",
                                static_cast<int>(bytes.size()), bytes.data());
  const Expression signed_by =
      build("(sig-val (eddsa (r %b) (s %b)))", 32, signature.data(), 32, signature.data() + 32);
  return public_key && data && signed_by &&
         ::gcry_pk_verify(signed_by.get(), data.get(), public_key.get()) == 0;
}

std::string blake2b_512(std::string_view bytes) {
  if (!is_ready()) return {};
  std::string digest(64, '\0');
  ::gcry_md_hash_buffer(GCRY_MD_BLAKE2B_512, digest.data(), bytes.data(), bytes.size());
  return digest;
}

}  // namespace enginehost::manifest
