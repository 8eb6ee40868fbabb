#include "base/paths.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

Json to_json(const Report& report, Json (*describe)(const Diagnosis&)) {
  Json missing = Json::array();
  for (const linker::Missing& one : report.missing) {
    Json searched = Json::array();
    for (const linker::Searched& place : one.searched) searched.push(place.directory);
    missing.push(Json::object()
                     .set("name", one.name)
                     .set("needed_by", one.needed_by)
                     .set("chain", Json::strings(one.chain))
                     .set("searched", std::move(searched)));
  }
  Json rejected = Json::array();
  for (const linker::Rejected& one : report.rejected)
    rejected.push(Json::object().set("path", one.path).set("why", one.why).set("needed_by", one.needed_by));
  Json closure = Json::array();
  for (const Report::Item& one : report.closure)
    closure.push(Json::object().set("name", one.name).set("path", one.path).set("needed_by", one.needed_by));
  Json versions = Json::array();
  for (const linker::HighestVersion& one : report.highest)
    versions.push(Json::object()
                      .set("version", one.family + "_" + one.version)
                      .set("library", one.library)
                      .set("required_by", one.required_by)
                      .set("found", true));
  for (const linker::VersionProblem& one : report.versions)
    versions.push(Json::object()
                      .set("version", one.version)
                      .set("library", one.library)
                      .set("required_by", one.required_by)
                      .set("found", false)
                      .set("path", one.path)
                      .set("newest", one.newest));
  Json gpu_code = Json::array();
  for (const auto& one : report.gpu_code)
    gpu_code.push(Json::object().set("kind", one.kind).set("arch", one.arch).set("count", one.count));
  Json warnings = Json::array(), diagnoses = Json::array();
  for (const Diagnosis& one : report.warnings) warnings.push(describe(one));
  for (const Diagnosis& one : report.diagnoses) diagnoses.push(describe(one));
  Json document = Json::object();
  document.set("format", 1)
      .set("file", path_text(report.file))
      .set("kind", binary::name_of(report.kind))
      .set("verdict", name_of(report.verdict))
      .set("binary", to_json(report.facts))
      .set("missing", std::move(missing))
      .set("rejected", std::move(rejected))
      .set("closure", std::move(closure))
      .set("versions", std::move(versions))
      .set("gpu_code", std::move(gpu_code))
      .set("warnings", std::move(warnings))
      .set("notes", Json::strings(report.notes));
  document.set("diagnosis", report.diagnoses.empty() ? Json() : diagnoses.as_array().front());
  document.set("diagnoses", std::move(diagnoses));
  return document;
}

}  // namespace enginehost::preflight
