// Reads HKEY_LOCAL_MACHINE, always its 64-bit view. Names and texts are UTF-8. A value that is missing,
// unreadable or of another type is returned as nothing. Any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace enginehost::platform::registry {

std::optional<std::string> text(const std::string& key, const std::string& name);
std::optional<std::uint32_t> number(const std::string& key, const std::string& name);
// Returns the names of the subkeys, sorted.
std::vector<std::string> keys_below(const std::string& key);
// Returns name and text of each text value, sorted.
std::vector<std::pair<std::string, std::string>> texts_of(const std::string& key);

}  // namespace enginehost::platform::registry
