#include "host/acquire/pending.hpp"

#include <algorithm>
#include <filesystem>

#include "base/paths.hpp"
#include "host/acquire/component.hpp"
#include "host/acquire/description.hpp"
#include "host/acquire/installed_parts.hpp"
#include "host/acquire/selected_ranges.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {
namespace {

using Kind = manifest::Source::Kind;

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

void add_artifact(const manifest::Artifact& artifact, const manifest::Build& build, Pending& pending) {
  const manifest::Source& first = artifact.sources.front();
  std::string file;  // in a local folder
  switch (first.kind) {
    case Kind::url:
      add_once(pending.sources, "URL");
      break;
    case Kind::package_index:
      add_once(pending.sources, std::string(package_indexes));
      break;
    case Kind::oci:
      add_once(pending.sources, "registry");
      break;
    case Kind::file: {
      const std::string where = resolve_file_source(first, build);
      if (!transfer::is_url(where)) file = where;
      add_once(pending.sources, file.empty() ? "URL" : "folder");
      break;
    }
  }
  pending.over_network = pending.over_network || file.empty();
  if (const auto size = download_size(artifact, build)) {
    pending.bytes += *size;
    return;
  }
  std::error_code error;
  const std::uintmax_t size = file.empty() ? 0 : std::filesystem::file_size(path_of(file), error);
  if (file.empty() || error)
    pending.bytes_known = false;
  else
    pending.bytes += size;
}

}  // namespace

Pending pending_download(const manifest::Build& build, const cache::Store* store) {
  Pending pending;
  const auto owner = build.manifest.lock();
  for (const manifest::Component* component : build.all_components())
    if (owner)
      if (const auto found = owner->licenses.find(component->license); found != owner->licenses.end())
        add_once(pending.licenses, found->second.id);
  if (store != nullptr)
    if (const auto installed = store->record_of(build.id); installed && *installed) {
      pending.unpacked = (*installed)->size;
      return pending;
    }
  for (const manifest::Component* component : build.all_components()) {
    if (store != nullptr && installed_tree(*component, build, *store)) continue;
    ++pending.parts;
    const manifest::Artifact* artifact = first_usable(*component);
    if (artifact != nullptr)
      add_artifact(*artifact, build, pending);
    else
      pending.bytes_known = false;
  }
  return pending;
}

std::vector<std::string> needed_servers(const manifest::Build& build, const cache::Store& store) {
  std::vector<std::string> needed;
  for (const manifest::Component* component : build.all_components()) {
    const manifest::Artifact* artifact = first_usable(*component);
    if (artifact == nullptr || installed_tree(*component, build, store)) continue;
    const manifest::Source& first = artifact->sources.front();
    const bool is_alone = std::ranges::all_of(artifact->sources, [&](const manifest::Source& source) {
      return source.kind == Kind::url &&
             transfer::origin_of(source.location) == transfer::origin_of(first.location);
    });
    if (is_alone) needed.push_back(first.location);
    const bool on_indexes = std::ranges::all_of(
        artifact->sources, [](const manifest::Source& source) { return source.kind == Kind::package_index; });
    if (on_indexes) needed.emplace_back(package_indexes);
  }
  return needed;
}

}  // namespace enginehost::acquire
