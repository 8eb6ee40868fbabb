#pragma once
#include <string>
#include <vector>

namespace enginehost::engines::onnxruntime {

// Finds the runtime's library below the folder `root`. Returns absolute paths, the likeliest first: wheels
// have it in onnxruntime/capi, release archives in lib, others anywhere up to four folders deep. Symbolic
// links to a file that was found already are left out.
std::vector<std::string> find_libraries(const std::string& root);

}  // namespace enginehost::engines::onnxruntime
