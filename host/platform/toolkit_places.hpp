// The folders of CUDA toolkits and cuDNN on this system, and the names of their libraries.
#pragma once
#include <string>
#include <vector>

#include "host/platform/platform.hpp"
#include "host/platform/root.hpp"

namespace enginehost::platform {

struct ToolkitPlace {
  std::string folder;
  std::string source;
  bool named =
      false;  // named by a variable, a compiler in PATH or an installer's entry: worth a note if it is empty
};

// Returns folders that may hold a toolkit, the explicitly named ones first. Some may not exist and some may
// occur twice.
std::vector<ToolkitPlace> toolkit_places(const Root& root);
// Describes where toolkit_places() looks, for the fact that says "absent".
std::string toolkit_places_text();
// The folder of a toolkit's libraries, below the toolkit: "/lib64".
const char* toolkit_library_folder();

// Returns the absolute folders that CUDA_HOME, CUDA_PATH and similar variables name.
std::vector<ToolkitPlace> toolkits_of_variables(const Variables& variables);

struct RuntimeName {
  std::string version, file;  // "11.0", "libcudart.so.11.0"
};
// Returns the CUDA runtimes that a loader may find without a toolkit, newest first.
std::vector<RuntimeName> runtime_names();
// "libcudart.so.* the loader would find"
std::string runtimes_text();

// "libcudnn.so.9" for "9".
std::string cudnn_file(const std::string& major);
// The folders of a toolkit that may hold that file.
std::vector<std::string> cudnn_folders();
// Returns the version in the name of a cuDNN library: "8.9.7" or "9".
std::string version_in_cudnn_name(const std::string& path);
// The folder of the header of a cuDNN that lies outside of toolkits.
std::string cudnn_header_folder(const std::string& library);

}  // namespace enginehost::platform
