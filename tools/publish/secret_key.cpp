#include "tools/publish/secret_key.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace enginehost::publish {
namespace {

using manifest::PublicKey;

constexpr std::size_t file_bytes = 158, secret_at = 54, secret_bytes = 104;
constexpr std::uint64_t most_memory = std::uint64_t{2} << 30;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i > 0; --i) number = number << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return number;
}

// scrypt's N, r and p for libsodium's two limits. minisign stores only the limits;
// crypto_pwhash_scryptsalsa208sha256 documents the conversion.
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

}  // namespace

SecretKey::~SecretKey() { wipe(seed_); }

Result<manifest::Signature> SecretKey::sign(std::string_view bytes, std::string trusted_comment) const {
  manifest::Signature signature;
  signature.key_id = public_.id;
  signature.trusted_comment = std::move(trusted_comment);
  const auto own = ed25519_signature(seed_, manifest::blake2b_512(bytes));
  std::optional<manifest::SignatureBytes> global;
  if (own) {
    signature.bytes = *own;
    const std::string commented(own->begin(), own->end());
    global = ed25519_signature(seed_, commented + signature.trusted_comment);
  }
  if (!global)
    return fail(diagnose(Code::key_file_unusable)
                    .with(Key::file, public_.id)
                    .with(Key::problem, "the cryptographic library cannot sign with it"));
  signature.global = *global;
  return signature;
}

Result<SecretKey> read_secret_key(std::string_view text, const std::string& name, const AskPassphrase& ask) {
  const auto wrong = [&](std::string_view problem) {
    return fail(diagnose(Code::key_file_unusable).with(Key::file, name).with(Key::problem, problem));
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
    auto stream =
        scrypt_stream(passphrase, std::string_view(bytes).substr(6, 32), cost.n, cost.p, secret_bytes);
    wipe(passphrase);
    if (!stream)
      return wrong("opening it takes " + format_bytes(cost.n * cost.r * 128) +
                   " of memory, which this process may not have (ulimit -v, or the container's limit)");
    for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<char>(secret[i] ^ (*stream)[i]);
    wipe(*stream);
  } else if (bytes.substr(2, 2) != std::string_view("\0\0", 2)) {
    return wrong("it is encrypted in a way that is not known");
  }
  wipe(bytes);
  PublicKey public_key;
  public_key.id = manifest::key_id_of(bytes_of(secret));
  std::copy_n(secret.begin() + 40, public_key.bytes.size(), public_key.bytes.begin());
  std::string seed = secret.substr(8, 32);
  wipe(secret);
  // A wrong passphrase gives a seed that does not fit the public key.
  if (const auto own = ed25519_public_key(seed); !own || *own != public_key.bytes)
    return fail(
        diagnose(Code::key_file_unusable)
            .with(Key::file, name)
            .with(Key::problem, "the passphrase is wrong, or the key is damaged")
            .with(Key::remedy, "give the passphrase that minisign -G asked for when it made the key"));
  return SecretKey(std::move(public_key), std::move(seed));
}

}  // namespace enginehost::publish
