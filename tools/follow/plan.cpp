#include "tools/follow/plan.hpp"

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/json_members.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/manifest/shapes.hpp"

namespace enginehost::follow {
namespace {

namespace fs = std::filesystem;

constexpr int most_releases = 100, most_days = 365;

std::vector<std::string> names_of(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.as_object()) names.push_back(name);
  return names;
}

class PlanReader {
 public:
  PlanReader(JsonText& text, Plan& plan) : text_(text), plan_(plan) {}
  void read(const Json& document);

 private:
  fs::path path_in(const std::string& name) const {
    const fs::path path = path_of(name);
    return (path.is_absolute() ? path : plan_.file.parent_path() / path).lexically_normal();
  }
  void read_layout(const std::string& name, const Json& value, const std::string& place);
  void read_track(const Json& value, const std::string& place);
  void read_row(const Json& value, const std::string& place, Row& row);
  void read_part(const Json& value, const std::string& place, Row& row);
  void check_layout(const std::string& name, const std::string& place);
  void check_variables(const Json& value, const std::string& place);

  JsonText& text_;
  Plan& plan_;
  std::set<std::string> used_layouts_, tracks_;
};

// A wrong variable would only be seen when a release comes.
void PlanReader::check_variables(const Json& value, const std::string& place) {
  static const std::vector<std::string> known = {"version", "minor", "cuda", "cuda_digits", "cuda_major"};
  std::size_t index = 0;
  for (const Json& one : value.as_array()) check_variables(one, place + "[" + std::to_string(index++) + "]");
  for (const auto& [name, one] : value.as_object()) check_variables(one, place + "." + name);
  const std::string& text = value.as_string();
  for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const std::size_t end = text.find('}', at);
    const std::string name = text.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    if (end == std::string::npos || std::find(known.begin(), known.end(), name) == known.end())
      text_.refuse(place, "{" + name + "} is no variable of a plan", nearest_or_none(name, known));
  }
}

void PlanReader::check_layout(const std::string& name, const std::string& place) {
  used_layouts_.insert(name);
  if (name.empty() || find_layout(plan_, name) != nullptr) return;
  std::vector<std::string> known;
  for (const auto& [one, layout] : plan_.layouts) known.push_back(one);
  text_.refuse(place, "the plan has no layout \"" + name + "\"", nearest_or_none(name, known));
}

void PlanReader::read_layout(const std::string& name, const Json& value, const std::string& place) {
  JsonMembers members(text_, value, place,
                      {"project", "wheel", "component", "license", "license_file", "select", "optional",
                       "libraries", "ignored"});
  Layout layout;
  members.text("project", layout.project);
  members.text("wheel", layout.wheel);
  members.text("component", layout.component);
  members.text("license", layout.license);
  members.text("license_file", layout.license_file, false);
  members.texts("select", layout.select);
  members.texts("optional", layout.optional);
  members.texts("libraries", layout.libraries);
  members.texts("ignored", layout.ignored);
  check_variables(value, place);
  if (!layout.license.empty() && plan_.licenses.find(layout.license) == nullptr)
    text_.refuse(members.place_of("license"), "the plan has no license \"" + layout.license + "\"",
                 nearest_or_none(layout.license, names_of(plan_.licenses)));
  plan_.layouts.emplace_back(name, std::move(layout));
}

void PlanReader::read_part(const Json& value, const std::string& place, Row& row) {
  JsonMembers members(text_, value, place, {"layout", "version"});
  Part part;
  members.text("layout", part.layout);
  members.text("version", part.version);
  if (part.version == "none") {
    if (plan_.components.find(part.layout) == nullptr)
      text_.refuse(members.place_of("layout"), "the plan has no component \"" + part.layout + "\"",
                   nearest_or_none(part.layout, names_of(plan_.components)));
  } else {
    check_layout(part.layout, members.place_of("layout"));
    if (!part.version.empty() && part.version != "metadata" && !is_range(part.version))
      text_.refuse(
          members.place_of("version"),
          "\"" + part.version + "\" is neither \"metadata\", \"none\" nor a range such as \"~=13.0\"",
          nearest_or_none(part.version, {"metadata", "none"}));
  }
  row.parts.push_back(std::move(part));
}

void PlanReader::read_row(const Json& value, const std::string& place, Row& row) {
  JsonMembers members(text_, value, place, {"os", "arch", "layout", "parts", "build", "cuda"});
  members.text("os", row.os);
  members.text("arch", row.arch);
  members.text("layout", row.layout);
  members.text("cuda", row.cuda, false);
  check_layout(row.layout, members.place_of("layout"));
  members.each("parts", false, [&](const Json& part, const std::string& at) { read_part(part, at, row); });
  if (const Json* const build = members.object("build", true)) {
    row.build = *build;
    check_variables(*build, members.place_of("build"));
    const std::string& id = (*build)["id"].as_string();
    if (id.empty())
      text_.refuse(members.place_of("build") + ".id", "it is missing");
    else if (id.find("{version}") == std::string::npos)
      text_.refuse(members.place_of("build") + ".id",
                   "it lacks {version}, so that two releases would have one id");
    for (const char* const derived : {"version", "os", "arch", "components"})
      if (build->find(derived) != nullptr)
        text_.refuse(members.place_of("build") + "." + derived, "it is read from the release, not written");
  }
  if (!row.cuda.empty() && row.cuda != "metadata" && !manifest::is_short_version(row.cuda))
    text_.refuse(members.place_of("cuda"),
                 "\"" + row.cuda + "\" is neither \"metadata\" nor a version such as \"13.2\"",
                 nearest_or_none(row.cuda, {"metadata"}));
}

