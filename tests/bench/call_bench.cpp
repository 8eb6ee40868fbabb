// A call through the plugin interface compared with the same function linked in.
#include "tests/bench/compare.hpp"
#include "tests/bench/engine_use.hpp"

namespace enginehost::bench {
namespace {

// The operands of both sides.
struct Addition {
  explicit Addition(std::int64_t count)
      : left({count}), right({count}), sum({count}), results(sum.tensor()) {}
  Floats left, right, sum;
  ReusedResult results;
  const engine_tensor* inputs[2] = {&left.tensor(), &right.tensor()};
  LinkedEngine linked;
  BareCall bare;
  std::unique_ptr<load::Engine> engine = load_reference_engine();
};

Comparison small_add(std::int64_t count, int times) {
  auto work = std::make_shared<Addition>(count);
  if (!work->engine || work->engine->op_table() == nullptr)
    return skipped("the reference engine does not load");
  if (!run_operation(*work->engine, "Add", work->inputs, 2, work->results)) return skipped("Add fails");
  Comparison comparison;
  comparison.sides = {
      {"abi",
       timed_each(times, [=] { run_operation(*work->engine, "Add", work->inputs, 2, work->results); })},
      {"direct", timed_each(times,
                            [=] {
                              engines::reference::operation_table.run(&work->linked.instance, "Add",
                                                                      work->inputs, 2, nullptr, 0,
                                                                      &work->results, &work->bare);
                            })},
      {"kernel", timed_each(times, [=] {
         work->linked.instance.kernels->add(work->left.data(), work->right.data(), work->sum.data(),
                                            work->sum.count(), engines::reference::Operand::both_vectors,
                                            false);
         benchmark::ClobberMemory();
       })}};
  return comparison;
}

}  // namespace

void add_call_benchmarks(const Effort& effort) {
  const int times = effort.quick ? 10 : 2000;
  add_comparison(effort, "call/add_16", 25, [=] { return small_add(16, times); });
  add_comparison(effort, "call/add_4096", 25, [=] { return small_add(4096, times); });
}

}  // namespace enginehost::bench
