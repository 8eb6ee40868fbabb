// Records that could not be written. They are kept until the process ends.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "host/history/history.hpp"

namespace enginehost::history {

// Kept by state folder. Every function may be called from any thread.
void keep_in_memory(const std::filesystem::path& state_folder, const Record& record);
// True when there was one.
bool drop_from_memory(const std::filesystem::path& state_folder, const std::string& build_id);
std::map<std::string, Record> kept_in_memory(const std::filesystem::path& state_folder);

}  // namespace enginehost::history
