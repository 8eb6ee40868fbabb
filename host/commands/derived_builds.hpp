// Builds that this machine derives from the package index for one request: --from-index. tools/commands adds
// the flag, because deriving needs the tools.
#pragma once
#include <functional>

#include "base/diagnosis.hpp"
#include "base/result.hpp"
#include "host/commands/common.hpp"
#include "host/context/open_context.hpp"
#include "host/resolve/plan.hpp"
#include "host/settings/settings.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace enginehost::commands {

struct DerivedBuilds {
  std::function<bool()> asked = [] { return false; };
  // Derives the build that the request is for, adds the repository that lists it to the settings, and narrows
  // the request to its version. A version that a repository lists is not derived; the request is narrowed to
  // it. Call it before the context of the request is made.
  std::function<Result<void>(const CommonFlags&, settings::Settings&, resolve::Request&)> add;
  // Adds to a failed request which release of the index it could open with the flag. May ask the index for
  // the pages of the engine, each for two seconds at most. Does nothing to other failures.
  std::function<void(open::OpenContext&, const resolve::Request&, Diagnosis&)> suggest =
      [](open::OpenContext&, const resolve::Request&, Diagnosis&) {};
};
using AddDerivedBuilds = DerivedBuilds (*)(CLI::App& app, const char* group);

}  // namespace enginehost::commands
