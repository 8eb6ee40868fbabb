// The floating-point mode of this thread, kept over strangers' constructors.
#pragma once
#include <cfenv>
#include <cstdint>

namespace enginehost::load {

// How this thread rounds and treats tiny numbers: MXCSR on x86, 0 elsewhere.
inline std::uint32_t floating_point_mode() {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr();
#else
  return 0;
#endif
}

// Puts the mode back when it goes out of scope (a library linked with -ffast-math sets flush-to-zero in a
// constructor).
class FloatingPointMode {
 public:
  FloatingPointMode() { std::fegetenv(&environment_); }
  FloatingPointMode(const FloatingPointMode&) = delete;
  FloatingPointMode& operator=(const FloatingPointMode&) = delete;
  ~FloatingPointMode() { std::fesetenv(&environment_); }

 private:
  std::fenv_t environment_;
};

}  // namespace enginehost::load
