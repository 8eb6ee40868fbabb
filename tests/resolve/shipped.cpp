#include "tests/resolve/shipped.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "host/manifest/repository.hpp"
#include "host/resolve/passed_over.hpp"
#include "host/resolve/plan.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::resolve {
namespace {

namespace fs = std::filesystem;

template <class T>
T or_end(Result<T> result, const std::string& file) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s: %s %s\n", file.c_str(), result.error().code_text().data(),
               std::string(result.error().value(Key::problem)).c_str());
  std::exit(1);
}

Json document_of(const std::string& file) {
  return or_end(parse_json(or_end(read_file(file), file), file), file);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(test::source_path(folder)))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// The size is about that of a plugin's archive, because screens show it.
Json compiled(const Json& component) {
  Json source = Json::object().set("file", "files/plugin.tar.gz");
  Json artifact =
      Json::object().set("sha256", std::string(64, '0')).set("size", 400'000).set("archive", "tar.gz");
  artifact.set("sources", Json::array().push(std::move(source)));
  Json result = Json::object().set("license", component["license"]);
  if (const Json* names = component.find("stands_in_for")) result.set("stands_in_for", *names);
  return result.set("artifacts", Json::array().push(std::move(artifact)));
}

// Returns the template with a digest for each plugin and each stand-in. A build that no adapter opens
// anywhere keeps its reason.
Json with_plugins(const Json& manifest) {
  Json components = Json::object(), builds = Json::array(), result = Json::object();
  for (const auto& [name, component] : manifest["components"].as_object())
    components.set(name, component.find("artifacts") == nullptr ? compiled(component) : component);
  for (const Json& build : manifest["builds"].as_array()) {
    Json copy = Json::object();
    for (const auto& [name, value] : build.as_object())
      if (name != "not_built" || !value.as_string().starts_with(compilable)) copy.set(name, value);
    builds.push(std::move(copy));
  }
  for (const auto& [name, value] : manifest.as_object())
    if (name != "components" && name != "builds") result.set(name, value);
  return result.set("components", std::move(components)).set("builds", std::move(builds));
}

// Adds what manifests/files.json says about the archive, as manifests/pack_repository.py does.
Json with_named_files(Json artifact, const Json& named) {
  if (named["sha256"].as_string() != artifact["sha256"].as_string()) return artifact;
  Json files = Json::array(), ranges = Json::array();
  for (const Json& file : named["files"].as_array()) {
    const Json::Array& cells = file.as_array();
    Json one = Json::object().set("path", cells.at(0)).set("size", cells.at(1)).set("sha256", cells.at(2));
    if (cells.size() > 3) one.set("executable", true);
    files.push(std::move(one));
  }
  for (const Json& range : named["ranges"].as_array())
    ranges.push(Json::object().set("begin", range.as_array().at(0)).set("end", range.as_array().at(1)));
  artifact.set("tree", named["tree"]).set("files", std::move(files));
  if (!ranges.as_array().empty()) artifact.set("ranges", std::move(ranges));
  return artifact;
}

Json with_named_files(const Json& manifest) {
  static const Json table = document_of(test::source_path("/manifests/files.json"));
  Json components = Json::object(), result = manifest;
  for (const auto& [name, component] : manifest["components"].as_object()) {
    Json artifacts = Json::array(), copy = component;
    for (const Json& artifact : component["artifacts"].as_array())
      artifacts.push(with_named_files(artifact, table[name]));
    components.set(name, copy.set("artifacts", std::move(artifacts)));
  }
  return result.set("components", std::move(components));
}

std::string cells(const Plan& plan, const platform::Platform& machine) {
  std::string text;
  const bool fits = !plan.candidates.empty() && plan.candidates.front().rank == 1;
  if (fits) {
    const Candidate& chosen = plan.candidates.front();
    text += chosen.build->version + " " + chosen.build->flavor;
    if (chosen.uncertain) text += " (not certain)";
    if (const auto better = better_build(plan))
      text += " | " + better->candidate->build->version + " " + better->candidate->build->flavor + ": " +
              better->reason;
    for (const PassedOver& newer : newer_passed_over(plan, chosen))
      text += "\n    newer " + newer.candidate->build->version + " " + newer.candidate->build->flavor + ": " +
              newer.reason;
    if (const auto idle = idle_accelerator(plan, machine, *chosen.build))
      text += "\n    unused " + std::string(idle->value(Key::accelerator)) + ": " +
              std::string(idle->value(Key::reason));
    return text;
  }
  text = "none";
  if (plan.diagnosis) text += " (" + std::string(plan.diagnosis->code_text()) + ")";
  if (const auto nearest = nearest_build(plan))
    text += " | " + nearest->candidate->build->version + " " + nearest->candidate->build->flavor + ": " +
            std::string(text_of(nearest->code)) + " " + nearest->reason;
  return text;
}

}  // namespace

const std::map<std::string, Json>& shipped_manifests() {
  static const std::map<std::string, Json> read = [] {
    std::map<std::string, Json> manifests;
    for (const std::string& name : names_in("/manifests/templates")) {
      const std::string file = test::source_path("/manifests/templates/") + name + ".json";
      std::string text = or_end(read_file(file), file);
      const std::string version = "@VERSION@";
      for (std::size_t at = 0; (at = text.find(version)) != std::string::npos;)
        text.replace(at, version.size(), "0.1.0");
      manifests[name] = with_named_files(with_plugins(or_end(parse_json(text, file), file)));
    }
    return manifests;
  }();
  return read;
}

const manifest::Catalog& shipped() {
  static const manifest::Catalog read = [] {
    manifest::Catalog catalog;
    for (const auto& [name, document] : shipped_manifests())
      manifest::merge(catalog, or_end(manifest::read_manifest(document, "/repository", name), name));
    return catalog;
  }();
  return read;
}

std::vector<std::string> recorded_machines() { return names_in("/tests/profiles"); }

platform::Platform machine_called(const std::string& name) {
  const std::string file = test::source_path("/tests/profiles/") + name + ".json";
  return or_end(platform::platform_from_json(document_of(file), file), file);
}

std::string decisions_table() {
  std::string text;
  for (const std::string& name : recorded_machines()) {
    const platform::Platform machine = machine_called(name);
    text += (text.empty() ? "" : "\n") + name + "\n";
    for (const std::string& engine : shipped().engines()) {
      Request request;
      request.engine = engine;
      text += "  " + engine + ": " + cells(decide(machine, shipped(), {}, request, 1'795'000'000), machine) +
              "\n";
    }
  }
  return text;
}

}  // namespace enginehost::resolve
