// The releases that may be used now: not withdrawn, no pre-releases, old enough, and with the bytes that were
// seen before.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/diagnosis.hpp"
#include "base/json.hpp"
#include "tools/follow/index.hpp"
#include "tools/follow/memory.hpp"

namespace enginehost::follow {

// A release that is not used now.
struct SkippedRelease {
  std::string project, version, reason;
  std::int64_t until = 0;  // it is held back until then; 0: it is left out
};

// The digests and versions of wheels that a manifest names.
struct NamedFiles {
  std::map<std::string, std::string> digests;             // by name of the file
  std::map<std::string, std::set<std::string>> versions;  // by project
  void add(const Json& components);
};

// One thread at a time.
class VettedIndex : public Index {
 public:
  // `all`, `memory` and `named` must outlive this object; files that are not used yet are added to the
  // memory.
  VettedIndex(Index& all, Memory& memory, const NamedFiles& named, int hold_back_days, std::int64_t now)
      : all_(all), memory_(memory), named_(named), hold_back_days_(hold_back_days), now_(now) {}

  Result<std::vector<Release>> releases(const std::string& project) override;
  // The releases that releases() left out, newest first. Empty before it was asked.
  const std::vector<SkippedRelease>& skipped(const std::string& project) const;
  // Files that had another digest before: EH-M20 ("file", "expected", "actual").
  const std::vector<Diagnosis>& changed() const { return changed_; }

 private:
  struct Age {
    std::int64_t since = 0;
    bool dated = true;
  };
  bool is_changed(const PublishedFile& file);
  Age age_of(const PublishedFile& file);
  std::optional<SkippedRelease> vet(Release& release, const std::string& project);

  Index& all_;
  Memory& memory_;
  const NamedFiles& named_;
  const int hold_back_days_;
  const std::int64_t now_;
  std::map<std::string, std::vector<SkippedRelease>> skipped_;
  std::map<std::string, std::vector<Release>> asked_;
  std::vector<Diagnosis> changed_;
};

}  // namespace enginehost::follow
