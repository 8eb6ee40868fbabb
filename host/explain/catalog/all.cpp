#include <algorithm>
#include <string>
#include <vector>

#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {

std::span<const Entry> all() {
  // Never destroyed, because threads may still report failures while the process ends.
  static const auto& sorted = *new std::vector<Entry>([] {
    std::vector<Entry> entries;
    constexpr std::string_view of_failed_loads = "FGLRWX";
    for (const Table& letter : {engines_entries(), files_entries(), gpus_entries(), linking_entries(),
                                manifests_entries(), network_entries(), process_entries(), running_entries(),
                                selection_entries(), windows_entries(), macos_entries()})
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

std::string_view name_of(Proof proof) {
  switch (proof) {
    case Proof::none:
      return "";
    case Proof::produced:
      return "produced";
    case Proof::from_file:
      return "from the file";
    case Proof::parsed:
      return "parsed";
    case Proof::described:
      return "described";
  }
  return "";
}

const Entry* find(std::string_view code) {
  std::string full;
  for (const char c : code) full += (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
  if (!full.starts_with("EH-")) full.insert(0, "EH-");
  const auto entries = all();
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), full,
      [](const Entry& entry, const std::string& wanted) { return entry.name.code < wanted; });
  return found != entries.end() && found->name.code == full ? &*found : nullptr;
}

}  // namespace enginehost::explain
