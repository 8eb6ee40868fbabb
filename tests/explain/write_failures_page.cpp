// Prints docs/failures.md; the target docs_failures writes the file.
#include <cstdio>

#include "tests/explain/failures_page.hpp"
#include "tests/support/paths.hpp"

int main() {
  using namespace enginehost::explain;
  std::fputs(failures_page(tests_of_classes(enginehost::test::source_path("/tests"))).c_str(), stdout);
  return std::ferror(stdout) != 0 ? 1 : 0;
}
