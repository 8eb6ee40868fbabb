// The reference engine's file.
#include <gmock/gmock.h>

#include "base/text.hpp"
#include "host/binary/binary.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

TEST(ReferenceFile, NeedsWindowsItselfAndNothingElse) {
  const auto info = binary::read_binary(plugin_path("reference"));
  ASSERT_TRUE(info);
  EXPECT_EQ(info->machine, "x86_64");
  std::vector<std::string> needed;
  for (const std::string& name : info->needed) needed.push_back(to_lower(name));
  EXPECT_THAT(needed, testing::UnorderedElementsAre("kernel32.dll", "msvcrt.dll"));
}

TEST(ReferenceFile, ExportsOneSymbol) {
  const auto table = binary::read_symbols(plugin_path("reference"));
  ASSERT_TRUE(table);
  std::vector<std::string> names;
  for (const binary::Symbol& symbol : table->exports) names.push_back(symbol.name);
  EXPECT_THAT(names, testing::ElementsAre(ENGINE_PLUGIN_SYMBOL));
}

}  // namespace
}  // namespace enginehost::engines::tests
