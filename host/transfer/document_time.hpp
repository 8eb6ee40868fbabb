// The time limit of a small document, also if its bytes arrive slowly.
#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::transfer {

class DocumentTime {
 public:
  // Begins now. Every 16 KiB received add a second to `limit`, up to `longest`.
  explicit DocumentTime(std::chrono::milliseconds limit,
                        std::chrono::milliseconds longest = std::chrono::hours{24})
      : limit_(limit), longest_(longest) {}

  // Returns the time left; 0 or less: it is over.
  std::chrono::milliseconds left(std::uint64_t received) const;

  // Fails with EH-N03 ("url", "document_seconds", "received") if the time is over.
  Result<void> check(std::string_view url, std::uint64_t received) const;

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::milliseconds limit_, longest_;
};

}  // namespace enginehost::transfer
