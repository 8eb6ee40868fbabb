#include <algorithm>
#include <cstring>
#include <utility>

#include "host/linker/machine.hpp"

// Layout and search are those of glibc elf/dl-cache.c and sysdeps/generic/dl-cache.h.
namespace enginehost::linker {
namespace {

constexpr std::string_view old_magic = "ld.so-1.7.0";
constexpr std::string_view new_magic = "glibc-ld.so.cache1.1";
constexpr std::size_t old_header = 16, old_entry = 12, new_header = 48, new_entry = 24;
constexpr std::uint32_t extension_magic = 0xeaa42174;
constexpr std::uint32_t extension_hwcaps = 1;
constexpr std::uint64_t hwcap_extension = std::uint64_t{1} << 62;  // DL_CACHE_HWCAP_EXTENSION
constexpr std::uint64_t hwcap_tls = std::uint64_t{1} << 63;        // _DL_HWCAP_TLS_MASK
constexpr std::size_t entry_limit = 1u << 20;

// This machine wrote the cache for itself, so numbers have its byte order.
template <class T>
bool take(std::string_view bytes, std::size_t at, T& value) {
  if (at > bytes.size() || bytes.size() - at < sizeof value) return false;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return true;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// _dl_cache_libcmp: runs of digits compare as numbers, so that libfoo.so.10 comes after libfoo.so.9.
int compare_names(std::string_view left, std::string_view right) {
  std::size_t i = 0, k = 0;
  auto at = [](std::string_view text, std::size_t index) { return index < text.size() ? text[index] : '\0'; };
  while (at(left, i) != '\0') {
    if (is_digit(at(left, i))) {
      if (!is_digit(at(right, k))) return 1;
      std::uint64_t a = 0, b = 0;
      while (is_digit(at(left, i))) a = a * 10 + static_cast<std::uint64_t>(at(left, i++) - '0');
      while (is_digit(at(right, k))) b = b * 10 + static_cast<std::uint64_t>(at(right, k++) - '0');
      if (a != b) return a < b ? -1 : 1;
    } else if (is_digit(at(right, k))) {
      return -1;
    } else if (at(left, i) != at(right, k)) {
      return static_cast<unsigned char>(at(left, i)) - static_cast<unsigned char>(at(right, k));
    } else {
      ++i;
      ++k;
    }
  }
  return static_cast<unsigned char>(at(left, i)) - static_cast<unsigned char>(at(right, k));
}

// Returns where the new format begins: at once, or after the entries of the old one.
std::size_t start_of_new_format(std::string_view bytes) {
  if (bytes.substr(0, old_magic.size()) != old_magic) return 0;
  std::uint32_t count = 0;
  if (!take(bytes, 12, count) || count > entry_limit) return bytes.size();
  return (old_header + std::size_t{count} * old_entry + 7) / 8 * 8;
}

}  // namespace

LoaderCache LoaderCache::parse(std::string bytes) {
  const std::size_t start = start_of_new_format(bytes);
  if (start >= bytes.size() || std::string_view(bytes).substr(start, new_magic.size()) != new_magic)
    return {};
  LoaderCache cache;
  bytes.erase(0, start);
  cache.bytes_ = std::move(bytes);
  std::uint32_t count = 0, extension = 0;
  const std::string_view view = cache.bytes_;
  if (view.size() < new_header) return {};
  if (!take(view, 20, count) || !take(view, 32, extension)) return {};
  if (count > entry_limit || count > (view.size() - new_header) / new_entry) return {};
  // All entries are within the file, as checked above.
  for (std::uint32_t i = 0; i < count; ++i)
    if (const Slot slot = cache.slot(i); slot.soname >= view.size() || slot.path >= view.size()) return {};
  cache.count_ = count;
  std::uint32_t magic = 0, sections = 0;
  if (extension != 0 && take(view, extension, magic) && magic == extension_magic &&
      take(view, extension + 4, sections))
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(sections, 64); ++i) {
      std::uint32_t tag = 0, offset = 0, size = 0;
      const std::size_t at = extension + 8 + std::size_t{i} * 16;
      if (!take(view, at, tag) || !take(view, at + 8, offset) || !take(view, at + 12, size)) break;
      if (tag != extension_hwcaps) continue;
      for (std::uint32_t k = 0; k < std::min<std::uint32_t>(size / 4, 1024); ++k) {
        std::uint32_t name = 0;
        if (!take(view, std::size_t{offset} + k * 4, name) || name >= view.size()) break;
        cache.hwcaps_names_.push_back(name);
      }
    }
  return cache;
}

LoaderCache::Slot LoaderCache::slot(std::size_t index) const {
  static_assert(sizeof(Slot) == new_entry);
  Slot slot;
  std::memcpy(&slot, bytes_.data() + new_header + index * new_entry, sizeof slot);
  return slot;
}

std::string_view LoaderCache::text(std::uint32_t offset) const {
  // Offsets are below bytes_.size(), and a std::string ends in an uncounted zero.
  return std::string_view(bytes_.c_str() + offset);
}

std::string_view LoaderCache::hwcaps_of(const Slot& slot) const {
  const auto index = static_cast<std::uint32_t>(slot.hwcap);
  if ((slot.hwcap & hwcap_extension) == 0 || index >= hwcaps_names_.size()) return {};
  return text(hwcaps_names_[index]);
}

std::vector<LoaderCache::Entry> LoaderCache::entries() const {
  std::vector<Entry> all;
  for (std::size_t i = 0; i < count_; ++i) {
    const Slot one = slot(i);
    all.push_back({std::string(text(one.soname)), std::string(text(one.path)), one.flags,
                   std::string(hwcaps_of(one)), (one.hwcap & hwcap_extension) != 0 ? 0 : one.hwcap});
  }
  return all;
}

std::optional<std::string> LoaderCache::find(std::string_view soname, std::int32_t wanted_flags,
                                             const std::vector<std::string>& active_hwcaps,
                                             std::uint64_t legacy_hwcap) const {
  // Entries descend, so the first one not greater than the name is where the name would be.
  std::size_t at = 0;
  for (std::size_t end = count_; at < end;)
    if (const std::size_t middle = at + (end - at) / 2; compare_names(text(slot(middle).soname), soname) > 0)
      at = middle + 1;
    else
      end = middle;
  std::optional<std::string> best;
  std::size_t best_rank = active_hwcaps.size();
  for (; at < count_; ++at) {
    const Slot one = slot(at);
    if (compare_names(text(one.soname), soname) != 0) break;
    // FLAG_ELF (1) is an entry without a known C library; ld.so also takes it (_dl_cache_check_flags).
    if (wanted_flags != 0 && one.flags != wanted_flags && one.flags != 1) continue;
    if ((one.hwcap & hwcap_extension) != 0) {
      const auto known = std::find(active_hwcaps.begin(), active_hwcaps.end(), hwcaps_of(one));
      const auto rank = static_cast<std::size_t>(known - active_hwcaps.begin());
      if (known != active_hwcaps.end() && (!best || rank < best_rank)) {
        best = text(one.path);
        best_rank = rank;
      }
      continue;
    }
    if ((one.hwcap & ~(legacy_hwcap | hwcap_tls)) != 0) continue;
    if (!best) best = text(one.path);
    break;
  }
  return best;
}

}  // namespace enginehost::linker
