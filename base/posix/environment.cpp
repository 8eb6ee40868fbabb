#include "base/posix/environment.hpp"

#include <cstdlib>
#include <cstring>

#include "base/environment.hpp"
#include "base/process.hpp"

extern char** environ;

namespace enginehost {

char** environment_entries() {
  static char* none[] = {nullptr};
  return environ != nullptr && !has_more_rights_than_its_caller() ? environ : none;
}

std::optional<std::string> environment_variable(const char* name) {
  const char* text = has_more_rights_than_its_caller() ? nullptr : std::getenv(name);
  return text != nullptr ? std::optional<std::string>(text) : std::nullopt;
}

std::uint64_t environment_digest() {
  std::uint64_t sum = 0x9E3779B97F4A7C15u;
  for (char** entry = environment_entries(); *entry != nullptr; ++entry) {
    std::size_t left = std::strlen(*entry) + 1;
    for (const char* at = *entry; left > 0;) {
      std::uint64_t word = 0;
      const std::size_t length = left < sizeof word ? left : sizeof word;
      std::memcpy(&word, at, length);
      sum = (sum ^ word) * 0xBF58476D1CE4E5B9u;
      sum ^= sum >> 29;
      at += length;
      left -= length;
    }
  }
  return sum;
}

}  // namespace enginehost
