#include "engines/reference/kernels.hpp"

#include <cstring>

namespace enginehost::engines::reference {

const Kernels* choose_kernels(const char* name) {
  const Kernels* usable[3] = {};
  size_t count = 0;
#ifdef __x86_64__
  __builtin_cpu_init();  // reads CPUID and, through XGETBV, whether the system saves the wide registers
  if (__builtin_cpu_supports("avx512f")) usable[count++] = &avx512_kernels;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) usable[count++] = &avx2_kernels;
#endif
  usable[count++] = &baseline_kernels;
  if (name == nullptr) return usable[0];
  for (size_t i = 0; i < count; i++) {
    if (std::strcmp(usable[i]->name, name) == 0) return usable[i];
  }
  return nullptr;
}

}  // namespace enginehost::engines::reference
