// The reader of exports reads other people's files: whatever the bytes are, it returns and does not read
// outside of them.
#include "tools/conformance/library_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace {

namespace fs = std::filesystem;
using engineplugin::ElfFile;

class ElfExports : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream stream(SAMPLE_PLUGIN, std::ios::binary);
    content_.assign(std::istreambuf_iterator<char>(stream), {});
    ASSERT_GT(content_.size(), 1000U);
    file_ = fs::temp_directory_path() / ("elf_exports_" + std::to_string(std::random_device{}()));
  }
  void TearDown() override { fs::remove(file_); }

  // Reads `bytes` as a file, and the bytes of every export as the checks do.
  std::optional<ElfFile> read(const std::string& bytes) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
    error_.clear();
    auto elf = ElfFile::read(file_, error_);
    if (elf) {
      for (const auto& symbol : elf->exports()) sum_ += elf->bytes_at(symbol.address, 24).size();
    }
    return elf;
  }

  std::string content_, error_;
  std::size_t sum_ = 0;
  fs::path file_;
};

TEST_F(ElfExports, AFileThatIsCutIsReadOrRefusedWithAReason) {
  for (std::size_t length = 0; length < content_.size(); length += 97) {
    if (!read(content_.substr(0, length))) {
      EXPECT_FALSE(error_.empty()) << length;
    }
  }
}

TEST_F(ElfExports, AFileWithWrongBytesIsReadOrRefusedWithAReason) {
  std::mt19937 random(20261120);
  for (int round = 0; round < 2000; round++) {
    std::string bytes = content_;
    // Headers are where offsets and counts are; one to four wrong bytes there, or in the section headers at
    // the end.
    for (int i = 0; i < 1 + round % 4; i++) {
      const std::size_t near = random() % 1024;
      const std::size_t at = round % 2 ? near % bytes.size() : bytes.size() - 1 - near;
      bytes[at] = static_cast<char>(random());
    }
    if (!read(bytes)) {
      EXPECT_FALSE(error_.empty()) << round;
    }
  }
  EXPECT_GT(sum_, 0U) << "some rounds leave the descriptor readable";
}

TEST_F(ElfExports, OtherFilesAreRefused) {
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("#!/bin/sh\n"));
  EXPECT_EQ(error_, "this is not a 64-bit little-endian ELF shared library");
  EXPECT_FALSE(ElfFile::read("/nonexistent/plugin.so", error_));
  EXPECT_EQ(error_, "the file cannot be opened");
}

TEST_F(ElfExports, RefusesAddressesOutsideTheFile) {
  const auto elf = read(content_);
  ASSERT_TRUE(elf);
  EXPECT_TRUE(elf->bytes_at(~0ULL, 24).empty());
  EXPECT_TRUE(elf->bytes_at(0, content_.size() + 1).empty());
}

}  // namespace
