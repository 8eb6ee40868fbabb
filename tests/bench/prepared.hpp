// An engine that is installed, probed and proven, in its own cache.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace enginehost::bench {

struct Prepared {
  std::string cache, repository, engine;
  std::filesystem::path view;
  std::vector<std::string> libraries;   // the plugin, then what is opened before it
  std::vector<std::string> everything;  // the plugin, then every other library of the build
};

// Opens the engine once, so that everything is installed. On failure returns nothing, and `why` names the
// missing part.
std::optional<Prepared> prepare_reference(std::string& why);
// ENGINEHOST_BENCH_ONNXRUNTIME names its libonnxruntime.so.
std::optional<Prepared> prepare_onnxruntime(std::string& why);

}  // namespace enginehost::bench
