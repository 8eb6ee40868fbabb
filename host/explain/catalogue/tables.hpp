// The families of the catalogue; each lies in a file of its own, sorted by code.
#pragma once
#include <span>

#include "host/explain/explain.hpp"

namespace enginehost::explain {

std::span<const Entry> content_entries();    // F
std::span<const Entry> linking_entries();    // L
std::span<const Entry> running_entries();    // R, E
std::span<const Entry> gpu_entries();        // G
std::span<const Entry> foreign_entries();    // W, X
std::span<const Entry> transport_entries();  // N, M
std::span<const Entry> selection_entries();  // S, P

}  // namespace enginehost::explain
