// What goes into a bundle of some installed builds.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/offline/bundle_list.hpp"
#include "host/open/open_context.hpp"

namespace enginehost::offline {

struct Selection {
  std::vector<std::string> builds;  // ids of installed builds
  std::set<std::string>
      licenses_by_order;  // ids whose components are included although they may not be passed on freely
  std::optional<BundleBase> base;
  std::set<std::string> held;  // digests of files that are there already: the base's, or the asking machine's
};

struct Contents {
  BundleList list;
  std::string spdx;
  std::map<std::string, std::string> documents;        // digest -> bytes
  std::map<std::string, std::filesystem::path> files;  // digest -> where it lies
};

// Reads records, lists and the repositories' documents; no file of a build is opened. EH-F01 ("build"): not
// installed; EH-F08: a list is damaged; EH-P60 ("license", "component", "build"): it may not be passed on.
Result<Contents> gather(const open::OpenContext& context, const Selection& selection);

}  // namespace enginehost::offline
