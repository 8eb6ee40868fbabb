// gpu_compare_operations: opens two engines by the public SDK and compares the operations that both have.
// `usage` lists its options.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "tests/gpu/agreement.hpp"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
// An engine that allocates too much gets nothing, as without a sanitizer, and refuses the operation.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace enginehost::gpu {
namespace {

constexpr const char* usage =
    R"(usage: gpu_compare_operations --first ENGINE --second ENGINE [options]

Compares Add, Mul, MatMul, Relu, Conv and Softmax of two engines on many inputs, always the same: the second's also on its
accelerator, where it has one.

  --first-require F, --second-require F   this flavor or none
  --repository R, --installation P, --accept-license ID   as engine-info takes them, for both; may be repeated
  --offline, --no-probe
  --quick         small inputs only
  --seconds N     begin no case after that many seconds, and say how many were left out
  --trace         print each case to stderr before it is run
  --disturb OP    change the second engine's answers of OP by one in a thousand, to see it reported

One line an operation, and one for each disagreement. Exit status: 0 all agree, 1 something does not, 2 usage,
3 an engine cannot be opened.
)";

struct Options {
  sdk::Request first, second;
  bool quick = false, trace = false;
  double seconds = INFINITY;
  std::string disturbed;
};

std::optional<Options> read(int count, char** words) {
  Options out;
  const auto both = [&](auto member, const char* value) {
    (out.first.*member).push_back(value);
    (out.second.*member).push_back(value);
  };
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--offline") {
      out.first.offline = out.second.offline = true;
    } else if (word == "--no-probe") {
      out.first.probe = out.second.probe = false;
    } else if (word == "--quick") {
      out.quick = true;
    } else if (word == "--trace") {
      out.trace = true;
    } else if (i + 1 == count) {
      return std::nullopt;
    } else if (const char* value = words[++i]; word == "--first" || word == "--second") {
      (word == "--first" ? out.first : out.second).engine = value;
    } else if (word == "--first-require" || word == "--second-require") {
      sdk::Request& request = word == "--first-require" ? out.first : out.second;
      request.flavor = value;
      request.require = true;
    } else if (word == "--repository") {
      both(&sdk::Request::repositories, value);
    } else if (word == "--installation") {
      both(&sdk::Request::installations, value);
    } else if (word == "--accept-license") {
      both(&sdk::Request::accepted_licenses, value);
    } else if (word == "--seconds") {
      out.seconds = std::atof(value);
    } else if (word == "--disturb") {
      out.disturbed = value;
    } else {
      return std::nullopt;
    }
  }
  if (out.first.engine.empty() || out.second.engine.empty() || !(out.seconds > 0)) return std::nullopt;
  return out;
}

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Throws sdk::Error.
void print_open_times(const sdk::Request& request) {
  const auto timed = [&](const char* when) {
    const Clock clock;
    sdk::Engine engine = sdk::Engine::open(request);
    std::printf("opening %s %s: %.1f ms\n", engine.build().c_str(), when, clock.seconds() * 1e3);
    return engine;
  };
  { const sdk::Engine first = timed("the first time"); }
  const sdk::Engine second = timed("after it was closed");
  const sdk::Engine third = timed("while it is open");
}

struct Tally {
  std::size_t agree = 0, both_refuse = 0, one_has_not = 0, disagree = 0, spread = 0;
  double error = 0, share = 0;
};

class Comparison {
 public:
  Comparison(const Options& options, ComparedEngine& first, ComparedEngine& second)
      : options_(options), first_(first), second_(second) {}

  // 0 or 1: the exit status.
  int run() {
    const std::vector<Case> cases = all_cases(options_.quick);
    std::size_t done = 0;
    for (; done < cases.size() && clock_.seconds() < options_.seconds && !lost_; ++done)
      run(cases[done], done);
    report();
    if (lost_)
      std::printf("an engine was lost; %zu cases were not run\n", cases.size() - done);
    else if (done < cases.size())
      std::printf("%zu of %zu cases were not run in the time given\n", cases.size() - done, cases.size());
    bool all_agree = true;
    for (const auto& [operation, tally] : tallies_) all_agree = all_agree && tally.disagree == 0;
    return all_agree ? 0 : 1;
  }

 private:
  void run(const Case& one, std::uint64_t number) {
    if (options_.trace)
      std::fprintf(stderr, "%llu: %s\n", static_cast<unsigned long long>(number), one.text().c_str());
    const Inputs inputs(one, number);
    const Outcome expected = first_.run(one.operation, inputs.tensors(), one.attributes, false);
    // Memory of the engine and memory of the caller alternate.
    const bool offer = number % 2 == 0;
    judge(one, number, expected, "host memory",
          second_.run(one.operation, inputs.tensors(), one.attributes, offer));
    if (second_.accelerator().empty() || !inputs.can_move() || lost_) return;
    try {
      run_on_accelerator(one, number, inputs, expected);
    } catch (const sdk::Error& error) {
      note(one, second_.accelerator(),
           {Agreement::disagree, std::string("a copy failed: ") + error.what(), 0, 0, 0});
    }
  }

