// Collects the contents of a bundle for some installed builds.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/context/open_context.hpp"
#include "host/offline/bundle_list.hpp"

namespace enginehost::offline {

struct Selection {
  std::vector<std::string> builds;          // ids of installed builds
  std::set<std::string> licenses_by_order;  // ids of licenses whose components are included although they may
                                            // not be redistributed freely
  std::optional<BundleBase> base;
  std::set<std::string>
      held;  // digests of files that the recipient has: from the base or on the requesting machine
};

struct Contents {
  BundleList list;
  std::vector<std::string> names;  // of its builds on this machine
  std::string spdx;
  std::map<std::string, std::string> documents;        // digest -> bytes
  std::map<std::string, std::filesystem::path> files;  // digest -> path
  // One for each build that was installed with a signature which the bundle does not carry, with the reason.
  std::vector<std::string> warnings;
};

// Reads records, lists and the repositories' documents, but no file of a build. Beside the repositories of
// the settings, it reads the signed ones that the builds came from. Errors: EH-F01 ("build"): not installed.
// EH-F08: a list is damaged. EH-P60 ("license", "component", "build"): redistribution is not allowed.
Result<Contents> gather(const open::OpenContext& context, const Selection& selection);

// The list of a bundle's contents for auditors: SPDX 2.3 in JSON. Returns one package per component and one
// per build, which contains its components. The same builds give the same text: the time is the newest
// manifest's, and the namespace comes from the content.
std::string spdx_of(const std::vector<std::shared_ptr<const manifest::Build>>& builds);

}  // namespace enginehost::offline
