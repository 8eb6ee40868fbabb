#include "base/failures.hpp"

#include <algorithm>
#include <span>

namespace enginehost {
namespace {

using namespace failure_names;

std::span<const OfCode> codes() { return {of_codes, number_of_codes}; }
std::span<const OfKey> keys() { return {of_keys, number_of_keys}; }

}  // namespace

std::string_view text_of(Code code) { return codes()[static_cast<std::size_t>(code)].text; }

Code code_named(std::string_view text) {
  const auto found = std::ranges::find(codes(), text, &OfCode::text);
  return found != codes().end() ? static_cast<Code>(found - codes().begin()) : Code::unknown;
}

Area area_of(Code code) { return codes()[static_cast<std::size_t>(code)].area; }

std::string_view text_of(Key key) { return keys()[static_cast<std::size_t>(key)].text; }

std::optional<Key> key_named(std::string_view text) {
  const auto known = keys().first(number_of_keys - 1);  // without Key::unlisted
  const auto found = std::ranges::lower_bound(known, text, {}, &OfKey::text);
  if (found == known.end() || found->text != text) return std::nullopt;
  return static_cast<Key>(found - known.begin());
}

bool is_shown(Key key) { return keys()[static_cast<std::size_t>(key)].shown; }

}  // namespace enginehost
