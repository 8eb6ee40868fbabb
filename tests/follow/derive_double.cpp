// Stands in for derive_row(), so that the loop is tested alone: a component of the wheel's own bytes.
#include "base/text.hpp"
#include "tools/follow/derive.hpp"
#include "tools/follow/inputs.hpp"

namespace enginehost::follow {

Result<DerivedRow> derive_row(const Derivation& derivation, const Track&, const Row& row,
                              const std::string& version) {
  const Layout& layout = *find_layout(derivation.plan, row.layout);
  TRY_ASSIGN(const std::vector<Release> releases, derivation.index.releases(layout.project));
  for (const Release& release : releases)
    for (const PublishedFile& file : release.files)
      if (release.version == version && matches_pattern(file.file, wheel_pattern(layout, version))) {
        const auto filled = [&](std::string text) {
          if (const std::size_t at = text.find("{version}"); at != std::string::npos)
            text.replace(at, 9, version);
          return text;
        };
        const std::string component = filled(layout.component);
        Json artifact =
            Json::object()
                .set("sha256", file.sha256)
                .set("size", file.size.value_or(1))
                .set("archive", "zip")
                .set("sources", Json::array().push(Json::object().set(
                                    "package_index",
                                    Json::object().set("project", file.project).set("file", file.file))));
        DerivedRow made;
        made.components.set(component, Json::object()
                                           .set("version", version)
                                           .set("license", layout.license)
                                           .set("artifacts", Json::array().push(std::move(artifact))));
        made.build = Json::object()
                         .set("id", filled(row.build["id"].as_string()))
                         .set("version", version)
                         .set("flavor", row.build["flavor"])
                         .set("os", row.os)
                         .set("arch", row.arch)
                         .set("components", Json::array().push(component));
        if (const Json* plugin = row.build.find("plugin")) made.build.set("plugin", *plugin);
        made.facts.push_back({"libc glibc", file.file});
        return made;
      }
  return fail(
      diagnose("EH-M17").with("file", layout.project + " " + version).with("problem", "no wheel fits"));
}

}  // namespace enginehost::follow
