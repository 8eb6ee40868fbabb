#include "engines/onnxruntime/placement.hpp"

#include <fstream>

#include "engines/onnxruntime/system.hpp"

namespace enginehost::engines::onnxruntime {

std::unique_ptr<Placement> Placement::begin(const Runtime& runtime, OrtSessionOptions* options) {
  const std::filesystem::path folder = make_private_folder();
  if (folder.empty()) return nullptr;
  std::unique_ptr<Placement> placement(new Placement(folder));
  runtime.check(api::enable_profiling(runtime.table(), options, (folder / "profile").c_str()),
                ENGINE_INTERNAL);
  return placement;
}

Placement::~Placement() {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

std::map<std::string, int> Placement::end(const Runtime& runtime, OrtSession* session) {
  char* name = nullptr;
  if (runtime.failure(api::end_profiling(runtime.table(), session, runtime.allocator(), &name),
                      ENGINE_INTERNAL) != nullptr)
    return {};
  const std::string file = runtime.take(name);
  std::map<std::string, int> nodes = nodes_of_profile(file);
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
  return nodes;
}

std::map<std::string, int> nodes_of_profile(const std::string& file) {
  const std::string key = "\"provider\" : \"";
  std::map<std::string, int> nodes;
  std::ifstream lines{std::filesystem::path(path_for_runtime(file))};
  for (std::string line; std::getline(lines, line);) {
    // "fence" events of older releases name the node too; only the kernel event is the computation.
    if (line.rfind("{\"cat\" : \"Node\"", 0) != 0 || line.find("_kernel_time\"") == std::string::npos)
      continue;
    const size_t at = line.rfind(key);
    if (at == std::string::npos) continue;
    const size_t begin = at + key.size();
    nodes[line.substr(begin, line.find('"', begin) - begin)]++;
  }
  return nodes;
}

}  // namespace enginehost::engines::onnxruntime
