// The CUDA engine's file for Linux: what it needs of the machine.
#include "base/version.hpp"
#include "host/binary/binary.hpp"
#include "tests/engines/elf_names.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string plugin = ENGINEHOST_CUDA_ENGINE;

TEST(CudaFile, NeedsTheRuntimeLibrariesAndNoDriverOrLocalPath) {
  const ElfNames names = read_elf_names(plugin);
  EXPECT_THAT(names.exported, ElementsAre(ENGINE_PLUGIN_SYMBOL));
  for (const char* library : {"libcudart.so.", "libcublasLt.so.", "libcudnn.so.9"})
    EXPECT_THAT(names.needed, Contains(StartsWith(library)));
  EXPECT_THAT(names.needed, testing::Not(Contains(StartsWith("libcuda.so"))));
  // The loader finds them where NVIDIA's wheels put them in the view; LD_LIBRARY_PATH still comes first.
  const std::string dynamic = output_of("readelf -dW '" + plugin + "'");
  EXPECT_THAT(dynamic, HasSubstr("runpath: [$ORIGIN/nvidia/"));
  EXPECT_THAT(dynamic, HasSubstr(":$ORIGIN/nvidia/cudnn/lib]"));
  EXPECT_THAT(dynamic, testing::Not(testing::AnyOf(HasSubstr("[/"), HasSubstr(":/"))));
}

#ifndef ENGINEHOST_SANITIZED
// Ubuntu 20.04 has glibc 2.31 and GCC 9's libstdc++, and the oldest drivers that CUDA 11.8 runs on.
TEST(CudaFile, NeedsNothingNewerThanUbuntu2004Has) {
  const auto info = binary::read_binary(plugin);
  ASSERT_TRUE(info.has_value());
  int seen = 0;
  for (const auto& need : info->version_needs)
    for (const auto& [family, newest] :
         {std::pair{"GLIBC_", "2.31"}, std::pair{"GLIBCXX_", "3.4.28"}, std::pair{"CXXABI_", "1.3.12"}})
      if (need.version.starts_with(family)) {
        ++seen;
        EXPECT_TRUE(compare_versions(need.version.substr(std::string(family).size()), newest) <= 0)
            << need.version << " of " << need.library;
      }
  EXPECT_GT(seen, 3);
}
#endif

}  // namespace
}  // namespace enginehost::engines::tests
