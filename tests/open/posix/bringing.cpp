#include "tests/end-to-end/fault.hpp"
#include "tests/open/open_engines_fixture.hpp"

namespace enginehost::open {

const char* const intels_openmp = "libiomp5.so";
const char* const llvms_openmp = "libomp.so.5";
const char* const runtime_of_cuda_11 = "libcudart.so.11.0";
const char* const runtime_of_cuda_13 = "libcudart.so.13";

std::string library_named(const std::string& name) { return "lib" + name + ".so.1"; }

test::TestBuild bringing(const std::string& id, const std::string& library, int number) {
  test::TestBuild build = test::with_library(
      library, test::compile_library("int number(void) { return " + std::to_string(number) + "; }\n",
                                     {"-Wl,-soname," + library}));
  build.id = id;
  build.flavor = id;
  return build;
}

}  // namespace enginehost::open
