// A reader of documents that shows each of them to an observer. One thread at a time.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/catalog/repositories.hpp"
#include "host/manifest/repository.hpp"

namespace enginehost::catalog {

// Passes every document that another reader reads to an observer.
class ObservedReader : public manifest::DocumentReader, public manifest::DocumentMemory {
 public:
  ObservedReader(manifest::DocumentReader& reader, manifest::DocumentMemory* memory,
                 const DocumentObserver& observer)
      : reader_(reader), memory_(memory), observer_(observer) {}

  void expect(const std::vector<manifest::Expected>& documents) override { reader_.expect(documents); }
  Result<std::string> read(const std::string& location, std::uint64_t limit) override {
    auto bytes = reader_.read(location, limit);
    if (bytes) observer_(location, *bytes);
    return bytes;
  }
  std::optional<std::string> find(const std::string& sha256) override {
    auto bytes = memory_ != nullptr ? memory_->find(sha256) : std::nullopt;
    if (bytes) observer_({}, *bytes);
    return bytes;
  }
  void keep(const std::string& sha256, const std::string& bytes) override {
    if (memory_ != nullptr) memory_->keep(sha256, bytes);
  }

 private:
  manifest::DocumentReader& reader_;
  manifest::DocumentMemory* memory_;
  const DocumentObserver& observer_;
};

}  // namespace enginehost::catalog