void PlanReader::read_track(const Json& value, const std::string& place) {
  JsonMembers members(text_, value, place,
                      {"name", "project", "versions", "newest", "newest_of", "keep", "cuda_majors", "rows"});
  Track track;
  members.text("name", track.name);
  members.text("project", track.project);
  members.text("versions", track.versions);
  members.number("newest", 0, most_releases, track.newest);
  members.text("newest_of", track.newest_of, false);
  if (track.newest_of != "release" && track.newest_of != "minor")
    text_.refuse(members.place_of("newest_of"),
                 "\"" + track.newest_of + "\" is neither \"release\" nor \"minor\"",
                 nearest_or_none(track.newest_of, {"release", "minor"}));
  members.texts("keep", track.keep);
  members.texts("cuda_majors", track.cuda_majors);
  if (!track.versions.empty() && !is_range(track.versions))
    text_.refuse(members.place_of("versions"),
                 "\"" + track.versions + "\" is no range of versions such as \">=1.18,<2\"");
  for (std::size_t index = 0; index < track.keep.size(); ++index)
    if (!is_version(track.keep[index]))
      text_.refuse(members.place_of("keep") + "[" + std::to_string(index) + "]",
                   "\"" + track.keep[index] + "\" is no version");
  if (!tracks_.insert(track.name).second)
    text_.refuse(members.place_of("name"), "another track has this name too");
  members.each("rows", true,
               [&](const Json& row, const std::string& at) { read_row(row, at, track.rows.emplace_back()); });
  plan_.tracks.push_back(std::move(track));
}

void PlanReader::read(const Json& document) {
  JsonMembers members(text_, document, "",
                      {"format", "$schema", "engine", "manifest", "facts", "hold_back_days", "critical",
                       "licenses", "components", "builds", "models", "layouts", "tracks"});
  int format = 1;
  members.number("format", 1, 1, format);
  if (document.find("format") == nullptr) text_.refuse("format", "it is missing");
  std::string manifest, facts;
  members.text("engine", plan_.engine);
  members.text("manifest", manifest);
  members.text("facts", facts);
  plan_.manifest = path_in(manifest);
  plan_.facts = path_in(facts);
  if (!plan_.engine.empty() && !manifest::is_lower_id(plan_.engine))
    text_.refuse("engine",
                 "\"" + plan_.engine + "\" is not " + std::string(manifest::describe(manifest::is_lower_id)));
  members.number("hold_back_days", 0, most_days, plan_.hold_back_days);
  const Json* const licenses = members.object("licenses", true);
  const Json* const components = members.object("components", false);
  plan_.licenses = licenses != nullptr ? *licenses : Json::object();
  plan_.components = components != nullptr ? *components : Json::object();
  plan_.builds = plan_.critical = Json::array();
  const auto copy_to = [](Json& list) {
    return [&list](const Json& one, const std::string&) { list.push(one); };
  };
  members.each("builds", false, copy_to(plan_.builds));
  members.each("critical", false, copy_to(plan_.critical));
  members.each("models", false, [&](const Json& arguments, const std::string& at) {
    if (!arguments.is_array()) text_.refuse(at, "it is no list of engine-run's arguments");
    std::vector<std::string>& model = plan_.models.emplace_back();
    for (const Json& one : arguments.as_array()) model.push_back(one.as_string());
  });
  if (const Json* const layouts = members.object("layouts", true))
    for (const auto& [name, layout] : layouts->as_object()) read_layout(name, layout, "layouts." + name);
  members.each("tracks", true, [&](const Json& track, const std::string& at) { read_track(track, at); });
  for (const auto& [name, layout] : plan_.layouts)
    if (!used_layouts_.contains(name))
      text_.refuse("layouts." + name, "no row and no part names this layout");
}

}  // namespace

const Layout* find_layout(const Plan& plan, std::string_view name) {
  for (const auto& [one, layout] : plan.layouts)
    if (one == name) return &layout;
  return nullptr;
}

Result<Plan> read_plan(const fs::path& file) {
  JsonText text{path_text(file), {}, Code::plan_file_mistake, "the whole plan", {}};
  TRY_ASSIGN(text.text, read_file(file, 8u << 20));
  const auto document = parse_json(text.text, text.file);
  if (!document) return fail(text.unreadable(document.error()));
  Plan plan;
  plan.file = file;
  PlanReader(text, plan).read(*document);
  if (text.mistake) return fail(std::move(*text.mistake));
  return plan;
}

}  // namespace enginehost::follow
