#include "host/publish/secret_key.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "base/text.hpp"

namespace enginehost::publish {
namespace {

using manifest::PublicKey;

constexpr std::size_t file_bytes = 158, secret_at = 54, secret_bytes = 104;
constexpr std::uint64_t most_memory = std::uint64_t{2} << 30;

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

bool sign_bytes(const Key& key, std::string_view bytes, manifest::SignatureBytes& signature) {
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  std::size_t size = signature.size();
  return key && context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestSign(context.get(), signature.data(), &size, bytes_of(bytes), bytes.size()) == 1;
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i > 0; --i) number = number << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return number;
}

// scrypt's N, r and p for libsodium's two limits: crypto_pwhash_scryptsalsa208sha256 documents how it picks
// them, and minisign stores only the limits.
struct ScryptCost {
  std::uint64_t n = 0, r = 8, p = 1;
};
ScryptCost cost_of(std::uint64_t operations, std::uint64_t memory) {
  ScryptCost cost;
  operations = std::max<std::uint64_t>(operations, 32768);
  const bool operations_bound = operations < memory / 32;
  const std::uint64_t most = operations_bound ? operations / (cost.r * 4) : memory / (cost.r * 128);
  unsigned log = 1;
  while (log < 63 && (std::uint64_t{1} << log) <= most / 2) ++log;
  cost.n = std::uint64_t{1} << log;
  if (!operations_bound)
    cost.p =
        std::max<std::uint64_t>(1, std::min<std::uint64_t>(operations / 4 / cost.n, 0x3fffffff) / cost.r);
  return cost;
}

void wipe(std::string& text) { OPENSSL_cleanse(text.data(), text.size()); }

// The public half that belongs to the seed: tells a right passphrase from a wrong one.
bool fits(std::string_view seed, const PublicKey& public_key) {
  const Key key = private_key(seed);
  manifest::KeyBytes bytes{};
  std::size_t size = bytes.size();
  return key && EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) == 1 && bytes == public_key.bytes;
}

}  // namespace

SecretKey::~SecretKey() { wipe(seed_); }

Result<manifest::Signature> SecretKey::sign(std::string_view bytes, std::string trusted_comment) const {
  manifest::Signature signature;
  signature.key_id = public_.id;
  signature.trusted_comment = std::move(trusted_comment);
  const Key key = private_key(seed_);
  const bool done = sign_bytes(key, manifest::blake2b_512(bytes), signature.bytes);
  std::string commented(signature.bytes.begin(), signature.bytes.end());
  commented += signature.trusted_comment;
  if (!done || !sign_bytes(key, commented, signature.global))
    return fail(diagnose("EH-M15").with("file", public_.id).with("problem", "OpenSSL cannot sign with it"));
  return signature;
}

Result<SecretKey> read_secret_key(std::string_view text, const std::string& name, const AskPassphrase& ask) {
  const auto wrong = [&](std::string_view problem) {
    return fail(diagnose("EH-M15").with("file", name).with("problem", problem));
  };
  const std::vector<std::string> lines = split(trim(text), '\n');
  std::string bytes = lines.size() == 2 ? manifest::bytes_of_base64(trim(lines[1])) : std::string();
  if (bytes.size() != file_bytes || !bytes.starts_with("Ed") || bytes.substr(4, 2) != "B2")
    return wrong("it is no secret key of minisign");
  std::string secret = bytes.substr(secret_at, secret_bytes);
  if (bytes.substr(2, 2) == "Sc") {
    const ScryptCost cost = cost_of(number_at(bytes, 38), number_at(bytes, 46));
    if (cost.n * cost.r * 128 > most_memory) return wrong("it wants more than 2 GiB of memory to be opened");
    TRY_ASSIGN(std::string passphrase, ask(name));
    std::string stream(secret_bytes, '\0');
    const int derived =
        EVP_PBE_scrypt(passphrase.data(), passphrase.size(), bytes_of(bytes) + 6, 32, cost.n, cost.r, cost.p,
                       most_memory * 2, reinterpret_cast<unsigned char*>(stream.data()), stream.size());
    wipe(passphrase);
    if (derived != 1) return wrong("scrypt failed: too little memory?");
    for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<char>(secret[i] ^ stream[i]);
    wipe(stream);
  } else if (bytes.substr(2, 2) != std::string_view("\0\0", 2)) {
    return wrong("it is encrypted in a way that is not known");
  }
  wipe(bytes);
  PublicKey public_key;
  public_key.id = manifest::key_id_of(bytes_of(secret));
  std::copy_n(secret.begin() + 40, public_key.bytes.size(), public_key.bytes.begin());
  std::string seed = secret.substr(8, 32);
  wipe(secret);
  if (!fits(seed, public_key)) return wrong("the passphrase is wrong, or the key is damaged");
  return SecretKey(std::move(public_key), std::move(seed));
}

}  // namespace enginehost::publish
