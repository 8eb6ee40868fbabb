#include "tests/gpu/numbers.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <new>

namespace enginehost::gpu {
namespace {

// Halves and bfloat16 are the upper part of a float32 with `bits` bits of mantissa; a float32 with no more
// bits is the same number.
float rounded(double value, int bits) {
  if (!std::isfinite(value) || value == 0) return static_cast<float>(value);
  int exponent = 0;
  std::frexp(value, &exponent);
  const double unit = std::ldexp(1.0, exponent - 1 - bits);
  return static_cast<float>(std::nearbyint(value / unit) * unit);
}

std::uint16_t half_of(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  const double size = std::fabs(value);
  if (size < 0x1p-14)
    return static_cast<std::uint16_t>(sign | static_cast<int>(std::nearbyint(size * 0x1p24)));
  const float nearest = rounded(size, 10);
  if (nearest > 65504.0F) return sign | 0x7c00;
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  return static_cast<std::uint16_t>(sign | ((bits >> 13) - ((127 - 15) << 10)));
}

double value_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double size = exponent == 0    ? std::ldexp(mantissa, -24)
                : exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                                 : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

template <class T>
void write(double value, void* to) {
  const T element = static_cast<T>(value);
  std::memcpy(to, &element, sizeof element);
}
template <class T>
double read(const void* from) {
  T element;
  std::memcpy(&element, from, sizeof element);
  return static_cast<double>(element);
}

}  // namespace

const std::vector<Type>& types() {
  static const std::vector<Type> all = {
      float32,
      {{ENGINE_FLOAT, 64, 1}, "float64", 0x1p-52, 0x1p-1022},
      {{ENGINE_FLOAT, 16, 1}, "float16", 0x1p-10, 0x1p-14},
      {{ENGINE_BFLOAT, 16, 1}, "bfloat16", 0x1p-7, 0x1p-126},
      {{ENGINE_INT, 8, 1}, "int8", 0, 0},
      {{ENGINE_INT, 32, 1}, "int32", 0, 0},
      {{ENGINE_INT, 64, 1}, "int64", 0, 0},
      {{ENGINE_UINT, 8, 1}, "uint8", 0, 0},
  };
  return all;
}

const Type* type_of(engine_dtype dtype) {
  for (const Type& type : types())
    if (type.dtype.code == dtype.code && type.dtype.bits == dtype.bits && type.dtype.lanes == dtype.lanes)
      return &type;
  return nullptr;
}

void write_element(const Type& type, double value, void* to) {
  if (type.dtype.code == ENGINE_BFLOAT) {
    const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded(value, 7)) >> 16);
    return static_cast<void>(std::memcpy(to, &upper, sizeof upper));
  }
  if (type.dtype.code == ENGINE_FLOAT) {
    if (type.dtype.bits == 64) return write<double>(value, to);
    if (type.dtype.bits == 32) return write<float>(value, to);
    const std::uint16_t half = half_of(value);
    return static_cast<void>(std::memcpy(to, &half, sizeof half));
  }
  if (type.dtype.code == ENGINE_UINT) return write<std::uint8_t>(std::fabs(value), to);
  if (type.dtype.bits == 8) return write<std::int8_t>(value, to);
  return type.dtype.bits == 32 ? write<std::int32_t>(value, to) : write<std::int64_t>(value, to);
}

double read_element(const Type& type, const void* from) {
  if (type.dtype.code == ENGINE_BFLOAT || (type.dtype.code == ENGINE_FLOAT && type.dtype.bits == 16)) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from, sizeof bits);
    if (type.dtype.code == ENGINE_FLOAT) return value_of_half(bits);
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
  }
  if (type.dtype.code == ENGINE_FLOAT) return type.dtype.bits == 64 ? read<double>(from) : read<float>(from);
  if (type.dtype.code == ENGINE_UINT) return read<std::uint8_t>(from);
  if (type.dtype.bits == 8) return read<std::int8_t>(from);
  return type.dtype.bits == 32 ? read<std::int32_t>(from) : read<std::int64_t>(from);
}

std::string text_of(const Shape& shape) {
  std::string out = "[";
  for (const std::int64_t size : shape) out += (out.size() > 1 ? "," : "") + std::to_string(size);
  return out + "]";
}

std::size_t elements_of(const Shape& shape) {
  std::size_t out = 1;
  for (const std::int64_t size : shape)
    if (size <= 0 || __builtin_mul_overflow(out, static_cast<std::size_t>(size), &out) ||
        out > std::size_t{1} << 40)
      return 0;
  return out;
}

constexpr std::align_val_t alignment{64};

void FreeMemory::operator()(std::byte* memory) const { ::operator delete(memory, alignment); }

Memory allocate(std::size_t bytes) {
  return Memory(static_cast<std::byte*>(::operator new(bytes + 64, alignment, std::nothrow)));
}

}  // namespace enginehost::gpu
