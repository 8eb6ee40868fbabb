#include "tools/publish/secret_key.hpp"

#include <gcrypt.h>

#include <algorithm>
#include <climits>
#include <memory>

#include "base/windows/system.hpp"

namespace enginehost::publish {
namespace {

struct FreeExpression {
  void operator()(gcry_sexp* expression) const { ::gcry_sexp_release(expression); }
};
struct FreeNumber {
  void operator()(gcry_mpi* number) const { ::gcry_mpi_release(number); }
};
struct FreeContext {
  void operator()(gcry_context* context) const { ::gcry_ctx_release(context); }
};
using Expression = std::unique_ptr<gcry_sexp, FreeExpression>;
using Number = std::unique_ptr<gcry_mpi, FreeNumber>;

// Initializes the library as host/manifest/trust does; the first one to run has done it for both.
bool is_ready() {
  static const bool ready = [] {
    if (::gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) != 0) return true;
    if (::gcry_check_version(GCRYPT_VERSION) == nullptr) return false;
    ::gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    return ::gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0) == 0;
  }();
  return ready;
}

template <class... Arguments>
Expression build(const char* format, Arguments... arguments) {
  gcry_sexp_t made = nullptr;
  if (!is_ready() || ::gcry_sexp_build(&made, nullptr, format, arguments...) != 0) return nullptr;
  return Expression(made);
}

Expression private_key(std::string_view seed, const manifest::KeyBytes& key) {
  return build("(private-key (ecc (curve Ed25519) (flags eddsa) (q %b) (d %b)))",
               static_cast<int>(key.size()), key.data(), static_cast<int>(seed.size()), seed.data());
}

// Copies a number of a result, as its 32 bytes.
bool take(gcry_sexp_t from, const char* name, unsigned char* to) {
  const Expression found(::gcry_sexp_find_token(from, name, 0));
  std::size_t size = 0;
  const char* data = found ? ::gcry_sexp_nth_data(found.get(), 1, &size) : nullptr;
  if (data == nullptr || size != 32) return false;
  std::copy_n(reinterpret_cast<const unsigned char*>(data), size, to);
  return true;
}

}  // namespace

std::optional<manifest::KeyBytes> ed25519_public_key(std::string_view seed) {
  const Expression key = build("(private-key (ecc (curve Ed25519) (flags eddsa) (d %b)))",
                               static_cast<int>(seed.size()), seed.data());
  gcry_ctx_t made = nullptr;
  if (!key || ::gcry_mpi_ec_new(&made, key.get(), nullptr) != 0) return {};
  const std::unique_ptr<gcry_context, FreeContext> context(made);
  const Number point(::gcry_mpi_ec_get_mpi("q@eddsa", made, 1));
  unsigned bits = 0;
  const void* data = point ? ::gcry_mpi_get_opaque(point.get(), &bits) : nullptr;
  manifest::KeyBytes bytes{};
  if (data == nullptr || (bits + 7) / 8 != bytes.size()) return {};
  std::copy_n(static_cast<const unsigned char*>(data), bytes.size(), bytes.begin());
  return bytes;
}

std::optional<manifest::SignatureBytes> ed25519_signature(std::string_view seed, std::string_view bytes) {
  const auto public_key = ed25519_public_key(seed);
  if (!public_key || bytes.size() > INT_MAX) return {};
  const Expression key = private_key(seed, *public_key);
  const Expression data = build("(data (flags eddsa) (hash-algo sha512) (value %b))",
                                static_cast<int>(bytes.size()), bytes.data());
  gcry_sexp_t made = nullptr;
  if (!key || !data || ::gcry_pk_sign(&made, data.get(), key.get()) != 0) return {};
  const Expression answer(made);
  manifest::SignatureBytes signature{};
  if (!take(made, "r", signature.data()) || !take(made, "s", signature.data() + 32)) return {};
  return signature;
}

// libgcrypt always uses r = 8.
std::optional<std::string> scrypt_stream(std::string_view passphrase, std::string_view salt, std::uint64_t n,
                                         std::uint64_t p, std::size_t size) {
  std::string stream(size, '\0');
  if (!is_ready() || n > INT_MAX || p > ULONG_MAX ||
      ::gcry_kdf_derive(passphrase.data(), passphrase.size(), GCRY_KDF_SCRYPT, static_cast<int>(n),
                        salt.data(), salt.size(), static_cast<unsigned long>(p), stream.size(),
                        stream.data()) != 0)
    return {};
  return stream;
}

void wipe(std::string& text) { ::SecureZeroMemory(text.data(), text.size()); }

}  // namespace enginehost::publish
