#include "tests/open/open_engines_fixture.hpp"

namespace enginehost::open {
namespace {

// Libraries that the build made; their names decide which of them a process holds.
std::string bytes_of(const std::string& name) {
  return test::read_text(path_of(std::string(ENGINEHOST_NUMBERS) + "/" + name));
}

}  // namespace

const char* const intels_openmp = "libiomp5md.dll";
const char* const llvms_openmp = "libomp140.x86_64.dll";
const char* const runtime_of_cuda_11 = "cudart64_110.dll";
const char* const runtime_of_cuda_13 = "cudart64_13.dll";

std::string library_named(const std::string& name) { return name + ".dll"; }

test::TestBuild bringing(const std::string& id, const std::string& library, int number) {
  test::TestBuild build;
  build.id = id;
  build.flavor = id;
  build.files = {{build.plugin, bytes_of("needs_" + library)},
                 {library, bytes_of(std::to_string(number) + "/" + library)}};
  return build;
}

}  // namespace enginehost::open
