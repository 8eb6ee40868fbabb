// The tables of the catalog: one for each letter, in a file of its own (two for L), sorted by code.
#pragma once
#include <span>

#include "host/explain/explain.hpp"

namespace enginehost::explain {

using history::Category;
using S = ExitStatus;

struct Table {
  std::span<const Entry> entries;
  // Those of each entry that names none.
  ExitStatus exit_status;
  Category category;
};

Table engines_entries();  // E
Table files_entries();    // F
Table gpus_entries();     // G
Table linking_entries();  // L
Table linking_entries_from_25();
Table manifests_entries();  // M
Table network_entries();    // N
Table process_entries();    // P
Table running_entries();    // R
Table selection_entries();  // S
Table windows_entries();    // W
Table macos_entries();      // X

}  // namespace enginehost::explain
