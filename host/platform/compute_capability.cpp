#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "host/platform/platform.hpp"
#include "host/vendor_facts/vendor_facts.hpp"

namespace enginehost::platform {

std::optional<Capability> parse_capability(std::string_view text) {
  Capability capability;
  if (text.ends_with('a') || text.ends_with('f')) {
    capability.suffix = text.back();
    text.remove_suffix(1);
  }
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = parse_integer(text.substr(0, dot)), minor = parse_integer(text.substr(dot + 1));
  if (!major || !minor || *major < 0 || *major > 99 || *minor < 0 || *minor > 9) return std::nullopt;
  capability.major = static_cast<int>(*major);
  capability.minor = static_cast<int>(*minor);
  return capability;
}

namespace {

// Returns whether it is the GPU of a Tegra chip. Per the programming guide, "binary compatibility" holds
// among desktop GPUs, but not on Tegra and not between the two.
bool is_tegra(const Capability& one) {
  const std::string text = std::to_string(one.major) + "." + std::to_string(one.minor);
  const auto& cards = vendor::in_use().cards;
  const auto card = std::ranges::find(cards, text, &vendor::Card::capability);
  return card != cards.end() && card->tegra;
}

}  // namespace

bool sass_runs_on(const Capability& code, const Capability& device) {
  if (code.suffix == 'a' || is_tegra(code) || is_tegra(device))
    return code.major == device.major && code.minor == device.minor;
  return code.major == device.major && code.minor <= device.minor;
}

bool ptx_runs_on(const Capability& code, const Capability& device) {
  if (code.suffix == 'a') return code.major == device.major && code.minor == device.minor;
  if (code.suffix == 'f') return code.major == device.major && code.minor <= device.minor;
  return code.major < device.major || (code.major == device.major && code.minor <= device.minor);
}

}  // namespace enginehost::platform
