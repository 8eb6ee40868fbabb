#include "tools/offline/answer.hpp"

#include <algorithm>

#include "base/sha256.hpp"
#include "base/version_specifier.hpp"
#include "cache/record_names.hpp"
#include "host/context/request.hpp"

namespace enginehost::offline {
namespace {

tl::unexpected<Diagnosis> refused(std::string_view name, std::string_view member, std::string_view problem) {
  return fail(diagnose(Code::member_wrong)
                  .with(Key::document, name)
                  .with(Key::member, member)
                  .with(Key::problem, problem));
}

Result<std::vector<std::string>> texts_of(const Json& document, const char* member, std::string_view name) {
  std::vector<std::string> texts;
  if (!document[member].is_array()) return refused(name, member, "is no list");
  for (const Json& element : document[member].as_array()) {
    if (!element.is_string()) return refused(name, member, "holds something that is no text");
    texts.push_back(element.as_string());
  }
  return texts;
}

const std::string& published_id(const manifest::Build& build) {
  return build.published_id.empty() ? build.id : build.published_id;
}

bool is_installed_there(const SiteRequest& request, const manifest::Build& build) {
  const std::string& id = published_id(build);
  return request.installed_of.empty()
             ? std::ranges::count(request.installed, id) != 0
             : std::ranges::count(request.installed_of, cache::with_engine(build.engine, id)) != 0;
}

}  // namespace

Result<SiteRequest> read_request(std::string_view text, std::string_view name) {
  TRY_ASSIGN(const Json document, parse_json(text, name, {largest_list, 32, most_values}));
  if (document["kind"].as_string() != request_kind)
    return refused(name, "kind", "does not say that this is a request");
  if (const std::int64_t format = document["format"].as_integer(); format != 1)
    return fail(diagnose(Code::format_too_new)
                    .with(Key::document, name)
                    .with(Key::found, std::to_string(format))
                    .with(Key::supported, "1"));
  SiteRequest request;
  TRY_ASSIGN(request.platform,
             platform::platform_from_json(
                 Json::object().set("format", 1).set("platform", document["platform"]), name));
  for (const Json& entry : document["wishes"].as_array()) {
    EngineConstraint constraint{entry["engine"].as_string(), entry["version"].as_string(),
                                entry["flavor"].as_string(), entry["device"].as_string(),
                                entry["require"].as_bool()};
    if (constraint.engine.empty()) return refused(name, "wishes", "holds one without an engine");
    if (const std::string wrong = VersionSpecifier(constraint.version).problem(); !wrong.empty())
      return refused(name, "wishes", "asks for version \"" + constraint.version + "\": " + wrong);
    request.constraints.push_back(std::move(constraint));
  }
  if (request.constraints.empty()) return refused(name, "wishes", "is empty");
  TRY_ASSIGN(request.installed, texts_of(document, "installed", name));
  if (document.find("installed_of") != nullptr) {
    TRY_ASSIGN(request.installed_of, texts_of(document, "installed_of", name));
  }
  TRY_ASSIGN(request.set_aside, texts_of(document, "set_aside", name));
  TRY_ASSIGN(const auto holds, texts_of(document, "holds", name));
  for (const std::string& digest : holds)
    if (is_sha256_hex(digest)) request.holds.insert(digest);
  return request;
}

Result<std::vector<Answer>> answer(const settings::Settings& settings, const SiteRequest& request,
                                   const open::FetchOptions& options,
                                   const std::optional<CancelToken>& cancel) {
  std::vector<Answer> answers;
  open::OpenContext context(settings, request.platform, cancel);
  open::FetchOptions fetching = options;
  fetching.passed_over.insert(fetching.passed_over.end(), request.set_aside.begin(), request.set_aside.end());
  // The catalog is read once for all of them.
  for (const EngineConstraint& constraint : request.constraints) context.need_engine(constraint.engine);
  for (const EngineConstraint& constraint : request.constraints) {
    resolve::Request asked;
    asked.engine = constraint.engine;
    asked.version = constraint.version;
    asked.flavor = constraint.flavor;
    asked.device = constraint.device;
    asked.require = constraint.require;
    asked.flavor_source = asked.device_source = "the request";
    asked.offline = settings.offline;
    TRY_ASSIGN(resolve::Plan plan, open::decide(context, std::move(asked)));
    Answer given{constraint, {}, false, 0, {}};
    const auto best = std::ranges::find_if(plan.candidates, [&](const resolve::Candidate& candidate) {
      if (candidate.rank == 0) return false;
      const bool aside = std::ranges::count(fetching.passed_over, candidate.build->id) != 0;
      if (aside) given.passed_over.push_back(candidate.build->id);
      return !aside;
    });
    if (best == plan.candidates.end() && !given.passed_over.empty())
      return fail(std::move(diagnose(Code::quarantined)
                                .with(Key::build, given.passed_over.front(), "catalog")
                                .with(Key::set_aside_by, "the requesting machine", "its request")
                                .within("answering the request for " + constraint.engine)));
    if (best != plan.candidates.end() && is_installed_there(request, *best->build)) {
      given.build = best->build->id;
      given.was_there = true;
    } else {
      auto acquired = open::fetch_best(context, plan, fetching);
      if (!acquired)
        return fail(std::move(acquired.error().within("answering the request for " + constraint.engine)));
      given.build = acquired->installed.build;
      given.downloaded = acquired->downloaded;
      given.turned_down = open::turned_down(plan);
      given.warnings = std::move(acquired->warnings);
    }
    answers.push_back(std::move(given));
  }
  return answers;
}

Selection selection_for(const SiteRequest& request, const std::vector<Answer>& answers) {
  Selection selection;
  for (const Answer& given : answers)
    if (!given.was_there) selection.builds.push_back(given.build);
  selection.held = request.holds;
  return selection;
}

}  // namespace enginehost::offline
