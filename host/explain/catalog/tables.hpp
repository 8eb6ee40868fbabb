// The tables of the catalog: one for each letter, in a file of its own, sorted by code.
#pragma once
#include <span>

#include "host/explain/explain.hpp"

namespace enginehost::explain {

std::span<const Entry> engines_entries();    // E
std::span<const Entry> files_entries();      // F
std::span<const Entry> gpus_entries();       // G
std::span<const Entry> linking_entries();    // L
std::span<const Entry> manifests_entries();  // M
std::span<const Entry> network_entries();    // N
std::span<const Entry> process_entries();    // P
std::span<const Entry> running_entries();    // R
std::span<const Entry> selection_entries();  // S
std::span<const Entry> windows_entries();    // W
std::span<const Entry> macos_entries();      // X

}  // namespace enginehost::explain
