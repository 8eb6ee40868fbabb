// Elements of the types that engines compute with, written from and read to double.
#pragma once
#include <enginehost/engine_plugin.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace enginehost::gpu {

using Shape = std::vector<std::int64_t>;

struct Type {
  engine_dtype dtype;
  const char* name;
  // Between 1 and the next larger number; 0: whole numbers.
  double epsilon;
  // The smallest normal number: below it engines may lose all bits of a sum of products.
  double smallest;
};
inline constexpr Type float32 = {{ENGINE_FLOAT, 32, 1}, "float32", 0x1p-23, 0x1p-126};
// float32 first, then every other tested type.
const std::vector<Type>& types();
// nullptr: none of types().
const Type* type_of(engine_dtype dtype);

// The nearest element to `value`.
void write_element(const Type& type, double value, void* to);
double read_element(const Type& type, const void* from);

std::string text_of(const Shape& shape);
// The number of elements. Negative sizes and products that do not fit into memory count as 0.
std::size_t elements_of(const Shape& shape);

struct FreeMemory {
  void operator()(std::byte* memory) const;
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;
// Memory aligned to 64 bytes, as the plugin interface requires of an allocation; nullptr: there is none.
Memory allocate(std::size_t bytes);

}  // namespace enginehost::gpu
