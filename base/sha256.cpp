#include "base/sha256.hpp"

// The plain functions, which OpenSSL 3 keeps but calls deprecated: the first EVP digest of a process reads openssl.cnf
// and sets up providers, which takes longer than all the rest of opening an installed engine. They use the processor's
// SHA instructions all the same, and leave the host's OpenSSL as it is.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <fcntl.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/files.hpp"

namespace enginehost {

struct Sha256::State {
  SHA256_CTX context{};
  State() { SHA256_Init(&context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) { SHA256_Update(&state_->context, bytes.data(), bytes.size()); }

std::string Sha256::hex() {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_Final(digest, &state_->context);
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

Result<std::string> sha256_of_file(const std::filesystem::path& file) {
  const FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened.valid()) return fail(diagnose_errno("EH-F01", errno).with("file", file.native()));
  Sha256 digest;
  std::vector<char> buffer(1u << 20);
  for (;;) {
    const ssize_t got = ::read(opened.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(diagnose_errno("EH-F01", errno).with("file", file.native()));
    if (got == 0) return digest.hex();
    digest.update({buffer.data(), static_cast<std::size_t>(got)});
  }
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace enginehost
