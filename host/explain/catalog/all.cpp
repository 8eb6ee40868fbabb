#include <algorithm>
#include <string>
#include <vector>

#include "host/explain/catalog/tables.hpp"
#include "host/explain/describe_code.hpp"

namespace enginehost::explain {

std::span<const Entry> all() {
  // Never destroyed, because threads may still report failures while the process ends.
  static const auto& sorted = *new std::vector<Entry>([] {
    std::vector<Entry> entries;
    constexpr std::string_view of_failed_loads = "FGLRWX";
    for (const Table& letter :
         {engines_entries(), files_entries(), gpus_entries(), linking_entries(), linking_entries_from_25(),
          manifests_entries(), network_entries(), process_entries(), running_entries(), selection_entries(),
          windows_entries(), macos_entries()})
      for (Entry entry : letter.entries) {
        if (!entry.exit_status) entry.exit_status = letter.exit_status;
        if (!entry.category) entry.category = letter.category;
        if (of_failed_loads.find(entry.name.code[3]) == std::string_view::npos) entry.proof = Proof::none;
        entries.push_back(entry);
      }
    return entries;
  }());
  return sorted;
}

// The names are in the order of Proof.
std::string_view name_of(Proof proof) {
  constexpr std::string_view names[] = {"", "produced", "from the file", "parsed", "described"};
  return names[static_cast<std::size_t>(proof)];
}

const Entry* find(std::string_view code) {
  const std::string full = normalised_code(code);
  const auto found = std::ranges::find(all(), full, [](const Entry& entry) { return entry.name.code; });
  return found != all().end() ? &*found : nullptr;
}

}  // namespace enginehost::explain
