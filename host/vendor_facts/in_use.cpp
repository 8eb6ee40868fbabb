#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

#include "host/vendor_facts/vendor_facts.hpp"

namespace enginehost::vendor {
namespace {

std::atomic<const Facts*> table_in_use = nullptr;

const Facts* read_built_in() {
  std::string text;
  for (const std::string_view line : built_in_lines()) text.append(line).append("\n");
  auto facts = read_facts(text, "vendor-facts.json", nullptr);
  // A test reads the same bytes, so that a build whose own document is refused is never published.
  auto* const kept = new Facts(facts ? std::move(*facts) : Facts());
  kept->sha256 = built_in_sha256();
  return kept;
}

}  // namespace

const Facts& built_in() {
  static const Facts* const facts = read_built_in();
  return *facts;
}

const Facts& in_use() {
  const Facts* const facts = table_in_use.load(std::memory_order_acquire);
  return facts != nullptr ? *facts : built_in();
}

void use(const Facts& facts) {
  static auto& mutex = *new std::mutex;
  static auto& kept = *new std::deque<Facts>;  // a process that changes between two tables keeps two
  const std::lock_guard lock(mutex);
  if (facts.sha256 == built_in_sha256() && facts.from.empty())
    return table_in_use.store(nullptr, std::memory_order_release);
  auto known = std::ranges::find_if(
      kept, [&](const Facts& one) { return one.sha256 == facts.sha256 && one.from == facts.from; });
  if (known == kept.end()) known = kept.insert(kept.end(), facts);
  table_in_use.store(&*known, std::memory_order_release);
}

}  // namespace enginehost::vendor
