// The order in which a build's libraries are opened, and the libraries that its plugin may open by itself
// later.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/preflight/view_index.hpp"

namespace enginehost::preflight {

std::vector<std::filesystem::path> as_paths(const std::vector<std::string>& files);

// Returns the closure of a library of the build that is opened after those others.
linker::Closure close_after(const Spec& spec, linker::Reader& reader, const std::string& file,
                            const std::vector<std::string>& opened_before);

struct LoadOrder {
  std::vector<std::string> before;  // opened before the plugin, by path and in this order
  std::vector<std::string> later;   // not needed by the plugin by name, but it may open them while it runs
};
LoadOrder load_order_of(const Spec& spec, const ViewIndex& index, linker::Reader& reader);

// True when the manifest lists the library as opened while the build runs.
bool is_lazy(const Spec& spec, const std::string& path);

}  // namespace enginehost::preflight
