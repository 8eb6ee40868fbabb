#include "host/commands/report.hpp"

#include <algorithm>
#include <system_error>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/explain/explain.hpp"
#include "host/installations/in_place.hpp"
#include "host/settings/places.hpp"

namespace enginehost::commands {
namespace {

namespace fs = std::filesystem;

SeenInstallation look_at(open::OpenContext& context, const fs::path& path, std::string source,
                         bool asked_for) {
  SeenInstallation seen{path, std::move(source), asked_for, installations::identify(path), {}};
  if (seen.content) seen.builds = installations::manifests_of(*seen.content, context.catalog());
  return seen;
}

const manifest::Build& build_of(const SeenInstallation& seen, std::size_t at) {
  return *seen.builds[at]->builds.front();
}

// Returns the problem with the build and the installation, as a plan reports it.
std::optional<Diagnosis> problem_of(const manifest::Build& build) {
  if (!build.in_place->problem) return std::nullopt;
  Diagnosis problem = *build.in_place->problem;
  return problem.with(Key::build, build.id);
}

std::string describe(const SeenInstallation& seen) {
  std::string text = "  " + path_text(seen.path);
  if (!seen.content)
    return text + "  (" + seen.source + ")\n    " + explain::one_line(seen.content.error()) + "\n";
  text += "  (" + std::string(name_of(seen.content->layout)) + "; " + seen.source + ")\n";
  for (std::size_t i = 0; i < seen.builds.size(); ++i) {
    const manifest::Build& build = build_of(seen, i);
    text += "    " + build.engine + " " + build.version + " " + build.flavor + " for " + build.os + " " +
            build.arch;
    const auto problem = problem_of(build);
    text += problem ? ": " + explain::one_line(*problem) : ": can be opened in place, as " + build.id;
    text += "\n";
    for (const manifest::InstallationSign& one : build.in_place->found)
      text += "      " + one.what + " " + one.value + "  [" + one.source + "]\n";
  }
  std::vector<std::string> names;
  for (const installations::CudaLibrary& library : seen.content->cuda) names.push_back(library.soname);
  if (!names.empty()) text += "    libraries of CUDA: " + join(names, " ") + "\n";
  return text;
}

}  // namespace

std::vector<SeenInstallation> look_for_installations(open::OpenContext& context) {
  std::vector<SeenInstallation> all;
  const settings::Settings& settings = context.settings();
  const settings::Setting* asked = settings.find("installations");
  for (const fs::path& path : settings.installations)
    all.push_back(look_at(context, path, asked != nullptr ? asked->source : "asked for", true));
  for (const settings::LikelyInstallation& likely :
       settings::likely_installations(settings::Environment::of_this_process())) {
    std::error_code error;
    if (std::any_of(all.begin(), all.end(), [&](const SeenInstallation& seen) {
          return fs::equivalent(seen.path, likely.folder, error);
        }))
      continue;
    SeenInstallation seen = look_at(context, likely.folder, likely.source, false);
    if (seen.content) all.push_back(std::move(seen));
  }
  return all;
}

Json to_json(const std::vector<SeenInstallation>& seen) {
  Json list = Json::array();
  for (const SeenInstallation& one : seen) {
    Json entry = one.content ? installations::to_json(*one.content)
                             : Json::object().set("path", path_text(one.path)).set("engines", Json::array());
    entry.set("source", one.source).set("used", one.asked_for);
    if (!one.content) entry.set("diagnosis", explain::to_json(one.content.error()));
    Json builds = Json::array();
    for (std::size_t i = 0; i < one.builds.size(); ++i) {
      const manifest::Build& build = build_of(one, i);
      Json item = Json::object();
      item.set("build", build.id)
          .set("plugin", build.plugin_component.empty() ? Json() : Json(build.plugin_component));
      if (const auto problem = problem_of(build)) item.set("diagnosis", explain::to_json(*problem));
      builds.push(std::move(item));
    }
    list.push(std::move(entry.set("builds", std::move(builds))));
  }
  return std::move(Json::object().set("format", 1).set("installations", std::move(list)));
}

std::string describe(const std::vector<SeenInstallation>& seen) {
  std::string used, offered;
  for (const SeenInstallation& one : seen) (one.asked_for ? used : offered) += describe(one);
  std::string text;
  if (!used.empty()) text += "installations that are used\n" + used;
  if (!offered.empty())
    text += "found on this machine, and used only when asked for (--installation PATH)\n" + offered;
  return text.empty() ? "no engine that others installed was found on this machine\n" : text;
}

}  // namespace enginehost::commands
