// Caches of the loader as ldconfig would write them.
#pragma once
#include <string>
#include <vector>

#include "host/linker/machine.hpp"

namespace enginehost::linker {

// Returns the cache with these entries, which are in ldconfig's order: names descending, and for equal names
// those with hardware capabilities first.
inline LoaderCache cache_of(const std::vector<LoaderCache::Entry>& entries) {
  std::string texts, table, extension;
  const std::size_t texts_at = 48 + entries.size() * 24;
  const auto number = [](std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i));
  };
  const auto keep = [&](const std::string& text) {
    const std::size_t at = texts_at + texts.size();
    texts.append(text).push_back('\0');
    return at;
  };
  for (const LoaderCache::Entry& entry : entries) {
    std::uint64_t hwcap = entry.legacy_hwcap;
    if (!entry.hwcaps.empty()) {
      hwcap = std::uint64_t{1} << 62 | extension.size() / 4;
      number(extension, keep(entry.hwcaps), 4);
    }
    number(table, static_cast<std::uint32_t>(entry.flags), 4);
    number(table, keep(entry.soname), 4);
    number(table, keep(entry.path), 4);
    number(table, 0, 4);
    number(table, hwcap, 8);
  }
  const std::size_t extension_at = texts_at + texts.size();
  std::string bytes = "glibc-ld.so.cache1.1";
  number(bytes, entries.size(), 4);
  number(bytes, texts.size(), 4);
  number(bytes, 0, 4);
  number(bytes, extension_at, 4);
  bytes.resize(48);
  bytes += table + texts;
  for (const std::size_t word : {std::size_t{0xeaa42174}, std::size_t{1}, std::size_t{1}, std::size_t{0},
                                 extension_at + 24, extension.size()})
    number(bytes, word, 4);
  return LoaderCache::parse(bytes + extension);
}

}  // namespace enginehost::linker
