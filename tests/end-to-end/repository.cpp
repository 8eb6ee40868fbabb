#include "tests/end-to-end/repository.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "tests/support/host_programs.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {

#if defined(__aarch64__)
constexpr const char* machine_arch = "aarch64";
#else
constexpr const char* machine_arch = "x86_64";
#endif

const std::string& reference_plugin() {
  static const std::string bytes = read_text(path_of(build_path("/engines/") + plugin_name));
  return bytes;
}

TestBuild good_build(const std::string& id) {
  TestBuild build;
  build.id = id;
  build.priority = 10;
  build.files = {{build.plugin, reference_plugin()}};
  return build;
}

TestRepository::TestRepository(std::filesystem::path root, std::string engine)
    : root_(std::move(root)), engine_(std::move(engine)) {
  std::filesystem::create_directories(root_ / "files");
}

Json TestRepository::source_of(const std::string& sha256) const {
  return url_.empty() ? Json::object().set("file", "files/" + sha256)
                      : Json::object().set("url", url_ + "files/" + sha256);
}

std::string TestRepository::store(const std::string& bytes) {
  const std::string digest = sha256_hex(bytes);
  write_text(root_ / "files" / digest, bytes);
  return digest;
}

void TestRepository::add(const TestBuild& build) {
  std::vector<std::string> components;
  for (const ViewFile& file : build.files) {
    const std::string digest = store(file.bytes);
    std::string name = build.id + "-" + std::to_string(components.size());
    Json artifact = Json::object()
                        .set("sha256", digest)
                        .set("size", file.bytes.size())
                        .set("archive", "none")
                        .set("path", file.path)
                        .set("sources", Json::array().push(source_of(digest)));
    Json component = Json::object().set("artifacts", Json::array().push(std::move(artifact)));
    if (!build.license.empty() && components.size() >= build.first_licensed)
      component.set("license", build.license);
    if (!build.optional.empty()) component.set("optional", Json::strings(build.optional));
    const std::string file_name = file.path.substr(file.path.rfind('/') + 1);
    if (std::ranges::find(build.stand_ins, file_name) != build.stand_ins.end())
      component.set("stands_in_for", Json::strings({file_name}));
    components_.set(name, std::move(component));
    components.push_back(std::move(name));
  }
  add_build(build, components);
}

void TestRepository::add_with_artifacts(const TestBuild& build, Json artifacts) {
  const std::string name = build.id + "-0";
  Json component = Json::object().set("artifacts", std::move(artifacts));
  if (!build.license.empty()) component.set("license", build.license);
  components_.set(name, std::move(component));
  add_build(build, {name});
}

void TestRepository::add_build(const TestBuild& build, const std::vector<std::string>& components) {
  if (!build.license.empty())
    licenses_.set(build.license, !build.terms.is_null()
                                     ? build.terms
                                     : Json::object()
                                           .set("id", "LicenseRef-" + build.license)
                                           .set("url", "https://licenses.example/" + build.license)
                                           .set("accept", "explicit"));
  Json document =
      Json::object()
          .set("id", build.id)
          .set("version", build.version)
          .set("flavor", build.flavor)
          .set("os", system_name)
          .set("arch", build.arch.empty() ? machine_arch : build.arch)
          .set("requires", build.requirements)
          .set("plugin", Json::object().set("component", components.front()).set("path", build.plugin))
          .set("components", Json::strings({components.begin() + 1, components.end()}))
          .set("priority", build.priority);
  if (!build.not_built.empty()) document.set("not_built", build.not_built);
  if (build.probe_seconds != 0) document.set("probe_seconds", build.probe_seconds);
  if (!build.lazy.empty()) document.set("lazy", Json::strings(build.lazy));
  if (!build.search.empty()) document.set("search", Json::strings(build.search));
  if (!build.options.as_object().empty()) document.set("options", build.options);
  builds_.push(std::move(document));
}

void TestRepository::write() const {
  write_repository(root_, {{engine_, Json::object()
                                         .set("format", 1)
                                         .set("engine", engine_)
                                         .set("serial", 1)
                                         .set("licenses", licenses_)
                                         .set("components", components_)
                                         .set("builds", builds_)}});
}

void write_repository(const std::filesystem::path& root, const std::map<std::string, Json>& manifests) {
  Json entries = Json::array();
  for (const auto& [engine, document] : manifests) {
    const std::string manifest = document.dump(2);
    write_text(root / (engine + ".json"), manifest);
    entries.push(Json::object()
                     .set("path", engine + ".json")
                     .set("sha256", sha256_hex(manifest))
                     .set("size", manifest.size()));
  }
  write_text(root / "index.json", Json::object()
                                      .set("format", 1)
                                      .set("name", "made by a test")
                                      .set("serial", 1)
                                      .set("manifests", std::move(entries))
                                      .dump(2));
}

std::string zip_of(const std::vector<ViewFile>& files) {
  const TemporaryFolder folder;
  std::vector<std::string> command = {"sh", "-c", "cd \"$0\" && zip -q -X made.zip \"$@\"",
                                      host_path(folder.path())};
  for (const ViewFile& file : files) {
    write_text(folder / file.path, file.bytes);
    command.push_back(file.path);
  }
  if (!run_host_program(command)) throw std::runtime_error("zip failed; install zip");
  return read_text(folder / "made.zip");
}

}  // namespace enginehost::test
