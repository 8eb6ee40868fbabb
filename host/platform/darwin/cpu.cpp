#include "host/platform/cpu.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "host/platform/darwin/kernel_values.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

#if defined(__x86_64__)

Cpu ask_processor() { return x86_cpu(cpuid_of_this_processor()); }

#else

// Apple's names ("Determining instruction set characteristics") and Linux's names for the same features.
Cpu ask_processor() {
  struct Feature {
    const char *name, *apple;
  };
  static constexpr Feature features[] = {
      {"aes", "hw.optional.arm.FEAT_AES"},       {"pmull", "hw.optional.arm.FEAT_PMULL"},
      {"sha1", "hw.optional.arm.FEAT_SHA1"},     {"sha2", "hw.optional.arm.FEAT_SHA256"},
      {"sha512", "hw.optional.arm.FEAT_SHA512"}, {"crc32", "hw.optional.armv8_crc32"},
      {"atomics", "hw.optional.arm.FEAT_LSE"},   {"asimdhp", "hw.optional.arm.FEAT_FP16"},
      {"fphp", "hw.optional.arm.FEAT_FP16"},     {"asimdrdm", "hw.optional.arm.FEAT_RDM"},
      {"lrcpc", "hw.optional.arm.FEAT_LRCPC"},   {"asimddp", "hw.optional.arm.FEAT_DotProd"},
      {"i8mm", "hw.optional.arm.FEAT_I8MM"},     {"bf16", "hw.optional.arm.FEAT_BF16"},
      {"sme", "hw.optional.arm.FEAT_SME"}};
  Cpu cpu;
  cpu.features = {"fp", "asimd"};  // every Apple arm64 processor has them
  for (const Feature& feature : features)
    if (kernel::number(feature.apple).value_or(0) != 0) cpu.features.emplace_back(feature.name);
  std::sort(cpu.features.begin(), cpu.features.end());
  return cpu;
}

#endif

}  // namespace

Fact<Cpu> detect_cpu() {
  static const Cpu& processor = *new Cpu(ask_processor());
  Cpu cpu = processor;
  cpu.model = trim(kernel::text("machdep.cpu.brand_string"));
  cpu.cores = static_cast<int>(kernel::number("hw.activecpu").value_or(0));
  return Fact<Cpu>::known(std::move(cpu), "sysctl");
}

}  // namespace enginehost::platform
