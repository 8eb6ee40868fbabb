#include <algorithm>
#include <vector>

#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {

std::span<const Entry> all() {
  // Never destroyed, because threads may still report failures while the process ends.
  static const auto& sorted = *new std::vector<Entry>([] {
    std::vector<Entry> entries;
    for (const auto family :
         {content_entries(), linking_entries(), running_entries(), gpu_entries(), foreign_entries(),
          transport_entries(), registry_entries(), trust_entries(), selection_entries(), calling_entries(),
          offline_entries(), installation_entries()})
      entries.insert(entries.end(), family.begin(), family.end());
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.code < b.code; });
    return entries;
  }());
  return sorted;
}

const Entry* find(std::string_view code) {
  std::string full;
  for (const char c : code) full += (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
  if (!full.starts_with("EH-")) full.insert(0, "EH-");
  const auto entries = all();
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), full,
                       [](const Entry& entry, const std::string& wanted) { return entry.code < wanted; });
  return found != entries.end() && found->code == full ? &*found : nullptr;
}

}  // namespace enginehost::explain
