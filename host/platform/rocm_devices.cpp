#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "host/platform/driver_state.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::platform {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

// Returns the processor that "MAJOR.MINOR.STEPPING" names; nothing for another text.
std::optional<std::string> gfx_of_version(std::string_view version) {
  const std::vector<std::string> parts = split(version, '.');
  if (parts.size() != 3) return std::nullopt;
  unsigned numbers[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto number = parse_integer(parts[i]);
    if (!number || *number < 0 || *number > (i == 0 ? 63 : 255)) return std::nullopt;
    numbers[i] = static_cast<unsigned>(*number);
  }
  return gfx_name(numbers[0], numbers[1], numbers[2]);
}

std::string assignment(std::string_view name, const std::string& value) {
  return std::string(name) + "=" + (value.empty() ? "\"\"" : value);
}

void apply_override(const Platform& platform, std::size_t number, RocmDevice& device, RocmDevices& all) {
  constexpr std::string_view general = "HSA_OVERRIDE_GFX_VERSION", of_node = "HSA_OVERRIDE_GFX_VERSION_";
  const std::vector<int>& nodes = platform.rocm.value().nodes;
  std::string name(general);
  const std::string* value = nullptr;
  if (number < nodes.size()) {
    name = std::string(of_node) + std::to_string(nodes[number]);
    value = variable_of(platform, name);
  } else {
    for (const auto& [other, text] : platform.loader_environment.value())
      if (other.starts_with(of_node))
        all.unknown = other + " is for one device, and the numbers of the devices are not known";
  }
  if (value == nullptr) value = variable_of(platform, name = general);
  if (value == nullptr) return;
  const auto gfx = gfx_of_version(*value);
  if (!gfx) {
    all.invalid = assignment(name, *value);
  } else if (*gfx != device.gfx) {
    device.counts_as = *gfx;
    device.variable = assignment(name, *value);
  }
}

// Keeps the devices that the list names. It ends at the first invalid entry.
void keep_named(std::string_view name, const std::string& list, bool repeated_ends, RocmDevices& all) {
  std::vector<RocmDevice> kept;
  std::set<std::int64_t> seen;
  if (!list.empty())
    for (const std::string& part : split(list, ',')) {
      const std::string entry(trim(part));
      if (to_lower(entry).starts_with("gpu-")) {
        all.unknown = std::string(name) + " names a UUID, and those of the devices are not known";
        return;
      }
      const auto index = parse_integer(entry);
      if (!index || *index < 0 || static_cast<std::size_t>(*index) >= all.devices.size()) break;
      if (seen.insert(*index).second)
        kept.push_back(all.devices[static_cast<std::size_t>(*index)]);
      else if (repeated_ends)
        break;
    }
  if (kept.size() < all.devices.size()) all.hidden_by = assignment(name, list);
  all.devices = std::move(kept);
}

}  // namespace

std::string gfx_name(unsigned major, unsigned minor, unsigned stepping) {
  return "gfx" + std::to_string(major) + hex_digits[minor % 16] + hex_digits[stepping % 16];
}

std::string gfx_version(std::string_view gfx) {
  if (!gfx.starts_with("gfx") || gfx.size() < 6) return {};
  gfx.remove_prefix(3);
  const std::size_t stepping = hex_digits.find(gfx.back()), minor = hex_digits.find(gfx[gfx.size() - 2]);
  const auto major = parse_integer(gfx.substr(0, gfx.size() - 2));
  if (!major || stepping == std::string_view::npos || minor == std::string_view::npos) return {};
  return std::to_string(*major) + "." + std::to_string(minor) + "." + std::to_string(stepping);
}

RocmDevices rocm_devices(const Platform& platform) {
  RocmDevices all;
  const std::vector<std::string>& hardware = platform.rocm.value().gfx;
  const bool windows = platform.os.value() == "windows";
  for (std::size_t i = 0; i < hardware.size(); ++i) {
    RocmDevice device{hardware[i], hardware[i], {}};
    if (!windows) apply_override(platform, i, device, all);  // Windows has no libhsakmt
    all.devices.push_back(std::move(device));
  }
  if (const std::string* const list = variable_of(platform, "ROCR_VISIBLE_DEVICES");
      list != nullptr && !windows)
    keep_named("ROCR_VISIBLE_DEVICES", *list, true, all);
  for (const char* name : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"})
    if (const std::string* const list = variable_of(platform, name); list != nullptr && !list->empty()) {
      keep_named(name, *list, false, all);
      break;
    }
  return all;
}

std::string amd_cards(const Platform& platform) {
  std::vector<std::string> cards;
  for (const std::string& card : split(platform.other_gpus.value(), ','))
    if (trim(card).starts_with("AMD ")) cards.emplace_back(trim(card));
  return join(cards, ", ");
}

}  // namespace enginehost::platform
