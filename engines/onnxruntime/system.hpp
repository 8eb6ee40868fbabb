// What this adapter asks of the system that each has in its own way: the runtime's files, the dynamic loader,
// and paths as ONNX Runtime takes them.
#pragma once
#include <filesystem>
#include <string>

namespace enginehost::engines::onnxruntime {

extern const char* const runtime_name;   // of ONNX Runtime's file, where none was found
extern const char* const provider_name;  // of its provider for CUDA, which lies beside it
extern const char* const driver_name;    // of NVIDIA's driver, as the loader finds it

// Characters of a path in ONNX Runtime's interface (ORTCHAR_T): those of the system's own paths.
using PathText = std::filesystem::path::string_type;
// A text of the plugin interface, in UTF-8, as such a path.
PathText path_for_runtime(const std::string& utf8);

// The path with nothing in it that only leads to another; the path itself when that cannot be told.
std::string real_path(const std::string& path);
// Whether a path inside the installed build would lead out of it.
bool leaves_the_view(const std::string& path);
// The file of that name in the folder of `file`.
std::string beside(const std::string& file, const char* name);
bool exists(const std::string& path);
// 0, or the errno that says why the file cannot be read.
int why_unreadable(const char* path);
// A folder for this process alone, below the system's for temporary ones; empty when none can be made.
std::filesystem::path make_private_folder();

// Loads a library, its dependencies from its own folder and from those that the process looks in; with
// `for_good` it is never unloaded. nullptr, and in `problem` what the loader says.
void* open_library(const std::string& path, bool for_good, std::string& problem);
void* find_symbol(void* library, const char* name);
// The same only where that file itself defines it, not one that it needs; `file` is a real path.
void* find_own_symbol(void* library, const std::string& file, const char* name);
// The library that the loader did not find, in what it said; empty where it names none.
std::string missing_library_in(const std::string& loader_text);

}  // namespace enginehost::engines::onnxruntime
