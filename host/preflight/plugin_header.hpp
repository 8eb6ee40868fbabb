// Checks a plugin's descriptor without running the plugin.
#pragma once
#include <filesystem>
#include <vector>

#include "base/diagnosis.hpp"

namespace enginehost::preflight {

// Adds EH-R11 or EH-R12 to the diagnoses, or to the doubts when the descriptor is filled in at start and
// cannot be read. `on_disk` is the location of the plugin's file on this machine. Adds nothing when the file
// is no library at all: the code that reads its imports reports that.
void judge_plugin_header(const std::filesystem::path& plugin, const std::filesystem::path& on_disk,
                         std::vector<Diagnosis>& diagnoses, std::vector<Diagnosis>& doubts);

}  // namespace enginehost::preflight
