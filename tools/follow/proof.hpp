// Proofs of builds on this machine: opened in a child process, self-test, and the plan's models.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "tools/follow/plan.hpp"
#include "tools/follow/report.hpp"

namespace enginehost::follow {

struct ProofRequest {
  std::string repository;          // as engine-info takes it; it has the rows of the manifest
  std::filesystem::path programs;  // the folder of engine-info and engine-run
  std::string package_index;       // as --package-index; empty: pip's
  std::int64_t now = 0;
  std::function<void(const std::string&)> step = {};  // called with each build before it is opened
  std::optional<CancelToken> cancel = {};
};

// Adds to each row of the report what is proven of it, as the memory has it. A proof of another content of
// the row does not count.
void add_known_proofs(const Plan& plan, Report& report);

// Opens each build of the report that has no proof, in a cache of its own, which is removed afterwards. The
// memory keeps each proof at once. A build that does not fit this machine, or does not open, stays unproven,
// and the row says why. Errors: those of the disk; EH-P10. One at a time for a plan.
Result<void> prove(const Plan& plan, Report& report, const ProofRequest& request);

}  // namespace enginehost::follow
