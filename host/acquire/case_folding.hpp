// Letters of file names.
#pragma once

namespace enginehost::acquire {

// The one letter that stands for all that differ from this one in case only.
char32_t without_case(char32_t point);

}  // namespace enginehost::acquire
