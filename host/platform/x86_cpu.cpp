#include <algorithm>
#include <initializer_list>

#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

enum Register {
  leaf1_ecx,
  leaf1_edx,
  leaf7_ebx,
  leaf7_ecx,
  leaf7_edx,
  leaf7_1_eax,
  extended1_ecx,
  register_count
};

// The processor state that the system must save for a feature to be usable (bits of XCR0).
constexpr std::uint64_t nothing = 0;
constexpr std::uint64_t ymm = 0x6;        // SSE and AVX
constexpr std::uint64_t zmm = 0xe6;       // and opmask, the upper halves, the upper sixteen
constexpr std::uint64_t tiles = 0x60000;  // TILECFG and TILEDATA

struct Feature {
  const char* name;
  Register where;
  int bit;
  std::uint64_t state;
};

// Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E. Names of Linux,
// arch/x86/include/asm/cpufeatures.h.
constexpr Feature features[] = {
    {"sse", leaf1_edx, 25, nothing},
    {"sse2", leaf1_edx, 26, nothing},
    {"pni", leaf1_ecx, 0, nothing},
    {"sse3", leaf1_ecx, 0, nothing},
    {"pclmulqdq", leaf1_ecx, 1, nothing},
    {"ssse3", leaf1_ecx, 9, nothing},
    {"fma", leaf1_ecx, 12, ymm},
    {"cx16", leaf1_ecx, 13, nothing},
    {"sse4_1", leaf1_ecx, 19, nothing},
    {"sse4_2", leaf1_ecx, 20, nothing},
    {"movbe", leaf1_ecx, 22, nothing},
    {"popcnt", leaf1_ecx, 23, nothing},
    {"aes", leaf1_ecx, 25, nothing},
    {"avx", leaf1_ecx, 28, ymm},
    {"f16c", leaf1_ecx, 29, ymm},
    {"rdrand", leaf1_ecx, 30, nothing},
    {"hypervisor", leaf1_ecx, 31, nothing},  // a virtual machine
    {"bmi1", leaf7_ebx, 3, nothing},
    {"avx2", leaf7_ebx, 5, ymm},
    {"bmi2", leaf7_ebx, 8, nothing},
    {"avx512f", leaf7_ebx, 16, zmm},
    {"avx512dq", leaf7_ebx, 17, zmm},
    {"adx", leaf7_ebx, 19, nothing},
    {"avx512ifma", leaf7_ebx, 21, zmm},
    {"avx512cd", leaf7_ebx, 28, zmm},
    {"sha_ni", leaf7_ebx, 29, nothing},
    {"avx512bw", leaf7_ebx, 30, zmm},
    {"avx512vl", leaf7_ebx, 31, zmm},
    {"avx512vbmi", leaf7_ecx, 1, zmm},
    {"avx512_vbmi2", leaf7_ecx, 6, zmm},
    {"gfni", leaf7_ecx, 8, nothing},
    {"vaes", leaf7_ecx, 9, ymm},
    {"vpclmulqdq", leaf7_ecx, 10, ymm},
    {"avx512_vnni", leaf7_ecx, 11, zmm},
    {"avx512_bitalg", leaf7_ecx, 12, zmm},
    {"avx512_vpopcntdq", leaf7_ecx, 14, zmm},
    {"avx512_vp2intersect", leaf7_edx, 8, zmm},
    {"amx_bf16", leaf7_edx, 22, tiles},
    {"avx512_fp16", leaf7_edx, 23, zmm},
    {"amx_tile", leaf7_edx, 24, tiles},
    {"amx_int8", leaf7_edx, 25, tiles},
    {"avx_vnni", leaf7_1_eax, 4, ymm},
    {"avx512_bf16", leaf7_1_eax, 5, zmm},
    {"amx_fp16", leaf7_1_eax, 21, tiles},
    {"avx_ifma", leaf7_1_eax, 23, ymm},
    {"lahf_lm", extended1_ecx, 0, nothing},
    {"abm", extended1_ecx, 5, nothing},
    {"lzcnt", extended1_ecx, 5, nothing},
    {"sse4a", extended1_ecx, 6, nothing},
    {"xop", extended1_ecx, 11, ymm},
    {"fma4", extended1_ecx, 16, ymm},
};

bool has_all(const std::vector<std::string>& sorted, std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(), [&](const char* name) {
    return std::binary_search(sorted.begin(), sorted.end(), name);
  });
}

// System V psABI for x86-64, table 3.1 "Micro-Architecture Levels". OSXSAVE is in v3 and follows from the
// saved state.
std::string level_of(const std::vector<std::string>& sorted) {
  if (!has_all(sorted, {"cx16", "lahf_lm", "popcnt", "sse3", "sse4_1", "sse4_2", "ssse3"}))
    return "x86-64-v1";
  if (!has_all(sorted, {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"})) return "x86-64-v2";
  if (!has_all(sorted, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) return "x86-64-v3";
  return "x86-64-v4";
}

}  // namespace

Cpu x86_cpu(const Cpuid& answers) {
  const std::uint32_t registers[register_count] = {
      answers.leaf1.ecx, answers.leaf1.edx,   answers.leaf7.ebx,    answers.leaf7.ecx,
      answers.leaf7.edx, answers.leaf7_1.eax, answers.extended1.ecx};
  Cpu cpu;
  for (const Feature& feature : features)
    if ((registers[feature.where] >> feature.bit & 1u) != 0 &&
        (answers.xcr0 & feature.state) == feature.state)
      cpu.features.emplace_back(feature.name);
  std::sort(cpu.features.begin(), cpu.features.end());
  cpu.level = level_of(cpu.features);
  return cpu;
}

}  // namespace enginehost::platform
