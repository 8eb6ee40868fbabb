#include "engines/onnxruntime/system.hpp"

#include <unistd.h>  // for mkdtemp too, on macOS

#include <cerrno>

#include "engines/support/runtime_library.hpp"

namespace enginehost::engines::onnxruntime {

const char* const runtime_name = "libonnxruntime.so";
const char* const provider_name = "libonnxruntime_providers_cuda.so";
const char* const driver_name = "libcuda.so.1";

PathText path_for_runtime(const std::string& utf8) { return utf8; }

std::string real_path(const std::string& path) { return engines::real_path(path); }

bool leaves_the_view(const std::string& path) { return engines::leaves_the_view(path); }

std::string beside(const std::string& file, const char* name) {
  const size_t slash = file.rfind('/');
  return (slash == std::string::npos ? "" : file.substr(0, slash + 1)) + name;
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

int why_unreadable(const char* path) { return access(path, R_OK) == 0 ? 0 : errno; }

std::filesystem::path make_private_folder() {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "enginehost-XXXXXX").native();
  if (error || mkdtemp(pattern.data()) == nullptr) return {};
  return pattern;
}

void* open_library(const std::string& path, bool for_good, std::string& problem) {
  return engines::open_library(path, for_good, problem);
}

void* find_symbol(void* library, const char* name) { return engines::find_symbol(library, name); }

void* find_own_symbol(void* library, const std::string& file, const char* name) {
  void* symbol = dlsym(library, name);
  Dl_info where{};
  // dlsym also searches the library's dependencies.
  if (symbol == nullptr || dladdr(symbol, &where) == 0 || real_path(where.dli_fname) != file) return nullptr;
  return symbol;
}

std::string missing_library_in(const std::string& loader_text) {
  return engines::missing_library_in(loader_text);
}

}  // namespace enginehost::engines::onnxruntime
