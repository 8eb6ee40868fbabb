// Guards the process state that a plugin's constructors and its create() must leave unchanged.
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>
#if !defined(__x86_64__)
#include <cfenv>
#endif

#include "base/diagnosis.hpp"

namespace enginehost::load {

// Returns MXCSR on x86 (rounding, treatment of denormals, masked exceptions), 0 elsewhere. Its low six bits
// are cleared: they only record which exceptions occurred (Intel SDM volume 1, 10.2.3), and any inexact sum
// sets one.
inline std::uint32_t floating_point_mode() {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr() & ~0x3fu;
#else
  return 0;
#endif
}

// Returns the control word of the x87 unit, which computes long double; 0 elsewhere.
inline std::uint16_t x87_mode() {
  std::uint16_t word = 0;
#if defined(__x86_64__)
  __asm__ volatile("fnstcw %0" : "=m"(word));
#endif
  return word;
}

// Formats such a word as Intel's manuals do.
inline std::string hexadecimal(std::uint32_t word) {
  char text[16];
  std::snprintf(text, sizeof text, "%04x", word);
  return text;
}

// Restores the mode when it goes out of scope; a library linked with -ffast-math sets flush-to-zero in a
// constructor. On x86 it uses instructions instead of fegetenv(3), which would add libm to the probe.
class FloatingPointMode {
 public:
  FloatingPointMode(const FloatingPointMode&) = delete;
  FloatingPointMode& operator=(const FloatingPointMode&) = delete;
#if defined(__x86_64__)
  FloatingPointMode() = default;
  // The saved values, as from floating_point_mode() and x87_mode().
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

// Saves and restores state around such a call: the floating-point mode of this thread, its blocked signals,
// and the files of descriptors 0 to 2. Create and destroy it on the calling thread. If the call forked and
// the child returns, the child exits here, because it would continue as a second program.
class ProcessStateGuard {
 public:
  ProcessStateGuard();
  ProcessStateGuard(const ProcessStateGuard&) = delete;
  ProcessStateGuard& operator=(const ProcessStateGuard&) = delete;
  ~ProcessStateGuard();

  // Call once, after the plugin's call has returned. Restores what was changed and reports it: EH-R08 or
  // EH-R09 with "before" and "after". The texts are the same in every process of the same build.
  std::vector<Diagnosis> restore();

 private:
  struct OfSystem;  // state that only some systems have
  void restore_system(std::vector<Diagnosis>& reported);
  std::unique_ptr<OfSystem> of_system_;
  FloatingPointMode floating_point_;
};

}  // namespace enginehost::load
