// Add, Mul, Relu and Softmax.
#include "engines/reference/operation.hpp"

namespace enginehost::engines::reference {
namespace {

constexpr size_t chunk =
    size_t{1} << 20;  // elements between two checks of is_cancelled(): about a millisecond
// Results above this many bytes do not stay in the caches; writing past the caches avoids reading them first.
constexpr size_t streaming_threshold = size_t{16} << 20;

using BinaryKernel = void (*)(const float*, const float*, float*, size_t, Operand, bool);
constexpr const char* no_attributes[] = {nullptr};

engine_status in_one_sweep(const OperationCall& call, BinaryKernel kernel, Operand operand, const float* left,
                           const float* right, float* out, size_t count) {
  Progress progress(call.call, "compute", count);
  bool stream = count * sizeof(float) >= streaming_threshold;
  for (size_t first = 0; first < count; first += chunk) {
    size_t size = count - first < chunk ? count - first : chunk;
    kernel(operand == Operand::left_scalar ? left : left + first,
           operand == Operand::right_scalar ? right : right + first, out + first, size, operand, stream);
    if (!progress.advance(size)) return progress.canceled();
  }
  return ENGINE_OK;
}

// Handles any broadcasting. The last axes that both operands have in full, or that one repeats in full, form
// one row for the kernel; an odometer walks the rest.
engine_status by_rows(const OperationCall& call, BinaryKernel kernel, int32_t rank, const int64_t* shape,
                      const engine_tensor& left, const engine_tensor& right, float* out) {
  size_t left_step[maximum_rank], right_step[maximum_rank], index[maximum_rank] = {};
  auto steps = [&](const engine_tensor& tensor, size_t* step) {
    size_t next = 1;
    for (int32_t i = rank - 1; i >= 0; i--) {
      int32_t own = i - (rank - tensor.ndim);
      int64_t size = own < 0 ? 1 : tensor.shape[own];
      step[i] = size == 1 ? 0 : next;
      next *= static_cast<size_t>(size);
    }
  };
  steps(left, left_step);
  steps(right, right_step);
  size_t row = 1;
  int32_t outer = rank;
  int kind = 0;  // 1: the left operand moves in this row, 2: the right one, 3: both
  while (outer > 0) {
    size_t size = static_cast<size_t>(shape[outer - 1]);
    int here = (left_step[outer - 1] != 0 ? 1 : 0) | (right_step[outer - 1] != 0 ? 2 : 0);
    if (size > 1 && kind != 0 && here != kind) break;
    if (size > 1) kind = here;
    row *= size;
    outer--;
  }
  Operand operand = kind == 1   ? Operand::right_scalar
                    : kind == 2 ? Operand::left_scalar
                                : Operand::both_vectors;
  size_t total = element_count(rank, shape), since_look = 0;
  const float* a = data_of<const float>(left);
  const float* b = data_of<const float>(right);
  bool stream = total * sizeof(float) >= streaming_threshold && row >= 256;
  Progress progress(call.call, "compute", total);
  for (size_t done = 0; done < total; done += row) {
    kernel(a, b, out + done, row, operand, stream);
    since_look += row;
    if (since_look >= chunk || done + row == total) {
      if (!progress.advance(since_look)) return progress.canceled();
      since_look = 0;
    }
    for (int32_t i = outer - 1; i >= 0; i--) {
      a += left_step[i];
      b += right_step[i];
      if (++index[i] < static_cast<size_t>(shape[i])) break;
      a -= left_step[i] * index[i];
      b -= right_step[i] * index[i];
      index[i] = 0;
    }
  }
  return ENGINE_OK;
}

engine_status binary(const OperationCall& call, BinaryKernel kernel) {
  if (engine_status status = call.attributes.allow(call.name, no_attributes, call.call)) return status;
  const engine_tensor& left = *call.inputs[0];
  const engine_tensor& right = *call.inputs[1];
  int32_t rank = 0;
  int64_t shape[maximum_rank];
  if (!broadcast(left.ndim, left.shape, right.ndim, right.shape, rank, shape)) {
    Text text;
    text << call.name << " cannot broadcast the shapes ";
    text.shape(left.ndim, left.shape) << " and ";
    text.shape(right.ndim, right.shape) << ": each pair of sizes, from the right, must be equal or have a 1.";
    return refuse(call.call, ENGINE_INVALID, "reference", text);
  }
  float* out = nullptr;
  if (engine_status status = reserve(call, rank, shape, out)) return status;
  size_t count = element_count(rank, shape);
  if (count == 0) return ENGINE_OK;
  size_t left_count = element_count(left.ndim, left.shape),
         right_count = element_count(right.ndim, right.shape);
  if ((left_count == count || left_count == 1) && (right_count == count || right_count == 1)) {
    Operand operand = left_count == right_count ? Operand::both_vectors
                      : left_count == 1         ? Operand::left_scalar
                                                : Operand::right_scalar;
    return in_one_sweep(call, kernel, operand, data_of<const float>(left), data_of<const float>(right), out,
                        count);
  }
  return by_rows(call, kernel, rank, shape, left, right, out);
}

}  // namespace

engine_status add(const OperationCall& call) { return binary(call, call.kernels.add); }
engine_status multiply(const OperationCall& call) { return binary(call, call.kernels.multiply); }

engine_status relu(const OperationCall& call) {
  if (engine_status status = call.attributes.allow(call.name, no_attributes, call.call)) return status;
  const engine_tensor& in = *call.inputs[0];
  float* out = nullptr;
  if (engine_status status = reserve(call, in.ndim, in.shape, out)) return status;
  size_t count = element_count(in.ndim, in.shape);
  Progress progress(call.call, "compute", count);
  const float* data = data_of<const float>(in);
  for (size_t first = 0; first < count; first += chunk) {
    size_t size = count - first < chunk ? count - first : chunk;
    call.kernels.relu(data + first, out + first, size, count * sizeof(float) >= streaming_threshold);
    if (!progress.advance(size)) return progress.canceled();
  }
  return ENGINE_OK;
}

engine_status softmax(const OperationCall& call) {
  static constexpr const char* known[] = {"axis", nullptr};
  if (engine_status status = call.attributes.allow(call.name, known, call.call)) return status;
  const engine_tensor& in = *call.inputs[0];
  int64_t axis = -1;
  if (engine_status status = call.attributes.integer("axis", axis, call.call)) return status;
  if (axis < -in.ndim || axis >= in.ndim) {
    Text text;
    text << "Softmax has the axis " << axis << ", and its input the shape ";
    return refuse(call.call, ENGINE_INVALID, "reference", text.shape(in.ndim, in.shape) << ".");
  }
  int32_t at = static_cast<int32_t>(axis < 0 ? axis + in.ndim : axis);
  float* out = nullptr;
  if (engine_status status = reserve(call, in.ndim, in.shape, out)) return status;
  size_t length = static_cast<size_t>(in.shape[at]);
  size_t inner = element_count(in.ndim - at - 1, in.shape + at + 1), total = element_count(in.ndim, in.shape);
  if (total == 0) return ENGINE_OK;
  // Along an inner axis, one line at a time is gathered, computed and stored back.
  float* line = inner == 1 ? nullptr : static_cast<float*>(std::malloc(length * sizeof *line));
  if (inner != 1 && line == nullptr) {
    return refuse(call.call, ENGINE_NO_MEMORY, "reference",
                  Text{} << "There is no memory for a line of Softmax.");
  }
  const float* data = data_of<const float>(in);
  Progress progress(call.call, "compute", total);
  bool wanted = true;
  size_t since_look = 0;
  for (size_t number = 0; number < total / length && wanted; number++) {
    size_t start = number / inner * inner * length + number % inner;
    if (line == nullptr) {
      call.kernels.softmax(data + start, out + start, length);
    } else {
      for (size_t i = 0; i < length; i++) line[i] = data[start + i * inner];
      call.kernels.softmax(line, line, length);
      for (size_t i = 0; i < length; i++) out[start + i * inner] = line[i];
    }
    since_look += length;
    if (since_look >= chunk / 8 || (number + 1) * length == total) {
      wanted = progress.advance(since_look);
      since_look = 0;
    }
  }
  std::free(line);
  return wanted ? ENGINE_OK : progress.canceled();
}

}  // namespace enginehost::engines::reference
