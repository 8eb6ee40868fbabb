#include "host/open/request.hpp"

#include <string>
#include <utility>

#include "host/settings/policy.hpp"

namespace enginehost::open {

resolve::Request completed(resolve::Request request, const settings::Settings& settings) {
  if (request.flavor.empty() && !request.require) {
    request.flavor = settings.flavor;
    if (const auto* setting = settings.find("flavor"); setting != nullptr && !settings.flavor.empty())
      request.flavor_source = setting->source;
  }
  if (request.device.empty() && !settings.device.empty()) {
    request.device = settings.device;
    if (const auto* setting = settings.find("device"); setting != nullptr)
      request.device_source = setting->source;
  }
  if (request.force.empty()) request.force = settings.force;
  request.offline = request.offline || settings.offline;
  return request;
}

std::optional<Diagnosis> refused_by_policy(const resolve::Request& request,
                                           const settings::Settings& settings) {
  for (const auto& [key, value] : {std::pair<const char*, const std::string&>{"flavor", request.flavor},
                                   {"device", request.device},
                                   {"force", request.force}})
    if (auto allowed = settings::check_locked(settings, key, value); !allowed)
      return std::move(allowed).error();
  return std::nullopt;
}

Result<resolve::Plan> decide(OpenContext& context, resolve::Request request) {
  TRY(context.check_records());
  // A forced build may be one of another engine.
  context.need_engine(request.force.empty() ? request.engine : std::string());
  for (const cache::Installed& installed : context.store().list()) request.installed.insert(installed.build);
  context.look_for_libraries(request.engine);
  return resolve::decide(context.platform(), context.catalog(), context.history(), std::move(request),
                         OpenContext::now());
}

}  // namespace enginehost::open
