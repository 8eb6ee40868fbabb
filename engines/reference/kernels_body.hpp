// The text of all kernels. kernels_*.cpp include it once each, after defining how wide a vector is; each is
// compiled with other instruction set flags. Everything but the table has internal linkage: were it inline
// with external linkage, the linker would keep one copy, perhaps the one this processor cannot run.
#include <cstdint>

#include "engines/reference/kernels.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#ifdef __clang__
#define ENGINEHOST_UNROLL _Pragma("unroll")
#else
#define ENGINEHOST_UNROLL _Pragma("GCC unroll 32")
#endif

namespace enginehost::engines::reference {
namespace {

// GCC's vector extension, which clang has too: the compiler picks the instructions.
typedef float Vector __attribute__((vector_size(ENGINEHOST_LANES * 4)));
typedef float LooseVector __attribute__((vector_size(ENGINEHOST_LANES * 4), aligned(4), may_alias));
constexpr size_t lanes = ENGINEHOST_LANES;
constexpr size_t tile_rows = ENGINEHOST_TILE_ROWS;
constexpr size_t tile_vectors = 2;

inline const LooseVector& loose(const float* at) {
  return *static_cast<const LooseVector*>(static_cast<const void*>(at));
}
inline LooseVector& loose(float* at) { return *static_cast<LooseVector*>(static_cast<void*>(at)); }

inline void stream_vector(float* at, Vector value) {
#if !defined(__x86_64__)
  loose(at) = value;
#elif ENGINEHOST_LANES == 16
  _mm512_stream_ps(at, value);
#elif ENGINEHOST_LANES == 8
  _mm256_stream_ps(at, value);
#else
  _mm_stream_ps(at, value);
#endif
}
inline void end_streaming() {
#ifdef __x86_64__
  _mm_sfence();  // later readers on other threads must see what bypassed the caches
#endif
}

void tile(size_t depth, const float* left, const float* right, float* out, size_t stride, bool add_to) {
  Vector sums[tile_rows][tile_vectors] = {};
  for (size_t step = 0; step < depth; step++) {
    Vector columns[tile_vectors];
    ENGINEHOST_UNROLL
    for (size_t v = 0; v < tile_vectors; v++) columns[v] = loose(right + v * lanes);
    ENGINEHOST_UNROLL
    for (size_t row = 0; row < tile_rows; row++) {
      ENGINEHOST_UNROLL
      for (size_t v = 0; v < tile_vectors; v++) sums[row][v] += left[row] * columns[v];
    }
    left += tile_rows;
    right += tile_vectors * lanes;
  }
  ENGINEHOST_UNROLL
  for (size_t row = 0; row < tile_rows; row++) {
    ENGINEHOST_UNROLL
    for (size_t v = 0; v < tile_vectors; v++) {
      LooseVector& place = loose(out + row * stride + v * lanes);
      place = add_to ? Vector(place + sums[row][v]) : sums[row][v];
    }
  }
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};

// Runs `one` over single elements until `out` is aligned, then `many` over vectors, then `one` again.
template <class One, class Many>
inline void sweep(float* out, size_t count, bool stream, One one, Many many) {
  size_t i = 0;
  if (stream) {
    while (i < count && reinterpret_cast<uintptr_t>(out + i) % (lanes * 4) != 0) {
      out[i] = one(i);
      i++;
    }
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      stream_vector(out + i, many(i));
      stream_vector(out + i + lanes, many(i + lanes));
    }
    end_streaming();
  } else {
    for (; i + lanes <= count; i += lanes) loose(out + i) = many(i);
  }
  for (; i < count; i++) out[i] = one(i);
}

template <class Operation>
void binary(const float* left, const float* right, float* out, size_t count, Operand operand, bool stream) {
  Operation f;
  switch (operand) {
    case Operand::both_vectors:
      sweep(
          out, count, stream, [=](size_t i) { return f(left[i], right[i]); },
          [=](size_t i) { return f(Vector(loose(left + i)), Vector(loose(right + i))); });
      break;
    case Operand::left_scalar: {
      float scalar = *left;
      Vector spread = Vector{} + scalar;
      sweep(
          out, count, stream, [=](size_t i) { return f(scalar, right[i]); },
          [=](size_t i) { return f(spread, Vector(loose(right + i))); });
      break;
    }
    case Operand::right_scalar: {
      float scalar = *right;
      Vector spread = Vector{} + scalar;
      sweep(
          out, count, stream, [=](size_t i) { return f(left[i], scalar); },
          [=](size_t i) { return f(Vector(loose(left + i)), spread); });
      break;
    }
  }
}

// Written so that a NaN stays a NaN.
void relu(const float* in, float* out, size_t count, bool stream) {
  sweep(
      out, count, stream, [=](size_t i) { return in[i] < 0 ? 0.0f : in[i]; },
      [=](size_t i) {
        Vector value = loose(in + i);
        return value < 0.0f ? Vector{} : value;
      });
}

// e to the x for x <= 0, within 2 units in the last place: 2^n * e^r with |r| <= ln(2)/2 and Taylor's series
// for e^r. Written without branches and calls, so that the loop below becomes vector code; libm would be one
// more dependency.
inline float exponential(float x) {
  float bounded = x < -87.0f ? -87.0f : x;
  float shifted =
      bounded * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the sum's low bits are the rounded integer
  float n = shifted - 12582912.0f;
  float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;  // ln(2) in two parts, the first exact
  float series = 1.0f / 720;
  series = series * r + 1.0f / 120;
  series = series * r + 1.0f / 24;
  series = series * r + 1.0f / 6;
  series = series * r + 0.5f;
  series = series * r + 1.0f;
  series = series * r + 1.0f;
  int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
  float power = __builtin_bit_cast(float, bits);
  return x < -87.0f ? 0.0f : series * power;
}

void softmax(const float* in, float* out, size_t count) {
  float largest = in[0];
  for (size_t i = 1; i < count; i++) largest = in[i] > largest ? in[i] : largest;
  for (size_t i = 0; i < count; i++) out[i] = exponential(in[i] - largest);
  double sum = 0;
  bool unordered = false;
  for (size_t i = 0; i < count; i++) {
    sum += static_cast<double>(out[i]);
    unordered = unordered || in[i] != in[i];
  }
  float factor = unordered ? __builtin_nanf("") : static_cast<float>(1 / sum);
  for (size_t i = 0; i < count; i++) out[i] *= factor;
}

}  // namespace

constexpr Kernels ENGINEHOST_KERNELS = {ENGINEHOST_KERNELS_NAME,
                                        tile_rows,
                                        tile_vectors* lanes,
                                        tile,
                                        binary<Add>,
                                        binary<Multiply>,
                                        relu,
                                        softmax};
static_assert(tile_rows * tile_vectors * lanes <= largest_tile);

}  // namespace enginehost::engines::reference
