// Its constructor throws an exception that nobody catches.
#include <stdexcept>

namespace {
struct Thrower {
  Thrower() { throw std::runtime_error("no GPU here"); }
} thrower;
}  // namespace

extern "C" __declspec(dllexport) int throws() { return 1; }
