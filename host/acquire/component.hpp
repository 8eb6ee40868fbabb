// One component: its artifacts and their sources in turn, until one gave the right bytes and they became a
// tree.
#pragma once
#include <string>
#include <vector>

#include "host/acquire/acquire.hpp"

namespace enginehost::acquire {

// What the components of one acquisition share.
struct ComponentWork {
  const manifest::Build& build;
  const cache::Store& store;
  const AcquireOptions& options;
  const transfer::ProgressCallback& progress;
  const std::optional<CancelToken>& cancel;
  Acquired& acquired;
  std::optional<std::uint64_t> total;  // bytes of everything to be downloaded, when known
  std::uint64_t before = 0;            // of the components that are done
  cache::Stage* stage = nullptr;       // of the build: those who wait for it are told, too
};

// The tree an archive was, or would be, unpacked to depends on these.
std::string archive_key(const manifest::Artifact& artifact);

// The component's tree when it is installed already.
std::optional<std::string> installed_tree(const manifest::Component& component, const cache::Store& store);

// The tree id. Errors as acquire().
Result<std::string> acquire_component(const manifest::Component& component, ComponentWork& work);

cache::WaitOptions waiting(const ComponentWork& work);

}  // namespace enginehost::acquire
