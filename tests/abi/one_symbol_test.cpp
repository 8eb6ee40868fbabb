// Every plugin of the tree exports engine_plugin_v1 only, and its descriptor can be read from the file.
#include <enginehost/engine_plugin.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tools/conformance/library_file.hpp"

namespace {

using engineplugin::ElfFile;
using testing::ElementsAre;

// The exports by binutils, independent of our own reader.
std::vector<std::string> nm_exports(const std::string& file) {
  std::vector<std::string> names;
  std::FILE* pipe =
      popen(("nm -D --defined-only '" + file + "' | awk '{print $NF}' | sed 's/@.*//'").c_str(), "r");
  char line[512];
  while (pipe && std::fgets(line, sizeof line, pipe)) {
    line[std::strcspn(line, "\n")] = 0;
    names.emplace_back(line);
  }
  if (pipe) pclose(pipe);
  return names;
}

void expect_one_symbol(const std::string& file) {
  SCOPED_TRACE(file);
  std::string error;
  const auto elf = ElfFile::read(file, error);
  ASSERT_TRUE(elf) << error;
  std::vector<std::string> names;
  for (const auto& symbol : elf->exports()) names.push_back(symbol.name);
  EXPECT_THAT(names, ElementsAre("engine_plugin_v1"));
  EXPECT_THAT(nm_exports(file), ElementsAre("engine_plugin_v1"));
}

TEST(OneSymbol, TheSampleExportsTheDescriptorAndNothingElse) { expect_one_symbol(SAMPLE_PLUGIN); }

TEST(OneSymbol, EveryPluginOfTheTreeExportsTheDescriptorAndNothingElse) {
  std::ifstream list(PLUGIN_LIST);
  ASSERT_TRUE(list.is_open()) << PLUGIN_LIST;
  int plugins = 0;
  for (std::string file; std::getline(list, file);) {
    if (file.empty()) continue;
    plugins++;
    expect_one_symbol(file);
  }
  if (plugins == 0) GTEST_SKIP() << "this configuration builds no engine";
}

TEST(Descriptor, ItsFirst24BytesAreInTheFile) {
  std::string error;
  const auto elf = ElfFile::read(SAMPLE_PLUGIN, error);
  ASSERT_TRUE(elf) << error;
  ASSERT_EQ(elf->exports().size(), 1U);
  const auto bytes = elf->bytes_at(elf->exports().front().address, offsetof(engine_plugin, engine));
  ASSERT_EQ(bytes.size(), 24U);
  EXPECT_EQ(std::memcmp(bytes.data(), ENGINE_PLUGIN_MAGIC, 8), 0);
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data() + offsetof(engine_plugin, size), sizeof size);
  EXPECT_EQ(size, sizeof(engine_plugin));
  EXPECT_EQ(elf->exports().front().size, sizeof(engine_plugin));
}

}  // namespace
