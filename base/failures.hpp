// Failure classes and facts by name. The classes themselves are in failures/*.toml.
//
// Thread safety: any thread; the data is static.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "failures/names.hpp"

namespace enginehost {

// Returns "EH-L01"; an empty text for Code::none.
std::string_view text_of(Code code);
// Returns Code::none for an empty text, and Code::unknown for one that is no code of this EngineHost.
Code code_named(std::string_view text);
// Returns Area::none for Code::none and Code::unknown.
Area area_of(Code code);

// Returns "needed_by"; an empty text for Key::unlisted.
std::string_view text_of(Key key);
std::optional<Key> key_named(std::string_view text);
// Returns whether a fact has a row of its own on a screen.
bool is_shown(Key key);

// The tables that failures/generate.py writes.
namespace failure_names {
struct OfCode {
  std::string_view text;
  Area area;
};
struct OfKey {
  std::string_view text;
  bool shown;
};
extern const OfCode of_codes[];
extern const std::size_t number_of_codes;
extern const OfKey of_keys[];
extern const std::size_t number_of_keys;
}  // namespace failure_names

}  // namespace enginehost
