// Case folding of file names.
#pragma once

namespace enginehost::acquire {

// Returns the same letter for all letters that differ only in case.
char32_t without_case(char32_t point);

}  // namespace enginehost::acquire
