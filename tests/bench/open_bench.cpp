// Opening an installed, proven build compared with the loader alone, each in a new process.
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/bench/child_time.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/prepared.hpp"

namespace enginehost::bench {
namespace {

// A decision is kept only for files at rest. Those of an earlier run depend on other files.
void open_until_settled(const Turn& open, const std::filesystem::path& cache) {
  std::error_code error;
  std::filesystem::remove_all(cache / "state/decisions", error);
  for (int tries = 0; tries < 20; ++tries) {
    const bool none = std::filesystem::is_empty(cache / "state/decisions", error);
    if (!error && !none) return;
    static_cast<void>(open());
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

Comparison compare_opens(std::optional<Prepared> (*prepare)(std::string& why)) {
  std::string why;
  const auto prepared = prepare(why);
  if (!prepared) return skipped(why);
  const auto with = [](const std::string& mode, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), mode);
    return child_time(std::move(arguments));
  };
  const std::vector<std::string> request = {prepared->cache, prepared->repository, prepared->engine};
  const Turn open = with("open", request);
  open_until_settled(open, prepared->cache);
  Comparison comparison;
  comparison.sides = {{"open", open},
                      {"look", with("look", {prepared->cache})},
                      {"dlopen", with("dlopen", prepared->everything)},
                      {"create", with("create", prepared->libraries)},
                      {"again", with("again", request)}};
  return comparison;
}

}  // namespace

void add_open_benchmarks(const Effort& effort) {
  add_comparison(effort, "open/reference", 25, [] { return compare_opens(prepare_reference); });
  add_comparison(effort, "open/onnxruntime", 15, [] { return compare_opens(prepare_onnxruntime); });
}

}  // namespace enginehost::bench
