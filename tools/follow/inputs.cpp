#include "tools/follow/inputs.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "tools/publish/names.hpp"

namespace enginehost::follow {
namespace {

// Raised when derive_row() gives other rows for the same inputs.
constexpr int derivation_version = 1;

Json layout_inputs(const Plan& plan, const Layout& layout) {
  return Json::object()
      .set("project", layout.project)
      .set("wheel", layout.wheel)
      .set("component", layout.component)
      .set("license", plan.licenses[layout.license])
      .set("license_name", layout.license)
      .set("license_file", layout.license_file)
      .set("select", Json::strings(layout.select))
      .set("optional", Json::strings(layout.optional))
      .set("libraries", Json::strings(layout.libraries))
      .set("ignored", Json::strings(layout.ignored));
}

Json wheels_of(const Release& release, const Layout& layout) {
  Json wheels = Json::object();
  for (const PublishedFile& file : release.files)
    if (matches_pattern(file.file, wheel_pattern(layout, release.version)))
      wheels.set(file.file, file.sha256);
  return wheels;
}

}  // namespace

std::string wheel_pattern(const Layout& layout, const std::string& version) {
  std::string pattern;
  for (std::size_t at = 0; at < layout.wheel.size(); ++at) {
    const std::size_t end = layout.wheel[at] == '{' ? layout.wheel.find('}', at) : std::string::npos;
    if (end == std::string::npos) {
      pattern += layout.wheel[at];
      continue;
    }
    pattern += layout.wheel.substr(at, end + 1 - at) == "{version}" ? version : "*";
    at = end;
  }
  return pattern;
}

Result<std::string> inputs_of(const Plan& plan, const Row& row, const std::string& version, Index& index) {
  const Layout& layout = *find_layout(plan, row.layout);
  TRY_ASSIGN(const std::vector<Release> releases, index.releases(layout.project));
  Json wheels = Json::object(), parts = Json::array();
  for (const Release& release : releases)
    if (release.version == version) wheels = wheels_of(release, layout);
  for (const Part& part : row.parts) {
    Json one = Json::object().set("name", part.layout).set("version", part.version);
    if (part.version != "none") {
      const Layout& other = *find_layout(plan, part.layout);
      one.set("layout", layout_inputs(plan, other));
      if (part.version != "metadata") {  // the row's wheel decides that version
        TRY_ASSIGN(const std::vector<Release> others, index.releases(other.project));
        const auto newest = std::find_if(others.begin(), others.end(), [&](const Release& release) {
          return in_range(release.version, part.version);
        });
        if (newest != others.end()) one.set("wheels", wheels_of(*newest, other));
      }
    }
    parts.push(std::move(one));
  }
  const Json inputs = Json::object()
                          .set("derivation", derivation_version)
                          .set("version", version)
                          .set("os", row.os)
                          .set("arch", row.arch)
                          .set("cuda", row.cuda)
                          .set("build", row.build)
                          .set("layout", layout_inputs(plan, layout))
                          .set("wheels", std::move(wheels))
                          .set("parts", std::move(parts));
  return sha256_hex(inputs.dump());
}

}  // namespace enginehost::follow
