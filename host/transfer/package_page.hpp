// A project's page of a package index: the "simple" API, as JSON (PEP 691) or HTML (PEP 503).
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::transfer {

// The largest page found on a public index has 21 MB and 46,724 files; the page of torch has 0.4 MB and 987.
constexpr std::uint64_t largest_page = 64u << 20;  // bytes
constexpr std::size_t most_listed = 200'000;       // files

struct Listed {
  std::string url, sha256;  // as on the page; the URL may be relative
  std::optional<std::uint64_t> size;
};

// A file of a page, with all that the page says about it.
struct ListedFile : Listed {
  std::string file;                   // its name
  std::string uploaded;               // "2026-11-20T00:00:00.123456Z"; "" if the page does not say
  std::optional<std::string> yanked;  // the reason, which may be ""
};

// Passes each file of the page to `take`, in order, and keeps nothing of it. Files before a mistake were
// passed on already. Errors: as find_in_page(). Any thread.
Result<void> list_page(std::string_view page, const std::function<void(ListedFile)>& take);

// Returns the first file with exactly that name; nothing if the page does not list it or is no such page.
// Keeps nothing else of the page, so the memory in use does not grow with it. Error: EH-N13 ("problem",
// "position") for a page with more files, or JSON that is damaged or beyond the limits of read_json_array().
// Any thread.
Result<std::optional<Listed>> find_in_page(std::string_view page, std::string_view file);

// Returns true for a page that is meant for a person (for example, a network's sign-in page) and names no
// package.
bool is_for_a_person(const std::string& page);

}  // namespace enginehost::transfer
