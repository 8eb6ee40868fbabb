// The request of a machine without network access. A machine that has it answers with a bundle
// (tools/offline/answer.hpp).
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/context/open_context.hpp"

namespace enginehost::offline {

constexpr std::string_view request_kind = "enginehost-request";

// An engine as an open would request it.
struct EngineConstraint {
  std::string engine, version, flavor, device;
  bool require = false;
};

// A plain value. It describes the machine as --platform-json does: no UUID, no user name.
struct SiteRequest {
  platform::Platform platform;
  std::vector<EngineConstraint> constraints;
  std::vector<std::string> installed;     // build ids
  std::vector<std::string> installed_of;  // the same as ENGINE+ID; empty in the request of an older version
  std::vector<std::string> set_aside;     // builds that failed there or were disabled
  std::set<std::string> holds;            // digests of the larger files there

  std::string text() const;
};

// Reads the platform, cache and history of this machine.
SiteRequest request_of_this_machine(open::OpenContext& context, std::vector<EngineConstraint> constraints);

}  // namespace enginehost::offline
