// The CUDA engine beside NVIDIA's published DLLs, in the folder that cuda_folder.py made.
#include <gmock/gmock.h>

#include "base/paths.hpp"
#include "tests/engines/plugin_host.hpp"
#include "tests/engines/windows/import_libraries.hpp"

namespace enginehost::engines::tests {
namespace {

const std::string beside_dlls = ENGINEHOST_CUDA_ENGINE;

class CudaFolder : public testing::Environment {
  void SetUp() override {
    if (!std::filesystem::exists(path_of(beside_dlls))) GTEST_SKIP() << "There is no " << beside_dlls;
  }
};
const auto* const cuda_folder = testing::AddGlobalTestEnvironment(new CudaFolder);

TEST(CudaLibraries, ExportEveryNameOfTheImportLibraries) {
  for (const auto& [name, functions] : import_libraries()) {
    void* const library = open_library(path_text(path_of(beside_dlls).parent_path() / name));
    ASSERT_NE(library, nullptr) << name << ": " << why_not_opened();
    for (const std::string& function : functions)
      EXPECT_NE(symbol_of(library, function.c_str()), nullptr) << name << " lacks " << function;
  }
}

TEST(CudaLibraries, ReportTheMissingDriver) {
  if (::LoadLibraryExW(L"nvcuda.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32) != nullptr)
    GTEST_SKIP() << "this machine has an NVIDIA driver";
  const Library library(beside_dlls);
  const Engine engine(library, testing::TempDir());
  const std::string reason = engine.fact("no_device");
  EXPECT_EQ(reason, "There is no NVIDIA driver for CUDA " + engine.fact("cuda") +
                        ": cudaGetDeviceCount failed: cudaError (801)");
  Floats a({2}, {1, 2});
  Results results;
  Call call;
  EXPECT_EQ(engine.run("Add", {&a.tensor, &a.tensor}, results, call), ENGINE_UNAVAILABLE);
  EXPECT_EQ(call.message(), reason);
}

}  // namespace
}  // namespace enginehost::engines::tests
