#include "host/transfer/pip.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace enginehost::transfer {
namespace {

constexpr std::string_view white = " \t\r\n\v\f\x1c\x1d\x1e\x1f";  // of Python's str.strip()

std::string_view strip(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(white);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(white) - begin + 1);
}

// Splits at "\n", "\r\n" and "\r".
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(text.starts_with("\r\n") ? 2 : std::min<std::size_t>(text.size(), 1));
  }
  return lines;
}

struct Section {
  std::string name;
  std::vector<IniEntry> entries;
};

IniEntry* find(std::vector<IniEntry>& entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &IniEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

Result<std::vector<IniEntry>> read_ini(std::string_view text) {
  if (!is_utf8(text)) return fail(diagnose("EH-N17").with("problem", "it is not text in UTF-8"));
  std::vector<IniEntry> defaults;
  std::vector<Section> sections;
  std::vector<IniEntry>* section = nullptr;  // the current one
  bool in_value = false;                     // the last entry of the section may go on
  std::size_t indent = 0, number = 0;
  const auto refuse = [&](const std::string& problem) {
    return fail(diagnose("EH-N17").with("problem", "line " + std::to_string(number) + " " + problem));
  };
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::string_view content = strip(line);
    if (content.starts_with('#') || content.starts_with(';')) continue;
    if (content.empty()) {
      if (in_value) section->back().value += '\n';
      continue;
    }
    const std::size_t begin = line.find_first_not_of(white);
    if (in_value && begin > indent) {
      section->back().value.append(1, '\n').append(content);
      continue;
    }
    indent = begin;
    in_value = false;
    if (const std::size_t close = content.rfind(']');
        content.starts_with('[') && close != std::string_view::npos && close > 1) {
      const std::string name(content.substr(1, close - 1));
      if (name == "DEFAULT") {
        section = &defaults;
        continue;
      }
      if (std::ranges::find(sections, name, &Section::name) != sections.end())
        return refuse("begins the section [" + name + "] a second time");
      section = &sections.emplace_back(Section{name, {}}).entries;
      continue;
    }
    if (section == nullptr) return refuse("stands before the first section: [global], [install]");
    const std::size_t mark = content.find_first_of("=:");
    if (mark == std::string_view::npos || mark == 0) return refuse("is not NAME = VALUE");
    std::string name = to_lower(strip(content.substr(0, mark)));
    if (find(*section, name) != nullptr) return refuse("sets " + name + " a second time");
    section->push_back({{}, std::move(name), std::string(strip(content.substr(mark + 1)))});
    in_value = true;
  }
  std::vector<IniEntry> all;
  for (Section& one : sections) {
    std::vector<IniEntry> entries = defaults;
    for (IniEntry& entry : one.entries)
      if (IniEntry* known = find(entries, entry.name))
        known->value = std::move(entry.value);
      else
        entries.push_back(std::move(entry));
    for (IniEntry& entry : entries) {
      entry.section = one.name;
      entry.value.erase(entry.value.find_last_not_of(white) + 1);
    }
    all.insert(all.end(), std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()));
  }
  return all;
}

}  // namespace enginehost::transfer
