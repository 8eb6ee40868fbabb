// The floating-point mode of this thread, kept over strangers' code.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#if !defined(__x86_64__)
#include <cfenv>
#endif

namespace enginehost::load {

// How this thread rounds, treats tiny numbers and which exceptions are masked: MXCSR on x86, 0 elsewhere. Its
// low six bits only remember which exceptions there were (Intel SDM volume 1, 10.2.3); any inexact sum sets
// one, so they are left out.
inline std::uint32_t floating_point_mode() {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr() & ~0x3fu;
#else
  return 0;
#endif
}

// The same of the x87 unit, which computes long double: its control word, 0 elsewhere.
inline std::uint16_t x87_mode() {
  std::uint16_t word = 0;
#if defined(__x86_64__)
  __asm__ volatile("fnstcw %0" : "=m"(word));
#endif
  return word;
}

// Such a word as Intel's manuals write it.
inline std::string hexadecimal(std::uint32_t word) {
  char text[16];
  std::snprintf(text, sizeof text, "%04x", word);
  return text;
}

// Puts the mode back when it goes out of scope (a library linked with -ffast-math sets flush-to-zero in a
// constructor). On x86 by hand: fegetenv(3) is in libm, which the helper would have to bring for it alone.
class FloatingPointMode {
 public:
  FloatingPointMode(const FloatingPointMode&) = delete;
  FloatingPointMode& operator=(const FloatingPointMode&) = delete;
#if defined(__x86_64__)
  FloatingPointMode() = default;
  // As floating_point_mode() and x87_mode() were.
  std::uint32_t mode() const { return sse_ & ~0x3fu; }
  std::uint16_t x87() const { return x87_; }
  void restore() const {
    __builtin_ia32_ldmxcsr(sse_);
    __asm__ volatile("fldcw %0" : : "m"(x87_));
  }

 private:
  std::uint32_t sse_ = __builtin_ia32_stmxcsr();
  std::uint16_t x87_ = x87_mode();
#else
  FloatingPointMode() { std::fegetenv(&environment_); }
  std::uint32_t mode() const { return 0; }
  std::uint16_t x87() const { return 0; }
  void restore() const { std::fesetenv(&environment_); }

 private:
  std::fenv_t environment_;
#endif

 public:
  ~FloatingPointMode() { restore(); }
};

}  // namespace enginehost::load
