#include "tests/bench/workplace.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <system_error>

namespace enginehost::bench {
namespace {

namespace fs = std::filesystem;

bool write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  return stream.good();
}

// Three children, and two further libraries for the breadth of real closures; only higher numbers.
std::vector<int> needs_of(int number, int count) {
  std::vector<int> needs;
  for (const int next : {3 * number + 1, 3 * number + 2, 3 * number + 3, number + 7, number + 20})
    if (next < count && std::find(needs.begin(), needs.end(), next) == needs.end()) needs.push_back(next);
  return needs;
}

bool make_library(const fs::path& folder, int number, int count) {
  const std::string name = "tree" + std::to_string(number);
  std::string source = "#include <stdio.h>\n", sum = "puts(\"\")";
  std::vector<std::string> command = {"gcc",
                                      "-shared",
                                      "-fPIC",
                                      "-O1",
                                      "-o",
                                      (folder / (name + ".so")).native(),
                                      (folder / "source.c").native(),
                                      "-L" + folder.native(),
                                      "-Wl,--version-script=" + (folder / "versions.map").native(),
                                      "-Wl,-rpath,$ORIGIN",
                                      "-Wl,--enable-new-dtags",
                                      "-Wl,-soname," + name + ".so"};
  for (const int need : needs_of(number, count)) {
    const std::string function = "tree" + std::to_string(need);
    source += "int " + function + "(void);\n";
    sum += " + " + function + "()";
    command.push_back("-l:tree" + std::to_string(need) + ".so");
  }
  source += "int " + name + "(void) { return " + sum + "; }\n";
  return write_text(folder / "source.c", source) &&
         write_text(folder / "versions.map",
                    "TREE_" + std::to_string(number % 7) + " { global: tree*; local: *; };\n") &&
         run(command);
}

}  // namespace

fs::path workplace(const std::string& name) {
  const fs::path folder = fs::path(test::build_path()) / "bench" / name;
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  return folder;
}

fs::path empty_workplace(const std::string& name) {
  std::error_code ignored;
  fs::remove_all(fs::path(test::build_path()) / "bench" / name, ignored);
  return workplace(name);
}

bool run(const std::vector<std::string>& command, std::string* output,
         const std::vector<std::string>& environment) {
  ChildRequest request;
  request.argv = command;
  request.environment = environment;
  request.deadline = std::chrono::minutes(5);
  request.keep_bytes = output != nullptr ? 16u << 20 : 64u << 10;
  request.discard_output = output == nullptr;
  auto outcome = run_child(request);
  if (!outcome || !outcome->succeeded()) return false;
  if (output != nullptr) *output = std::move(outcome->output);
  return true;
}

bool has_program(const std::string& name) { return run({"sh", "-c", "command -v " + name}); }

fs::path built(const std::string& path) { return fs::path(test::build_path()) / path; }

fs::path library_tree(int count) {
  const fs::path folder = workplace("tree-of-" + std::to_string(count)), done = folder / "complete";
  if (!fs::exists(done)) {
    for (int number = count - 1; number >= 0; --number)
      if (!make_library(folder, number, count)) return {};
    if (!write_text(done, "")) return {};
  }
  return folder / "tree0.so";
}

std::vector<fs::path> system_libraries(std::uintmax_t bytes) {
  std::vector<std::pair<std::uintmax_t, fs::path>> found;
  std::error_code ignored;
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"})
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
      if (!entry.is_symlink(ignored) && entry.is_regular_file(ignored) &&
          entry.path().filename().native().find(".so") != std::string::npos)
        found.emplace_back(entry.file_size(ignored), entry.path());
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> taken;
  std::uintmax_t together = 0;
  for (const auto& [size, path] : found) {
    if (together >= bytes) break;
    // A single library beyond the total size would make the archive differ from machine to machine.
    if (size > bytes) continue;
    taken.push_back(path);
    together += size;
  }
  return taken;
}

}  // namespace enginehost::bench
