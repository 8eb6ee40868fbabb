// Checks whether this host can use a plugin, from the head of its descriptor in the file or in memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::preflight {

struct PluginFloors {
  std::string_view magic;  // eight bytes
  std::uint32_t size = 0;
  std::uint16_t abi_major = 0, abi_minor = 0, host_minor = 0;
};

// EH-R11: wrong magic or size ("file", "problem"). EH-R12: the floors do not meet ("plugin_abi", "host_abi").
Result<void> check_floors(const PluginFloors& plugin, const std::filesystem::path& file);

// EH-R11 ("file", "problem") when the object is smaller than any descriptor. Size 0 means unknown.
Result<void> check_object_size(std::uint64_t size, const std::filesystem::path& file);

}  // namespace enginehost::preflight
