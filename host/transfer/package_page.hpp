// A project's page of a package index: the "simple" API, as JSON (PEP 691) or HTML (PEP 503).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace enginehost::transfer {

struct Listed {
  std::string url, sha256;  // as on the page; the URL may be relative
  std::optional<std::uint64_t> size;
};

// Returns the file with exactly that name; nothing if the page does not list it or is no such page.
std::optional<Listed> find_in_page(const std::string& page, std::string_view file);

// Returns true for a page that is meant for a person (for example, a network's sign-in page) and names no
// package.
bool is_for_a_person(const std::string& page);

}  // namespace enginehost::transfer
