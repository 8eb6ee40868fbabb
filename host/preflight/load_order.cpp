#include "host/preflight/load_order.hpp"

#include <algorithm>

#include "base/paths.hpp"
#include "host/linker/static_tls.hpp"

namespace enginehost::preflight {

std::vector<std::filesystem::path> as_paths(const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& file : files) paths.push_back(path_of(file));
  return paths;
}

linker::Closure close_after(const Spec& spec, linker::Reader& reader, const std::string& file,
                            const std::vector<std::string>& opened_before) {
  linker::Request request;
  request.file = path_of(file);
  request.preloaded = as_paths(opened_before);
  if (spec.machine.root.empty()) request.tunables = linker::loader_tunables_at_start();
  return linker::close(spec.machine, request, reader);
}

LoadOrder load_order_of(const Spec& spec, const ViewIndex& index, linker::Reader& reader) {
  LoadOrder opening;
  index.add_needs(path_text(spec.plugin), opening.before);
  for (const std::string& library : index.libraries())
    if (std::find(opening.before.begin(), opening.before.end(), library) == opening.before.end())
      opening.later.push_back(library);
  // A library that the plugin opens later finds libraries beside it only if they are on its own path or open
  // already.
  for (const std::string& library : opening.later) {
    if (index.optional(library)) continue;
    bool neighbor_missing = false;
    for (const linker::Missing& missing : close_after(spec, reader, library, opening.before).missing)
      neighbor_missing |= !index.find(missing.name).empty();
    if (neighbor_missing) index.add_needs(library, opening.before);
  }
  return opening;
}

bool is_lazy(const Spec& spec, const std::string& path) {
  const std::string name = path_text(path_of(path).filename());
  return std::find(spec.lazy.begin(), spec.lazy.end(), name) != spec.lazy.end();
}

}  // namespace enginehost::preflight
