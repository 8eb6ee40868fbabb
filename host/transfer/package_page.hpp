// A project's page of a package index: the "simple" API, as JSON (PEP 691) or HTML (PEP 503).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace enginehost::transfer {

struct Listed {
  std::string url, sha256;  // as the page says them; the URL may be relative
  std::optional<std::uint64_t> size;
};

// The file of that very name; nothing when the page does not list it or is no such page.
std::optional<Listed> find_in_page(const std::string& page, std::string_view file);

// True for a page that is meant for a person (a network's sign-in page, say) and names no package.
bool is_for_a_person(const std::string& page);

}  // namespace enginehost::transfer
