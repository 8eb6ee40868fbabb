// What can be told of a plugin's descriptor without running it.
#pragma once
#include <filesystem>
#include <vector>

#include "base/diagnosis.hpp"

namespace enginehost::preflight {

// EH-R11 or EH-R12 among the diagnoses; among the doubts where the descriptor is filled in at start and
// cannot be read. `on_disk` is where the plugin's file lies on this machine. Nothing when it is no library at
// all: who reads its imports says that.
void judge_plugin_header(const std::filesystem::path& plugin, const std::filesystem::path& on_disk,
                         std::vector<Diagnosis>& diagnoses, std::vector<Diagnosis>& doubts);

}  // namespace enginehost::preflight
