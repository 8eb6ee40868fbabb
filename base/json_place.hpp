// Where a member stands in the text of a JSON document.
#pragma once
#include <cstddef>
#include <string_view>

#include "base/diagnosis.hpp"

namespace enginehost {

struct TextPlace {
  std::size_t line = 1, column = 1;
};

// Returns line and column of a byte. Any thread.
TextPlace place_of_byte(std::string_view text, std::size_t byte);

// Returns the place that the EH-M01 of parse_json() is about: the last byte that was read.
TextPlace place_of_mistake(std::string_view text, const Diagnosis& mistake);

// Returns the place of the member's name, or of the element: "tracks[0].rows[1].layout". `text` is a document
// that parse_json() accepts. For a member that is missing it is the place of the value that should hold it.
TextPlace place_of_member(std::string_view text, std::string_view member);

}  // namespace enginehost
