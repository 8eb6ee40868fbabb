#include "host/platform/platform.hpp"

#include <algorithm>
#include <type_traits>

#include "base/columns.hpp"
#include "base/text.hpp"

namespace enginehost::platform {
namespace {

using Lines = std::vector<std::string>;

struct TableRow {
  std::string name, value, source;
};

// The texts of a value; several lines for a list.
class Wording {
 public:
  Lines of(const std::string& value) const { return {value.empty() ? "\"\"" : value}; }
  Lines of(std::uint64_t bytes) const { return {format_bytes(bytes)}; }
  Lines of(const Distribution& value) const {
    return {value.name.empty() ? value.id + " " + value.version : value.name};
  }
  Lines of(const Libc& value) const {
    return {value.name + (value.version.empty() ? "" : " " + value.version)};
  }
  Lines of(const Libstdcxx& value) const {
    return {"GLIBCXX_" + value.glibcxx + ", CXXABI_" + value.cxxabi + ", " + value.path};
  }
  Lines of(const Cpu& value) const {
    Lines parts;
    if (!value.model.empty()) parts.push_back(value.model);
    if (!value.level.empty()) parts.push_back(value.level);
    parts.push_back(pluralize(static_cast<std::uint64_t>(value.cores), "core", "cores"));
    Lines lines{join(parts, ", ")};
    lines.push_back(join(value.features, " "));
    return lines;
  }
  Lines of(const Memory& value) const {
    return {format_bytes(value.total) + ", " + format_bytes(value.available) + " available"};
  }
  Lines of(const Disk& value) const {
    return {value.folder + ": " + format_bytes(value.free) + " free of " + format_bytes(value.total) +
            (value.noexec ? ", noexec: libraries cannot be loaded from it" : "")};
  }
  Lines of(const CudaDevice& value) const {
    Lines parts{std::to_string(value.index) + ": " + (value.name.empty() ? "unnamed device" : value.name)};
    if (!value.compute_capability.empty()) parts.push_back("compute capability " + value.compute_capability);
    if (value.memory != 0) parts.push_back(format_bytes(value.memory));
    if (!value.visible) parts.emplace_back("hidden");
    if (!value.uuid.empty()) parts.push_back(value.uuid);
    return {join(parts, ", ")};
  }
  Lines of(const Installed& value) const {
    return {(value.version.empty() ? "" : value.version + " in ") + value.path +
            (value.note.empty() ? "" : ", " + value.note)};
  }
  Lines of(const KernelModule& value) const {
    Lines parts{"not loaded: " + (value.file.empty() ? "no file for this kernel" : value.file)};
    if (!value.gpu_is_of.empty()) parts.push_back(value.gpu_is_of + " has the GPU");
    if (value.secure_boot) parts.emplace_back("Secure Boot is on");
    return {join(parts, ", ")};
  }
  Lines of(const Rocm& value) const {
    return {(value.version.empty() ? "no installation" : value.version) +
            (value.gfx.empty() ? "" : ", devices: " + join(value.gfx, ", "))};
  }
  Lines of(const Metal& value) const { return {value.device}; }
  Lines of(const Conda& value) const {
    return {(value.name.empty() ? "" : value.name + " in ") + value.prefix};
  }
  Lines of(const Variables& value) const {
    Lines lines;
    for (const auto& [name, text] : value) lines.push_back(name + "=" + text);
    return lines;
  }
  template <class Element>
  Lines of(const std::vector<Element>& list) const {
    Lines lines;
    for (const Element& element : list)
      for (std::string& line : of(element)) lines.push_back(std::move(line));
    return lines.empty() ? Lines{"none"} : lines;
  }
};

template <class Value>
void add_rows(const Wording& wording, std::string name, const Fact<Value>& fact,
              std::vector<TableRow>& rows) {
  if (fact.is_unknown()) {
    rows.push_back({std::move(name), "unknown (" + fact.why() + ")", {}});
    return;
  }
  if (fact.is_absent()) {
    rows.push_back({std::move(name), "none", fact.source()});
    return;
  }
  std::string source = fact.source();
  for (std::string& line : wording.of(fact.value())) {
    rows.push_back({std::move(name), std::move(line), std::move(source)});
    name.clear();
    source.clear();
  }
}

// If no variable hides devices, "none" would read as if none were visible.
void show_all(TableRow& row) {
  row.value = "all";
  if (!row.source.empty()) row.source += " is not set";
}

// The variables decide what ROCm makes of its devices.
void add_overrides(const Platform& platform, std::vector<TableRow>& rows) {
  if (!platform.rocm.is_known() || platform.rocm.value().gfx.empty()) return;
  const RocmDevices found = rocm_devices(platform);
  for (const RocmDevice& device : found.devices)
    if (!device.variable.empty())
      rows.push_back({"", device.gfx + " counts as " + device.counts_as, device.variable});
  if (!found.invalid.empty())
    rows.push_back({"", "ROCm does not start: no MAJOR.MINOR.STEPPING", found.invalid});
  if (!found.hidden_by.empty())
    rows.push_back({"",
                    "visible: " + std::to_string(found.devices.size()) + " of " +
                        std::to_string(platform.rocm.value().gfx.size()),
                    found.hidden_by});
}

}  // namespace

std::string describe(const Platform& platform) {
  const Wording wording;
  std::vector<TableRow> rows;
  for_each_member(platform, [&](const char* name, const auto& part) {
    if constexpr (std::is_same_v<decltype(part), const Cuda&>)
      for_each_member(part, [&](const char* member, const auto& fact) {
        add_rows(wording, std::string(name) + "." + member, fact, rows);
        if (static_cast<const void*>(&fact) == &part.visible_devices && fact.is_absent())
          show_all(rows.back());
      });
    // Prints nothing when no build requested a library.
    else if (&platform.libraries != static_cast<const void*>(&part) || !part.is_unknown())
      add_rows(wording, name, part, rows);
    if (static_cast<const void*>(&part) == &platform.rocm) add_overrides(platform, rows);
  });

  // Sources form one column, as far right as ordinary values need; longer values push their own source
  // further.
  constexpr std::size_t widest_column = 48;
  std::size_t names = 0, values = 0;
  for (const TableRow& row : rows) {
    names = std::max(names, row.name.size());
    if (!row.source.empty() && width_of(row.value) <= widest_column)
      values = std::max(values, width_of(row.value));
  }
  std::string text;
  for (const TableRow& row : rows) {
    text += row.name + std::string(names - row.name.size() + 2, ' ') + row.value;
    if (!row.source.empty()) {
      const std::size_t width = width_of(row.value);
      text += std::string(width < values ? values - width : 0, ' ') + "  (" + row.source + ")";
    }
    text += '\n';
  }
  return text;
}

}  // namespace enginehost::platform