  // Throws sdk::Error.
  void run_on_accelerator(const Case& one, std::uint64_t number, const Inputs& inputs,
                          const Outcome& expected) {
    std::vector<DeviceTensor> moved;
    std::deque<engine_tensor> seen;
    std::vector<const engine_tensor*> there;
    for (std::size_t i = 0; i < inputs.tensors().size(); ++i) {
      const engine_tensor& here = *inputs.tensors()[i];
      const engine_tensor* row = inputs.row_around(i);
      moved.push_back(second_.on_accelerator(row != nullptr ? *row : here));
      engine_tensor& tensor = seen.emplace_back(*moved.back().get());
      if (row != nullptr) {
        tensor.ndim = here.ndim;
        tensor.shape = here.shape;
        tensor.byte_offset += here.dtype.bits / 8;
      }
      there.push_back(&tensor);
    }
    judge(one, number, expected, second_.accelerator(),
          second_.run(one.operation, there, one.attributes, number % 4 < 2));
    if (there.size() < 2 || number % 8 != 0 || lost_) return;
    there.front() = inputs.tensors().front();
    const Outcome mixed = second_.run(one.operation, there, one.attributes, false);
    if (mixed.status != ENGINE_INVALID && mixed.status != ENGINE_UNSUPPORTED)
      note(one, "host memory and " + second_.accelerator(),
           {Agreement::disagree, "inputs of two places were not refused: " + mixed.text(), 0, 0, 0});
  }

  void judge(const Case& one, std::uint64_t number, const Outcome& expected, const std::string& where,
             Outcome found) {
    if (one.operation == options_.disturbed && !found.values.empty())
      found.values.back() = found.values.back() * 1.001 + 0.001;
    note(one, where, compare(one, expected, found, [&] {
           const Inputs sizes(one, number, true);
           return first_.run(one.operation, sizes.tensors(), one.attributes, false);
         }));
    lost_ = lost_ || expected.status == ENGINE_LOST || found.status == ENGINE_LOST;
  }

  void note(const Case& one, const std::string& where, const Agreement& agreement) {
    Tally& tally = tallies_[one.operation];
    tally.error = std::max(tally.error, agreement.error);
    tally.share = std::max(tally.share, agreement.share);
    tally.spread += agreement.spread;
    if (agreement.kind == Agreement::agree) tally.agree += 1;
    if (agreement.kind == Agreement::both_refuse) tally.both_refuse += 1;
    if (agreement.kind == Agreement::one_has_not) tally.one_has_not += 1;
    if (agreement.kind != Agreement::disagree) {
      if (options_.trace) std::fprintf(stderr, "  %s\n", agreement.text.c_str());
      return;
    }
    tally.disagree += 1;
    std::printf("DISAGREE %s in %s: %s\n", one.text().c_str(), where.c_str(), agreement.text.c_str());
  }

  void report() const {
    for (const auto& [operation, tally] : tallies_) {
      std::printf("%s: %zu agree, %zu refused by both, %zu that one has no code for, %zu disagree; ",
                  operation.c_str(), tally.agree, tally.both_refuse, tally.one_has_not, tally.disagree);
      std::printf("largest error %.2g, %.0f %% of what is allowed\n", tally.error, tally.share * 100);
      if (tally.spread != 0) std::printf("  %zu elements are NaN beside one that is\n", tally.spread);
    }
  }

  const Options& options_;
  ComparedEngine& first_;
  ComparedEngine& second_;
  const Clock clock_;
  std::map<std::string, Tally> tallies_;
  bool lost_ = false;
};

int run(const Options& options) {
  std::unique_ptr<ComparedEngine> first, second;
  try {
    print_open_times(options.second);
    first = std::make_unique<ComparedEngine>(options.first);
    second = std::make_unique<ComparedEngine>(options.second);
  } catch (const std::exception& error) {  // sdk::Error is one; it has the whole diagnosis
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  std::printf("%s against %s%s\n", first->build().c_str(), second->build().c_str(),
              second->accelerator().empty() ? "" : (", also on " + second->accelerator()).c_str());
  return Comparison(options, *first, *second).run();
}

}  // namespace
}  // namespace enginehost::gpu

int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a reader that ends this program has seen every line
  const auto options = enginehost::gpu::read(count, words);
  if (!options) {
    std::fputs(enginehost::gpu::usage, stderr);
    return 2;
  }
  return enginehost::gpu::run(*options);
}
