#include "base/text.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

// Converts 110000 to gfx1100 and 90010 to gfx90a: major, two digits minor, two digits stepping; the last two
// as one hexadecimal digit each (LLVM's AMDGPU processor names).
std::string gfx_name(std::int64_t version) {
  static constexpr char digits[] = "0123456789abcdef";
  return "gfx" + std::to_string(version / 10000) + digits[version / 100 % 100 % 16] +
         digits[version % 100 % 16];
}

}  // namespace

Fact<Rocm> detect_rocm(const Root& root) {
  Rocm found;
  std::vector<std::string> sources;
  if (const auto version = root.read("/opt/rocm/.info/version")) {
    // "6.2.0-66": the part after the dash is a build number.
    found.version = std::string(trim(*version)).substr(0, trim(*version).find('-'));
    sources.push_back("/opt/rocm/.info/version");
  }
  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes";
  for (const std::string& node : root.list(nodes)) {
    for (const std::string& line : split(root.read(nodes + "/" + node + "/properties").value_or(""), '\n')) {
      constexpr std::string_view name = "gfx_target_version ";
      if (!std::string_view(line).starts_with(name)) continue;
      const auto version = parse_integer(trim(std::string_view(line).substr(name.size())));
      if (version && *version > 0) found.gfx.push_back(gfx_name(*version));  // 0: the node is a processor
    }
  }
  if (!found.gfx.empty()) sources.push_back(nodes);
  if (sources.empty()) return Fact<Rocm>::absent("/opt/rocm/.info/version, " + nodes);
  return Fact<Rocm>::known(std::move(found), join(sources, ", "));
}

}  // namespace enginehost::platform
