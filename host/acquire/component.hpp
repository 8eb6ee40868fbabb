// Installs one component: tries its artifacts and their sources in turn, until one gives the right bytes and
// they are unpacked to a tree.
#pragma once
#include <string>
#include <vector>

#include "host/acquire/acquire.hpp"

namespace enginehost::acquire {

// The state that the components of one acquisition share.
struct ComponentWork {
  const manifest::Build& build;
  const cache::Store& store;
  const AcquireOptions& options;
  const transfer::ProgressCallback& progress;
  const std::optional<CancelToken>& cancel;
  Acquired& acquired;
  std::optional<std::uint64_t> total;  // bytes of all downloads, if known
  std::uint64_t before = 0;            // bytes of the finished components
  cache::Stage* stage = nullptr;       // of the build; processes that wait for it see its progress
};

// Returns the first artifact that has a digest and a source, or nullptr.
const manifest::Artifact* first_usable(const manifest::Component& component);

// Returns the key of everything that the unpacked tree of an archive depends on.
std::string archive_key(const manifest::Artifact& artifact);

// Returns the component's tree if it is installed.
std::optional<std::string> installed_tree(const manifest::Component& component, const cache::Store& store);

// Returns the tree id. Errors as acquire().
Result<std::string> acquire_component(const manifest::Component& component, ComponentWork& work);

cache::WaitOptions waiting(const ComponentWork& work);

}  // namespace enginehost::acquire
