// A stream in memory, as the sink of a transfer.
#pragma once
#include <string>
#include <vector>

#include "host/transfer/transfer.hpp"

namespace enginehost::test {

class MemorySink : public transfer::Sink {
 public:
  std::uint64_t held() const override { return bytes.size(); }
  Result<void> start(std::uint64_t offset) override {
    starts.push_back(offset);
    bytes.resize(offset);
    return {};
  }
  Result<void> write(std::string_view more) override {
    if (full) return fail(diagnose(Code::disk_full));
    bytes += more;
    return {};
  }
  std::string bytes;
  std::vector<std::uint64_t> starts;
  bool full = false;
};

}  // namespace enginehost::test
