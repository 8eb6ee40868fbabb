// System-specific operations: the runtime's files, the dynamic loader, and paths in ONNX Runtime's form.
#pragma once
#include <filesystem>
#include <string>

namespace enginehost::engines::onnxruntime {

extern const char* const runtime_name;   // default file name of ONNX Runtime
extern const char* const provider_name;  // its CUDA provider, in the same folder
extern const char* const driver_name;    // NVIDIA's driver, as the loader finds it

// Characters of a path in ONNX Runtime's interface (ORTCHAR_T): those of the system's own paths.
using PathText = std::filesystem::path::string_type;
// Converts a UTF-8 path of the plugin interface.
PathText path_for_runtime(const std::string& utf8);

// Resolves symbolic links; returns the path itself when that fails.
std::string real_path(const std::string& path);
// True if a path inside the installed build would lead out of it.
bool leaves_the_view(const std::string& path);
// Returns the file of that name in the folder of `file`.
std::string beside(const std::string& file, const char* name);
bool exists(const std::string& path);
// Returns 0, or the errno of the failed access.
int why_unreadable(const char* path);
// Makes a folder for this process alone below the system's temporary folder; empty when that fails.
std::filesystem::path make_private_folder();

// Loads a library, with its dependencies from its own folder and from the process's search folders. With
// `for_good` it is never unloaded. On failure returns nullptr and the loader's text in `problem`.
void* open_library(const std::string& path, bool for_good, std::string& problem);
void* find_symbol(void* library, const char* name);
// Same, but only if that file itself defines it and not a library that it needs; `file` is a real path.
void* find_own_symbol(void* library, const std::string& file, const char* name);
// Returns the missing library that the loader's text names; empty when it names none.
std::string missing_library_in(const std::string& loader_text);

}  // namespace enginehost::engines::onnxruntime
