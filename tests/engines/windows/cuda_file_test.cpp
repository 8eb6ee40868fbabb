// The CUDA engine's file for Windows.
#include <gmock/gmock.h>

#include "base/text.hpp"
#include "host/binary/binary.hpp"
#include "tests/engines/plugin_host.hpp"
#include "tests/engines/windows/import_libraries.hpp"

namespace enginehost::engines::tests {
namespace {

// The driver's nvcuda.dll is not among them, so the engine also opens without a driver, with the reason.
TEST(CudaFile, NeedsTheRuntimeLibrariesAndWindowsItself) {
  const auto info = binary::read_binary(plugin_path("cuda"));
  ASSERT_TRUE(info);
  std::vector<std::string> needed;
  for (const std::string& name : info->needed) needed.push_back(to_lower(name));
  EXPECT_THAT(needed, testing::UnorderedElementsAre("cudart64_13.dll", "cublaslt64_13.dll", "cudnn64_9.dll",
                                                    "kernel32.dll", "msvcrt.dll"));
}

TEST(CudaFile, ImportsTheNamesOfItsImportLibrariesAndExportsOne) {
  const auto table = binary::read_symbols(plugin_path("cuda"));
  ASSERT_TRUE(table);
  std::map<std::string, std::set<std::string>> imports;
  for (const binary::Symbol& symbol : table->imports) imports[symbol.library].insert(symbol.name);
  const auto libraries = import_libraries();
  EXPECT_EQ(libraries.size(), 3u);
  for (const auto& [library, names] : libraries) EXPECT_EQ(imports[library], names) << library;
  ASSERT_EQ(table->exports.size(), 1u);
  EXPECT_EQ(table->exports[0].name, ENGINE_PLUGIN_SYMBOL);
}

}  // namespace
}  // namespace enginehost::engines::tests
