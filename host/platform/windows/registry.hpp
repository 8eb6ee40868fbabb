// Reading HKEY_LOCAL_MACHINE, the 64-bit half of it whatever this program is. Names and texts are UTF-8. What
// is not there, may not be read or is of another type is nothing. Any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace enginehost::platform::registry {

std::optional<std::string> text(const std::string& key, const std::string& name);
std::optional<std::uint32_t> number(const std::string& key, const std::string& name);
// Sorted.
std::vector<std::string> keys_below(const std::string& key);
// Name and text of each value that is a text, sorted.
std::vector<std::pair<std::string, std::string>> texts_of(const std::string& key);

}  // namespace enginehost::platform::registry
