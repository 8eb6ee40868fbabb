// The closure of a library compared with ldd, which lets the loader build it, and with libtree, which reads
// the files.
#include <algorithm>

#include "host/linker/linker.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {
namespace {

namespace fs = std::filesystem;

linker::Closure closure_of(const fs::path& file, bool versions, linker::Reader& reader,
                           const linker::Machine& machine) {
  linker::Request request;
  request.file = file;
  request.check_versions = versions;
  return linker::close(machine, request, reader);
}

// A new process would describe the machine and read every file again, and so does each turn.
bool close_afresh(const fs::path& file, bool versions) {
  const linker::Machine machine = linker::describe_this_machine();
  linker::Reader reader;
  const linker::Closure closure = closure_of(file, versions, reader, machine);
  benchmark::DoNotOptimize(closure.objects.data());
  return closure.loads();
}

// ldd also lists the kernel's virtual library and the loader; only "name => path" lines are compared.
bool agrees_with_ldd(const fs::path& file) {
  std::string listed;
  if (!run({"ldd", file.native()}, &listed)) return false;
  const linker::Machine machine = linker::describe_this_machine();
  linker::Reader reader;
  const linker::Closure closure = closure_of(file, false, reader, machine);
  for (std::size_t at = 0, end; (end = listed.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = listed.substr(at, end - at);
    const std::size_t arrow = line.find(" => ");
    if (arrow == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t");
    const linker::Object* object = closure.find(line.substr(begin, arrow - begin));
    const std::string path = line.substr(arrow + 4, line.find(" (", arrow) - arrow - 4);
    std::error_code ignored;
    if (object == nullptr || !fs::equivalent(object->path, path, ignored)) return false;
  }
  return closure.loads();
}

Comparison against_ldd(const fs::path& file, bool versions) {
  if (!has_program("ldd")) return skipped("no ldd");
  if (file.empty() || !fs::exists(file)) return skipped("no library to look at");
  if (!agrees_with_ldd(file)) return skipped("the closure differs from that of ldd");
  Comparison comparison;
  std::vector<std::string> command = {"ldd", file.native()};
  if (versions) command.insert(command.begin() + 1, "-v");
  comparison.sides = {{"closure", timed([=] { return close_afresh(file, versions); })},
                      {"ldd", timed([=] { return run(command); })}};
  return comparison;
}

// libtree (Debian's package) reads the files itself. With -vv it omits none and visits each once.
Comparison against_libtree(const fs::path& file) {
  if (!has_program("libtree")) return skipped("no libtree");
  if (!agrees_with_ldd(file)) return skipped("the closure differs from that of ldd");
  Comparison comparison;
  comparison.sides = {{"closure", timed([=] { return close_afresh(file, false); })},
                      {"libtree", timed([=] {
                         return run({"libtree", "-vv", file.native()});
                       })}};
  return comparison;
}

// A library of the C++ runtime, the C library and a few more, as most engines without a GPU are.
fs::path small_library() {
  for (const char* name : {"libxml2.so.2", "libpython3.11.so.1.0", "libssl.so.3", "libstdc++.so.6"})
    for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"})
      if (fs::exists(fs::path(folder) / name)) return fs::path(folder) / name;
  return {};
}

}  // namespace

void add_closure_benchmarks(const Effort& effort) {
  const int count = effort.quick ? 6 : 285;
  add_comparison(effort, "closure/285", 15, [=] { return against_ldd(library_tree(count), false); });
  add_comparison(effort, "closure/285_libtree", 15, [=] { return against_libtree(library_tree(count)); });
  add_comparison(effort, "closure/285_versions", 15, [=] { return against_ldd(library_tree(count), true); });
  add_comparison(effort, "closure/small", 25, [] { return against_ldd(small_library(), false); });
}

}  // namespace enginehost::bench
