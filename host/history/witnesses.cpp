// What a record's truth rests on, looked at again.
#include <algorithm>
#include <system_error>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/history/store.hpp"

namespace enginehost::history {

Witness witness_of(const std::filesystem::path& path) {
  Witness witness;
  witness.path = path_text(path);
  const auto stamp = stamp_of(path);
  witness.present = stamp.has_value();
  if (stamp) witness.stamp = *stamp;
  return witness;
}

std::vector<Witness> witnesses_of_absence(std::string_view library,
                                          const std::vector<std::filesystem::path>& folders,
                                          const std::filesystem::path& loader_cache) {
  std::vector<Witness> witnesses;
  for (const std::filesystem::path& folder : folders) {
    std::error_code error;
    const bool there = std::filesystem::is_directory(folder, error);
    witnesses.push_back(witness_of(there && !library.empty() ? folder / path_of(library) : folder));
  }
  if (!loader_cache.empty()) witnesses.push_back(witness_of(loader_cache));
  return witnesses;
}

std::string what_changed(const Fingerprint& was, const Fingerprint& is) {
  const auto stays = [](const std::string& name, const std::string& value, const std::string& other) {
    if (name != helper_part) return value == other;
    const std::vector<std::string> helpers = split(value, ',');
    return std::find(helpers.begin(), helpers.end(), other) != helpers.end();
  };
  // A part that one side does not have is not compared: it was unknown then, or is now.
  for (const auto& [name, value] : was)
    for (const auto& [other_name, other] : is)
      if (name == other_name && !stays(name, value, other)) {
        std::string text = "the ";
        text.append(name).append(" changed from \"").append(value).append("\" to \"").append(other);
        return text + "\"";
      }
  return {};
}

}  // namespace enginehost::history
