#include "host/manifest/trust/minisign.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/text.hpp"

namespace enginehost::manifest {
namespace {

constexpr std::size_t longest_text = 64u << 10;  // of a key or signature file
// RFC 4648, section 4, with padding and without line ends: equal bytes always have the same text.
constexpr std::string_view digits_of_base64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view trusted_prefix = "trusted comment: ", untrusted_prefix = "untrusted comment:";

// Returns the lines without their ends, and without the empty line after a final line end.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

template <std::size_t size>
void copy_bytes(std::array<unsigned char, size>& target, std::string_view bytes) {
  std::memcpy(target.data(), bytes.data(), size);
}

std::string_view view_of(const SignatureBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string key_id_of(const unsigned char* number) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string id;
  for (int i = 7; i >= 0; --i) {
    id += digits[number[i] >> 4];
    id += digits[number[i] & 15];
  }
  return id;
}

std::string full_key_id(std::string_view text) {
  if (text.empty() || text.size() > 16) return {};
  std::string id = std::string(16 - text.size(), '0').append(text);
  return id.find_first_not_of("0123456789ABCDEF") == std::string::npos ? id : std::string();
}

std::array<unsigned char, 8> number_of_key_id(std::string_view id) {
  std::array<unsigned char, 8> number{};
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
  for (std::size_t i = 0; i < 8 && 2 * i + 1 < id.size(); ++i)
    number[7 - i] = static_cast<unsigned char>(digit(id[2 * i]) * 16 + digit(id[2 * i + 1]));
  return number;
}

std::string PublicKey::text() const {
  const auto number = number_of_key_id(id);
  std::string all = "Ed";
  all.append(number.begin(), number.end());
  all.append(bytes.begin(), bytes.end());
  return base64_text(all);
}

Result<PublicKey> read_public_key(std::string_view text, std::string_view name) {
  const auto wrong = [&](std::string_view problem) {
    return fail(diagnose(Code::key_file_unusable).with(Key::file, name).with(Key::problem, problem));
  };
  if (text.size() > longest_text) return wrong("it is too long for a public key");
  std::vector<std::string> lines = lines_of(text);
  if (!lines.empty() && lines.front().starts_with(untrusted_prefix)) lines.erase(lines.begin());
  if (lines.size() != 1) return wrong("a public key is one line of 56 characters that begins with RW");
  const std::string bytes = bytes_of_base64(trim(lines.front()));
  if (bytes.size() != 42 || !bytes.starts_with("Ed"))
    return wrong("a public key is one line of 56 characters that begins with RW");
  PublicKey key;
  key.id = key_id_of(reinterpret_cast<const unsigned char*>(bytes.data()) + 2);
  copy_bytes(key.bytes, std::string_view(bytes).substr(10));
  return key;
}

Result<Signature> read_signature(std::string_view text, std::string_view name) {
  const auto wrong = [&](std::string_view problem) {
    return fail(diagnose(Code::signature_wrong).with(Key::signature, name).with(Key::problem, problem));
  };
  if (text.size() > longest_text) return wrong("it is too long for a signature");
  const std::vector<std::string> lines = lines_of(text);
  if (lines.size() != 4 || !lines[0].starts_with(untrusted_prefix) || !lines[2].starts_with(trusted_prefix))
    return wrong("it is no signature file of minisign");
  const std::string bytes = bytes_of_base64(lines[1]), global = bytes_of_base64(lines[3]);
  if (bytes.size() != 74 || global.size() != 64) return wrong("it is no signature file of minisign");
  if (bytes.starts_with("Ed")) return wrong("it is made with the legacy algorithm (minisign -l)");
  if (!bytes.starts_with("ED")) return wrong("it is made with an algorithm that is not known");
  Signature signature;
  signature.key_id = key_id_of(reinterpret_cast<const unsigned char*>(bytes.data()) + 2);
  copy_bytes(signature.bytes, std::string_view(bytes).substr(10));
  copy_bytes(signature.global, global);
  signature.trusted_comment = lines[2].substr(trusted_prefix.size());
  if (std::any_of(signature.trusted_comment.begin(), signature.trusted_comment.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    return wrong("its trusted comment holds control characters");
  return signature;
}

std::string problem_of(const Signature& signature, const PublicKey& key, std::string_view bytes) {
  if (signature.key_id != key.id) return "it is made with the key " + signature.key_id;
  if (!ed25519_verifies(key.bytes, blake2b_512(bytes), signature.bytes))
    return "the document is not what was signed";
  std::string commented(view_of(signature.bytes));
  commented += signature.trusted_comment;
  if (!ed25519_verifies(key.bytes, commented, signature.global)) return "its trusted comment was changed";
  return {};
}

std::string base64_text(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = bytes.size() - at < 3 ? bytes.size() - at : 3;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= count ? digits_of_base64[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::string bytes_of_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > longest_text) return {};
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool padded = i >= text.size() - padding;
    const std::size_t value = padded ? 0 : digits_of_base64.find(text[i]);
    if (value == std::string_view::npos) return {};
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (i % 4 != 3) continue;
    for (const unsigned shift : {16u, 8u, 0u}) bytes += static_cast<char>(group >> shift & 255);
    group = 0;
  }
  bytes.resize(bytes.size() - padding);
  // Rejects extra bits in the last digit, because they would give the bytes a second text.
  return base64_text(bytes) == text ? bytes : std::string();
}

}  // namespace enginehost::manifest
