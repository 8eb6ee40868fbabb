#pragma once
#include <string>
#include <vector>

namespace enginehost::engines::onnxruntime {

// The runtime's library below the folder `root`, as absolute paths, the likeliest first: wheels have it in
// onnxruntime/capi, release archives in lib, others anywhere down to four folders deep. Symbolic links that
// repeat a file found are left out.
std::vector<std::string> find_libraries(const std::string& root);

}  // namespace enginehost::engines::onnxruntime
