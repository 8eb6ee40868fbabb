#include "host/offline/request.hpp"

#include <algorithm>

#include "base/paths.hpp"
#include "cache/record_names.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;

// Smaller files take less space in a bundle than their digests in a request.
constexpr std::uint64_t worth_naming = 64u << 10;

}  // namespace

std::string SiteRequest::text() const {
  Json wanted = Json::array();
  for (const EngineConstraint& constraint : constraints) {
    Json entry = Json::object().set("engine", constraint.engine);
    if (!constraint.version.empty()) entry.set("version", constraint.version);
    if (!constraint.flavor.empty()) entry.set("flavor", constraint.flavor);
    if (!constraint.device.empty()) entry.set("device", constraint.device);
    if (constraint.require) entry.set("require", true);
    wanted.push(std::move(entry));
  }
  return Json::object()
             .set("format", 1)
             .set("kind", request_kind)
             .set("wishes", std::move(wanted))
             .set("platform", platform::to_json(platform, true))
             .set("installed", Json::strings(installed))
             .set("installed_of", Json::strings(installed_of))
             .set("set_aside", Json::strings(set_aside))
             .set("holds", Json::strings({holds.begin(), holds.end()}))
             .dump(1) +
         "\n";
}

SiteRequest request_of_this_machine(open::OpenContext& context, std::vector<EngineConstraint> constraints) {
  SiteRequest request;
  context.look_for_libraries({});
  request.platform = context.platform();
  request.constraints = std::move(constraints);
  const std::vector<cache::Installed> installed = context.store().list();
  for (const cache::Installed& summary : installed) {
    request.installed.push_back(summary.published_id());
    request.installed_of.push_back(cache::with_engine(summary.engine, summary.published_id()));
    for (const std::string& tree : summary.trees) {
      // A file whose list cannot be read counts as missing and is sent again.
      const auto list = context.store().list_of(summary, tree);
      if (!list) continue;
      for (const cache::TreeEntry& entry : list->entries)
        if (entry.kind != cache::TreeEntry::Kind::link && entry.size >= worth_naming)
          request.holds.insert(entry.identity);
    }
  }
  // The names are those of this machine. The other one knows published ids, and only those of requested
  // engines matter.
  for (const auto& [name, record] : context.history().records) {
    if (!history::is_quarantined(record, open::OpenContext::now())) continue;
    const auto known = std::ranges::find(installed, name, &cache::Installed::build);
    if (known == installed.end())
      request.set_aside.push_back(name);
    else if (std::ranges::find(request.constraints, known->engine, &EngineConstraint::engine) !=
             request.constraints.end())
      request.set_aside.push_back(known->published_id());
  }
  return request;
}

}  // namespace enginehost::offline
