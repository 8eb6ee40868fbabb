#include "host/transfer/document_time.hpp"

#include <algorithm>
#include <string>

#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t slow_rate = 16u << 10;  // bytes a second

milliseconds DocumentTime::left(std::uint64_t received) const {
  const milliseconds earned(received * 1000 / slow_rate);
  return std::min(limit_ + earned, longest_) -
         std::chrono::duration_cast<milliseconds>(Clock::now() - began_);
}

Result<void> DocumentTime::check(std::string_view url, std::uint64_t received) const {
  if (left(received).count() > 0) return {};
  const auto passed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began_);
  return fail(diagnose("EH-N03")
                  .with("url", without_credentials(url))
                  .with("document_seconds", std::to_string(passed.count()))
                  .with("received", std::to_string(received)));
}

}  // namespace enginehost::transfer
