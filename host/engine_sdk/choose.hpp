// Which build of an engine an SDK is made of.
#pragma once
#include <memory>

#include "base/result.hpp"
#include "host/context/open_context.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::engine_sdk {

// Returns the newest build for this machine's system and its processor that the request's version accepts and
// whose files can be fetched. The plugin and the machine's other properties do not matter: nothing is opened.
// Withdrawn and blocked builds never count. Errors: as write_sdk(); those of an unknown engine.
Result<std::shared_ptr<const manifest::Build>> choose_build(open::OpenContext& context,
                                                            const resolve::Request& request);

// The parts of a build that its SDK has: its libraries and, as further components, the headers in the same
// archives. The plugin is none of them.
struct Parts {
  std::shared_ptr<const manifest::Manifest> manifest;  // owns the components
  manifest::Build build;
  bool has_headers = false;
};
Parts parts_of_sdk(const manifest::Build& build);

}  // namespace enginehost::engine_sdk
