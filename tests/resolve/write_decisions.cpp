// Prints tests/resolve/decisions.txt; the target decisions_table writes the file.
#include <cstdio>

#include "tests/resolve/shipped.hpp"

int main() {
  std::fputs(enginehost::resolve::decisions_table().c_str(), stdout);
  return std::ferror(stdout) != 0 ? 1 : 0;
}
