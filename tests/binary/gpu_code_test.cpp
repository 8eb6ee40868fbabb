// GPU architectures are read from .nv_fatbin; damage there is reported and never fatal.
#include <algorithm>

#include "host/binary/binary.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::binary {
namespace {

template <class T>
std::string number(T value) {
  std::string bytes(sizeof value, '\0');
  for (std::size_t i = 0; i < sizeof value; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string entry(std::uint16_t kind, std::uint32_t arch, std::size_t payload) {
  std::string head = number<std::uint16_t>(kind) + number<std::uint16_t>(0x101) + number<std::uint32_t>(64) +
                     number<std::uint64_t>(payload) + number<std::uint64_t>(0) + number<std::uint32_t>(0) +
                     number<std::uint32_t>(arch);
  head.resize(64, '\0');
  return head + std::string(payload, 'x');
}

std::string block(const std::string& entries) {
  std::string whole = number<std::uint32_t>(0xBA55ED50) + number<std::uint16_t>(1) +
                      number<std::uint16_t>(16) + number<std::uint64_t>(entries.size()) + entries;
  whole.resize((whole.size() + 7) / 8 * 8, '\0');
  return whole;
}

class GpuSection : public test::Workshop {
 protected:
  GpuCode read(const std::string& section) const {
    const std::string file = write("fat.bin", section).native();
    Result<GpuCode> code =
        gpu_code(library("libgpu.so", "__asm__(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\n.incbin \\\"" +
                                          file + "\\\"\\n.text\");\nint x;\n"));
    EXPECT_TRUE(code.has_value());
    return code ? *code : GpuCode{};
  }
  static std::string text(const GpuCode& code) {
    std::string all;
    for (const GpuCode::Entry& one : code.entries)
      all += one.kind + " " + one.arch + " x" + std::to_string(one.count) + "; ";
    return all;
  }
};

TEST_F(GpuSection, KindsArchitecturesAndCountsAreListed) {
  const GpuCode code =
      read(block(entry(2, 86, 40) + entry(2, 90, 8) + entry(1, 120, 24)) + block(entry(2, 86, 16)));
  EXPECT_EQ(text(code), "sass 8.6 x2; sass 9.0 x1; ptx 12.0 x1; ");
  EXPECT_EQ(code.note, "");
}

TEST_F(GpuSection, ADamagedBlockIsNotedAndWhatCameBeforeIsKept) {
  std::string broken = entry(2, 90, 8);
  broken[8] = '\x7f';  // claims a payload longer than its block
  const GpuCode code = read(block(entry(2, 80, 8)) + block(broken));
  EXPECT_EQ(text(code), "sass 8.0 x1; ");
  EXPECT_NE(code.note, "");
}

TEST_F(GpuSection, ALibraryWithoutGPUCodeHasAnEmptyList) {
  Result<GpuCode> code = gpu_code(library("plain.so", "int x;\n"));
  ASSERT_TRUE(code.has_value());
  EXPECT_TRUE(code->entries.empty());
  EXPECT_EQ(code->note, "");
}

TEST_F(GpuSection, TheShippedCuBLASIsUnderstoodToItsEnd) {
  const std::filesystem::path file = "/usr/local/cuda/lib64/libcublas.so.13";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no CUDA toolkit here";
  Result<GpuCode> code = gpu_code(file);
  ASSERT_TRUE(code.has_value());
  EXPECT_EQ(code->note, "");
  EXPECT_TRUE(std::any_of(code->entries.begin(), code->entries.end(), [](const auto& one) {
    return one.kind == "sass" && one.arch == "9.0" && one.count > 10;
  }));
}

}  // namespace
}  // namespace enginehost::binary
