// The reference engine's use of the processor: memory's speed for Add, arithmetic's for MatMul.
#include <dlfcn.h>

#include <algorithm>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "tests/bench/compare.hpp"
#include "tests/bench/engine_use.hpp"

namespace enginehost::bench {
namespace {

// The floor of an addition: read two arrays, write the third past the caches, on one thread.
#ifdef __x86_64__
__attribute__((target("avx"))) void stream_add(const float* left, const float* right, float* out,
                                               std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_stream_ps(out + i, _mm256_add_ps(_mm256_load_ps(left + i), _mm256_load_ps(right + i)));
  for (; i < count; ++i) out[i] = left[i] + right[i];
  _mm_sfence();
}
bool can_stream() { return __builtin_cpu_supports("avx") != 0; }
#else
void stream_add(const float* left, const float* right, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = left[i] + right[i];
}
bool can_stream() { return true; }
#endif

struct Operands {
  explicit Operands(std::vector<std::int64_t> shape)
      : left(shape), right(shape), out(shape), results(out.tensor()) {}
  Floats left, right, out;
  ReusedResult results;
  const engine_tensor* inputs[2] = {&left.tensor(), &right.tensor()};
  std::unique_ptr<load::Engine> engine = load_reference_engine();
};

Comparison large_add(std::int64_t count) {
  if (!can_stream()) return skipped("the processor has no AVX for the floor");
  auto work = std::make_shared<Operands>(std::vector<std::int64_t>{count});
  if (!work->engine) return skipped("the reference engine does not load");
  Comparison comparison;
  comparison.sides = {
      {"engine", timed([=] { return run_operation(*work->engine, "Add", work->inputs, 2, work->results); })},
      {"stream", timed([=] {
         stream_add(work->left.data(), work->right.data(), work->out.data(), work->out.count());
         benchmark::ClobberMemory();
         return true;
       })}};
  return comparison;
}

using Sgemm = void (*)(int order, int transpose_left, int transpose_right, int rows, int columns, int depth,
                       float alpha, const float* left, int left_stride, const float* right, int right_stride,
                       float beta, float* out, int out_stride);

// OpenBLAS where it is installed (or where ENGINEHOST_BENCH_OPENBLAS names it), set to one thread.
Sgemm open_blas() {
  const char* named = std::getenv("ENGINEHOST_BENCH_OPENBLAS");
  void* library = ::dlopen(named != nullptr ? named : "libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  const auto threads = reinterpret_cast<void (*)(int)>(::dlsym(library, "openblas_set_num_threads"));
  if (threads != nullptr) threads(1);
  return reinterpret_cast<Sgemm>(::dlsym(library, "cblas_sgemm"));
}

Comparison matrix_product(int size) {
  const Sgemm sgemm = open_blas();
  if (sgemm == nullptr) return skipped("libopenblas.so.0 is not installed");
  auto work = std::make_shared<Operands>(std::vector<std::int64_t>{size, size});
  if (!work->engine) return skipped("the reference engine does not load");
  Comparison comparison;
  comparison.sides = {{"engine", timed([=] {
                         return run_operation(*work->engine, "MatMul", work->inputs, 2, work->results);
                       })},
                      {"openblas", timed([=] {
                         constexpr int row_major = 101, as_it_is = 111;
                         sgemm(row_major, as_it_is, as_it_is, size, size, size, 1, work->left.data(), size,
                               work->right.data(), size, 0, work->out.data(), size);
                         return true;
                       })}};
  return comparison;
}

}  // namespace

void add_operation_benchmarks(const Effort& effort) {
  add_comparison(effort, "reference/add_99000000", 7,
                 [=] { return large_add(effort.quick ? 10'000 : 99'000'000); });
  add_comparison(effort, "reference/matmul_2048", 5,
                 [=] { return matrix_product(effort.quick ? 64 : 2048); });
}

}  // namespace enginehost::bench
