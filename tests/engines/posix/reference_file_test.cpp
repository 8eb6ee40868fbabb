// The reference engine's file.
#include "tests/engines/elf_names.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

TEST(ReferenceFile, NeedsLibcAndNothingElse) {
#ifdef ENGINEHOST_SANITIZED
  GTEST_SKIP() << "skipped: a sanitizer adds libraries of its own";
#endif
  ElfNames names = read_elf_names(plugin_path("reference"));
  EXPECT_THAT(names.needed, testing::ElementsAre("libc.so.6"));
}

TEST(ReferenceFile, ExportsOneSymbol) {
  EXPECT_THAT(read_elf_names(plugin_path("reference")).exported, testing::ElementsAre(ENGINE_PLUGIN_SYMBOL));
}

}  // namespace
}  // namespace enginehost::engines::tests
