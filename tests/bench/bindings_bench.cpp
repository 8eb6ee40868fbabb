// Resolving the symbols that a loader binds, compared with the loader, which also writes the results.
#include <dlfcn.h>

#include <fstream>

#include "host/binary/binary.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {
namespace {

namespace fs = std::filesystem;

// A library of that many relocations against a symbol; made once and kept.
fs::path with_relocations(int count) {
  const fs::path folder = workplace("bindings");
  const fs::path file = folder / ("relocations" + std::to_string(count) + ".so");
  if (fs::exists(file)) return file;
  const fs::path source = folder / "source.s";
  std::ofstream(source) << ".data\n.globl target\ntarget: .quad 0\n.rept " << count
                        << "\n.quad target\n.endr\n";
  return run({"cc", "-shared", "-nostdlib", "-o", file.native(), source.native()}) ? file : fs::path();
}

// The largest library of the CUDA toolkits here: cuBLASLt of CUDA 13 has half a gigabyte.
fs::path largest_engine_library() {
  fs::path largest;
  std::uintmax_t size = 0;
  std::error_code error;
  for (const char* folder : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/usr/local/cuda-13.0/lib"})
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.is_regular_file(error) && entry.path().filename().native().find(".so") != std::string::npos &&
          entry.file_size(error) > size) {
        largest = entry.path();
        size = entry.file_size(error);
      }
  return largest;
}

bool open_and_close(const fs::path& file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && ::dlclose(library) == 0;
}

Comparison against_dlopen(const fs::path& file) {
  if (file.empty()) return skipped("no such library here");
  if (!open_and_close(file)) return skipped("it cannot be opened here");
  Comparison comparison;
  comparison.sides = {{"check", timed([=] { return binary::check_bindings(file).has_value(); })},
                      {"dlopen", timed([=] { return open_and_close(file); })}};
  return comparison;
}

}  // namespace

void add_bindings_benchmarks(const Effort& effort) {
  const int count = effort.quick ? 1000 : 1'000'000;
  add_comparison(effort, "bindings/million", 15, [=] { return against_dlopen(with_relocations(count)); });
  if (!effort.quick)
    add_comparison(effort, "bindings/largest", 15, [] { return against_dlopen(largest_engine_library()); });
}

}  // namespace enginehost::bench
