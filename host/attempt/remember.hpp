// Writes the result of an attempt to the history: a failure with its dependencies, or a proof.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cache/store.hpp"
#include "host/context/open_context.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::open {

// Facts that the attempt learned about the build.
struct Basis {
  const cache::Installed* installed = nullptr;
  std::string artifacts, loading;                 // manifest::Build::artifacts_digest(), loading_digest()
  const preflight::Spec* spec = nullptr;          // where libraries were searched; may be null
  std::vector<std::filesystem::path> depends_on;  // preflight::Report::depends_on
  bool works_elsewhere = false;  // passed in the probe: the failure concerns only this program
};

// Records a failure. Returns true if the record is kept, so that the next open chooses another build.
bool remember_failure(OpenContext& context, const Basis& basis, const Diagnosis& failure);

// Records a proof with the facts of the probe. Records a suspicion instead if the build crashed in the probe
// and passed only the second time. A build that the user disabled and forced stays disabled.
void remember_success(OpenContext& context, const Basis& basis, Json facts,
                      const std::optional<Diagnosis>& crashed_once);

}  // namespace enginehost::open
