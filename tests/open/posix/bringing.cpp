#include "tests/end-to-end/fault.hpp"
#include "tests/open/neighbours.hpp"

namespace enginehost::open {

std::string library_named(const std::string& name) { return "lib" + name + ".so.1"; }

test::TestBuild bringing(const std::string& id, const std::string& library, int number, int priority) {
  test::TestBuild build = test::with_library(
      library, test::compile_library("int number(void) { return " + std::to_string(number) + "; }\n",
                                     {"-Wl,-soname," + library}));
  build.id = id;
  build.flavor = id;
  build.priority = priority;
  return build;
}

}  // namespace enginehost::open
