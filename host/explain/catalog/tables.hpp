// The families of the catalog. Each is in a file of its own, sorted by code.
#pragma once
#include <span>

#include "host/explain/explain.hpp"

namespace enginehost::explain {

std::span<const Entry> content_entries();       // F
std::span<const Entry> linking_entries();       // L
std::span<const Entry> running_entries();       // R, E
std::span<const Entry> gpu_entries();           // G
std::span<const Entry> foreign_entries();       // W, X
std::span<const Entry> transport_entries();     // N, M
std::span<const Entry> registry_entries();      // N3x
std::span<const Entry> trust_entries();         // M08 and on
std::span<const Entry> selection_entries();     // S, P
std::span<const Entry> installation_entries();  // S30 to S33
std::span<const Entry> offline_entries();       // F40 to F44, M40, P60
std::span<const Entry> calling_entries();       // F19 to F21, M06, M07, N14 to N16, P21 to P99, S18 to S20

}  // namespace enginehost::explain
