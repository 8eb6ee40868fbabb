// SHA-256 (FIPS 180-4) through OpenSSL, on Windows through CNG (bcrypt.dll). Thread safety: one thread at a time per
// object.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost {

// A running digest: update() any number of times, then hex() once.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();
  void update(std::string_view bytes);
  std::string hex();  // 64 lower-case digits; call it once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view bytes);

// Reads the file in pieces. Errors: as read_file, with code EH-F01.
Result<std::string> sha256_of_file(const std::filesystem::path& file);

// Returns true for 64 lower-case hexadecimal digits.
bool is_sha256_hex(std::string_view text);

}  // namespace enginehost
