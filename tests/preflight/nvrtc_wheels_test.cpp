// The same as opened_by_name_test.cpp, with NVIDIA's published wheels (0.9 GB, by pip) instead of small
// libraries: which of them are opened first, and that NVRTC then compiles a kernel with the builtins of the
// build, which needs no GPU. The machine's own toolkit does not count, although its loader knows it.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <fstream>

#include "tests/engines/fetched.hpp"
#include "tests/preflight/helpers.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::ElementsAre;

struct Wheels {
  const char* cuda;
  std::vector<std::pair<const char*, const char*>> packages;  // of the shipped manifest, and their releases
  const char *folder, *nvrtc, *builtins;                      // of NVRTC
  const char* opened_first;
};

class NvrtcOfWheels : public ::testing::TestWithParam<Wheels> {
 protected:
  // One view of all wheels, as an installation makes it.
  void SetUp() override {
    for (const auto& [package, release] : GetParam().packages) {
      const auto fetched = engines::tests::fetch(package, release, "nvidia/*/lib/*.so*");
      if (fetched.folder.empty()) GTEST_SKIP() << fetched.why_not;
      ASSERT_EQ(faults::shell("cp -rl " + faults::quoted(fetched.folder + "/nvidia") + " " +
                              faults::quoted(workshop_.folder()) + " 2>/dev/null || cp -r " +
                              faults::quoted(fetched.folder + "/nvidia") + " " +
                              faults::quoted(workshop_.folder())),
                0);
    }
  }
  std::string nvrtc_file(const char* name) const {
    return workshop_.path(std::string("nvidia/") + GetParam().folder + "/lib/" + name).native();
  }

  faults::Workshop workshop_;
};

// The size of the PTX of a small kernel, or 0; with nvrtc.h's functions by their documented signatures.
std::size_t compiled(void* nvrtc) {
  using Program = void*;
  const auto create = reinterpret_cast<int (*)(Program*, const char*, const char*, int, void*, void*)>(
      dlsym(nvrtc, "nvrtcCreateProgram"));
  const auto compile =
      reinterpret_cast<int (*)(Program, int, const char* const*)>(dlsym(nvrtc, "nvrtcCompileProgram"));
  const auto size = reinterpret_cast<int (*)(Program, std::size_t*)>(dlsym(nvrtc, "nvrtcGetPTXSize"));
  Program program = nullptr;
  std::size_t bytes = 0;
  const char* kernel = "extern \"C\" __global__ void k(float* a, float b) { a[threadIdx.x] = sinf(b); }";
  if (create(&program, kernel, "k.cu", 0, nullptr, nullptr) != 0 || compile(program, 0, nullptr) != 0)
    return 0;
  return size(program, &bytes) == 0 ? bytes : 0;
}

TEST_P(NvrtcOfWheels, FindsTheLibrariesThatItOpensByName) {
  const std::string cudnn = workshop_.path("nvidia/cudnn/lib").native();
  const auto plugin = workshop_.plugin("libengine_x.so", "-Wl,--no-as-needed -L" + faults::quoted(cudnn) +
                                                             " -l:libcudnn.so.9 -Wl,--allow-shlib-undefined");
  const Report report = check(
      build(workshop_, plugin, {"nvidia/cudnn/lib", std::string("nvidia/") + GetParam().folder + "/lib"}));
  ASSERT_NE(report.verdict, Verdict::fails) << first_code(report);
  EXPECT_THAT(report.load_order, ElementsAre(cudnn + "/libcudnn.so.9", nvrtc_file(GetParam().opened_first)));
  for (const auto& first : report.load_order)
    ASSERT_NE(dlopen(first.c_str(), RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  void* nvrtc = dlopen(nvrtc_file(GetParam().nvrtc).c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(nvrtc, nullptr) << dlerror();
  EXPECT_GT(compiled(nvrtc), 0u);
  bool of_the_build = false;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with(std::string("/") + GetParam().builtins)) {
      of_the_build = true;
      EXPECT_TRUE(line.ends_with(nvrtc_file(GetParam().builtins))) << line;
    }
  EXPECT_TRUE(of_the_build);
}

INSTANTIATE_TEST_SUITE_P(
    Each, NvrtcOfWheels,
    ::testing::Values(Wheels{"Cuda11",
                             {{"nvidia-cudnn-cu11", "9.10.2.21"}, {"nvidia-cuda-nvrtc-cu11", "11.8.89"}},
                             "cuda_nvrtc",
                             "libnvrtc.so.11.2",
                             "libnvrtc-builtins.so.11.8",
                             "libnvrtc.so.11.2"},
                      Wheels{"Cuda13",
                             {{"nvidia-cudnn-cu13", "9.19.0.56"}, {"nvidia-cuda-nvrtc", "13.0.88"}},
                             "cu13",
                             "libnvrtc.so.13",
                             "libnvrtc-builtins.so.13.0",
                             "libnvrtc-builtins.so.13.0"}),
    [](const auto& instance) { return std::string(instance.param.cuda); });

}  // namespace
}  // namespace enginehost::preflight
