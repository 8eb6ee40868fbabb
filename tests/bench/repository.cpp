#include "tests/bench/repository.hpp"

#include "base/files.hpp"
#include "base/sha256.hpp"

namespace enginehost::bench {

namespace fs = std::filesystem;

std::optional<Json> manifest_of(const std::string& engine, const std::vector<Part>& parts) {
  Json components = Json::object(), others = Json::array();
  std::string plugin_component, plugin_path;
  for (const Part& part : parts) {
    const auto sha256 = sha256_of_file(part.file);
    if (!sha256) return std::nullopt;
    Json source = Json::object();
    if (!part.project.empty())
      source.set("package_index",
                 Json::object().set("project", part.project).set("file", part.file.filename().native()));
    else if (!part.url.empty())
      source.set("url", part.url);
    else
      source.set("file", part.file.native());
    Json artifact = Json::object()
                        .set("sha256", *sha256)
                        .set("size", static_cast<std::int64_t>(fs::file_size(part.file)))
                        .set("archive", part.archive)
                        .set("sources", Json::array().push(std::move(source)));
    if (!part.select.empty()) artifact.set("select", Json::strings(part.select));
    if (part.archive == "none") artifact.set("path", part.file.filename().native());
    components.set(part.name,
                   Json::object().set("version", "1").set("artifacts", Json::array().push(artifact)));
    if (part.is_plugin) {
      plugin_component = part.name;
      plugin_path = part.file.filename().native();
    } else {
      others.push(part.name);
    }
  }
  return Json::object()
      .set("format", 1)
      .set("engine", engine)
      .set("serial", 1)
      .set("components", std::move(components))
      .set("builds",
           Json::array().push(
               Json::object()
                   .set("id", engine + "-bench")
                   .set("version", "1.0.0")
                   .set("flavor", "cpu")
                   .set("os", "linux")
#ifdef __aarch64__
                   .set("arch", "aarch64")
#else
                   .set("arch", "x86_64")
#endif
                   .set("plugin", Json::object().set("component", plugin_component).set("path", plugin_path))
                   .set("components", std::move(others))
                   .set("search", Json::strings({"."}))));
}

bool write_repository(const fs::path& folder, const std::string& engine, const Json& manifest) {
  const std::string text = manifest.dump(1), name = engine + ".json";
  const Json index =
      Json::object()
          .set("format", 1)
          .set("name", "bench")
          .set("serial", 1)
          .set("manifests", Json::array().push(Json::object()
                                                   .set("path", name)
                                                   .set("sha256", sha256_hex(text))
                                                   .set("size", static_cast<std::int64_t>(text.size()))));
  return make_folders(folder) && write_file(folder / name, text, false) &&
         write_file(folder / "index.json", index.dump(1), false);
}

}  // namespace enginehost::bench
