#include "engines/reference/gemm.hpp"

#include "engines/support/system.hpp"

namespace enginehost::engines::reference {
namespace {

// After Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): a sliver of the
// right operand (depth_block x kernel columns) stays in L1, a block of the left one (row_block x depth_block)
// in L2, a panel of the right one (depth_block x column_block) in L3.
constexpr size_t depth_block = 256;
constexpr size_t row_block = 192;  // a multiple of every kernel's rows: 4, 6, 12
constexpr size_t column_block = 2048;

size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
size_t rounded_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

// Packs slivers of `width` rows, each stored step by step; missing rows are zeros.
void pack_left(const float* from, size_t stride, size_t rows, size_t depth, size_t width, float* to) {
  for (size_t first = 0; first < rows; first += width) {
    size_t here = smaller(width, rows - first);
    for (size_t row = 0; row < width; row++) {
      const float* source = from + (first + row) * stride;
      for (size_t step = 0; step < depth; step++) to[step * width + row] = row < here ? source[step] : 0.0f;
    }
    to += depth * width;
  }
}

void pack_right(const float* from, size_t stride, size_t depth, size_t columns, size_t width, float* to) {
  for (size_t first = 0; first < columns; first += width) {
    size_t here = smaller(width, columns - first);
    for (size_t step = 0; step < depth; step++) {
      const float* source = from + step * stride + first;
      std::memcpy(to, source, here * sizeof *to);
      for (size_t column = here; column < width; column++) to[column] = 0.0f;
      to += width;
    }
  }
}

void multiply_block(const Kernels& kernels, size_t rows, size_t columns, size_t depth, const float* left,
                    const float* right, float* out, size_t stride, bool add_to) {
  alignas(64) float edge[largest_tile];
  for (size_t column = 0; column < columns; column += kernels.columns) {
    const float* sliver = right + column * depth;
    size_t width = smaller(kernels.columns, columns - column);
    for (size_t row = 0; row < rows; row += kernels.rows) {
      size_t height = smaller(kernels.rows, rows - row);
      float* place = out + row * stride + column;
      if (height == kernels.rows && width == kernels.columns) {
        kernels.tile(depth, left + row * depth, sliver, place, stride, add_to);
        continue;
      }
      kernels.tile(depth, left + row * depth, sliver, edge, kernels.columns, false);
      for (size_t i = 0; i < height; i++) {
        for (size_t j = 0; j < width; j++) {
          float value = edge[i * kernels.columns + j];
          place[i * stride + j] = add_to ? place[i * stride + j] + value : value;
        }
      }
    }
  }
}

}  // namespace

engine_status gemm(const Kernels& kernels, size_t rows, size_t columns, size_t depth, Matrix left,
                   Matrix right, float* out, size_t out_stride, Progress& progress) {
  if (rows == 0 || columns == 0) return ENGINE_OK;
  if (depth == 0) {
    for (size_t row = 0; row < rows; row++) std::memset(out + row * out_stride, 0, columns * sizeof *out);
    return progress.advance(gemm_work(rows, columns, depth)) ? ENGINE_OK : progress.canceled();
  }
  size_t deepest = smaller(depth, depth_block);
  size_t left_size = rounded_up(smaller(rows, row_block), kernels.rows) * deepest;
  size_t right_size = rounded_up(smaller(columns, column_block), kernels.columns) * deepest;
  size_t left_room = rounded_up(left_size, 16);
  auto* scratch =
      static_cast<float*>(allocate_aligned(rounded_up((left_room + right_size) * sizeof(float), 64)));
  if (scratch == nullptr) {
    return refuse(progress.call(), ENGINE_NO_MEMORY, "reference",
                  Text{} << "There is no memory to pack the operands of a matrix product.");
  }
  float* packed_left = scratch;
  float* packed_right = scratch + left_room;
  bool wanted = true;
  for (size_t column = 0; column < columns && wanted; column += column_block) {
    size_t width = smaller(column_block, columns - column);
    for (size_t step = 0; step < depth && wanted; step += depth_block) {
      size_t steps = smaller(depth_block, depth - step);
      pack_right(right.data + step * right.stride + column, right.stride, steps, width, kernels.columns,
                 packed_right);
      for (size_t row = 0; row < rows && wanted; row += row_block) {
        size_t height = smaller(row_block, rows - row);
        pack_left(left.data + row * left.stride + step, left.stride, height, steps, kernels.rows,
                  packed_left);
        multiply_block(kernels, height, width, steps, packed_left, packed_right,
                       out + row * out_stride + column, out_stride, step > 0);
        wanted = progress.advance(gemm_work(height, width, steps));
      }
    }
  }
  free_aligned(scratch);
  return wanted ? ENGINE_OK : progress.canceled();
}

}  // namespace enginehost::engines::reference
