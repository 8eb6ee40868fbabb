#include "host/offline/request.hpp"

#include "base/paths.hpp"

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
  for (const cache::Installed& summary : context.store().list()) {
    request.installed.push_back(summary.build);
    for (const std::string& tree : summary.trees) {
      // A file whose list cannot be read counts as missing and is sent again.
      const auto list = context.store().list_of(summary, tree);
      if (!list) continue;
      for (const cache::TreeEntry& entry : list->entries)
        if (entry.kind != cache::TreeEntry::Kind::link && entry.size >= worth_naming)
          request.holds.insert(entry.identity);
    }
  }
  for (const auto& [build, record] : context.history().records)
    if (history::is_quarantined(record, open::OpenContext::now())) request.set_aside.push_back(build);
  return request;
}

}  // namespace enginehost::offline
