// What an attempt leaves on record: a failure with what it rests on, or a proof.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cache/store.hpp"
#include "host/open/open_context.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::open {

// What an attempt knew of the build.
struct Basis {
  const cache::Installed* installed = nullptr;
  std::string artifacts, loading;                 // manifest::Build::artifacts_digest(), loading_digest()
  const preflight::Spec* spec = nullptr;          // where libraries were looked for; or null
  std::vector<std::filesystem::path> depends_on;  // preflight::Report's
  bool works_elsewhere = false;                   // it passed in the probe: a failure is this program's
};

// True when it is kept, so that the next open chooses another build.
bool remember_failure(OpenContext& context, const Basis& basis, const Diagnosis& failure);

// A proof, with what the probe saw; or a suspicion, when the build crashed in the probe and passed only the
// second time. A build that the user disabled and forced stays disabled.
void remember_success(OpenContext& context, const Basis& basis, Json facts,
                      const std::optional<Diagnosis>& crashed_once);

}  // namespace enginehost::open
