// System-specific operations: the runtime's files, the dynamic loader, and paths in ONNX Runtime's form.
#pragma once
#include <filesystem>
#include <string>

#include "engines/support/runtime_library.hpp"

namespace enginehost::engines::onnxruntime {

extern const char* const runtime_name;   // default file name of ONNX Runtime
extern const char* const provider_name;  // its CUDA provider, in the same folder

// Characters of a path in ONNX Runtime's interface (ORTCHAR_T): those of the system's own paths.
using PathText = std::filesystem::path::string_type;
// Converts a UTF-8 path of the plugin interface.
PathText path_for_runtime(const std::string& utf8);

// Returns the file of that name in the folder of `file`.
std::string beside(const std::string& file, const char* name);
// Returns 0, or the errno of the failed access.
int why_unreadable(const char* path);
// Makes a folder for this process alone below the system's temporary folder; empty when that fails.
std::filesystem::path make_private_folder();

// As find_symbol(), but only if that file itself defines it and not a library that it needs; `file` is a real
// path.
void* find_own_symbol(void* library, const std::string& file, const char* name);

}  // namespace enginehost::engines::onnxruntime
