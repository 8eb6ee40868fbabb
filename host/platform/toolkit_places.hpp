// Where CUDA's toolkits and cuDNN lie on this system, and what their libraries are called.
#pragma once
#include <string>
#include <vector>

#include "host/platform/root.hpp"
#include "host/platform/variables.hpp"

namespace enginehost::platform {

struct ToolkitPlace {
  std::string folder;
  std::string source;
  bool named =
      false;  // by a variable, a compiler in PATH, an installer's entry: an empty one is worth a note
};

// Folders that may be a toolkit, those that somebody chose first; some do not exist, some come twice.
std::vector<ToolkitPlace> toolkit_places(const Root& root);
// What toolkit_places() looks at, for the fact that says "absent".
std::string toolkit_places_text();
// Below a toolkit, where its libraries are: "/lib64".
const char* toolkit_library_folder();

// CUDA_HOME, CUDA_PATH and the like that name an absolute folder.
std::vector<ToolkitPlace> toolkits_of_variables(const Variables& variables);

struct RuntimeName {
  std::string version, file;  // "11.0", "libcudart.so.11.0"
};
// The CUDA runtimes that a loader may find without a toolkit, newest first.
std::vector<RuntimeName> runtime_names();
// "libcudart.so.* the loader would find"
std::string runtimes_text();

// "libcudnn.so.9" for "9".
std::string cudnn_file(const std::string& major);
// Where a toolkit may hold it.
std::vector<std::string> cudnn_folders();
// What the name of a cuDNN library tells: "8.9.7" or "9".
std::string version_in_cudnn_name(const std::string& path);
// Where the header of a cuDNN outside of toolkits would be.
std::string cudnn_header_folder(const std::string& library);

}  // namespace enginehost::platform
