#include "host/binary/formats.hpp"

#include <algorithm>

#include "host/binary/macho_file.hpp"

namespace enginehost::binary {
namespace {

// Reads a slice and keeps the facts about the whole file.
void read_slice(FileView& file, const MachoPlace& place, BinaryInfo& info) {
  MachoFile macho;
  read_macho_slice(file, place, macho, info);
}

void add_slice(FileView& file, const MachoPlace& place, BinaryInfo& info) {
  BinaryInfo slice;
  read_slice(file, place, slice);
  info.machine += "+" + (slice.machine.empty() ? macho_machine(place.cpu, place.subtype) : slice.machine);
  info.needed_size = std::max(info.needed_size, slice.needed_size);
  for (Diagnosis& problem : slice.problems) info.problems.push_back(std::move(problem));
}

}  // namespace

bool is_macho(FileView& file) {
  Fields head;
  if (!file.read_fields(0, 4, false, head)) return false;
  // The magic numbers of both widths, in both byte orders.
  for (std::uint32_t magic : {0xfeedfaceu, 0xfeedfacfu, 0xcefaedfeu, 0xcffaedfeu})
    if (head.u32(0) == magic) return true;
  return is_universal(file);
}

void read_macho(FileView& file, std::string_view machine, BinaryInfo& info) {
  info.kind = Kind::macho;
  info.sniffed = "Mach-O (macOS)";
  const std::vector<MachoPlace> places = macho_places(file);
  if (!is_universal(file)) return read_slice(file, places.front(), info);
  for (const MachoPlace& place : places)
    info.slices.push_back({macho_machine(place.cpu, place.subtype), place.offset, place.size});
  if (places.empty()) return add_truncated(file, info, 28, "universal header");
  const bool chosen = std::any_of(info.slices.begin(), info.slices.end(),
                                  [&](const Slice& slice) { return slice.machine == machine; });
  const MachoPlace& first = chosen_place(places, machine);
  read_slice(file, first, info);
  if (info.machine.empty()) info.machine = macho_machine(first.cpu, first.subtype);
  if (!chosen)
    for (std::size_t i = 1; i < places.size(); ++i) add_slice(file, places[i], info);
  // Worst first, because truncation explains all other problems.
  std::stable_partition(info.problems.begin(), info.problems.end(),
                        [](const Diagnosis& problem) { return problem.code == "EH-F04"; });
}

}  // namespace enginehost::binary
