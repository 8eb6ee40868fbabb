#include "engines/onnxruntime/system.hpp"

#include <unistd.h>  // for mkdtemp too, on macOS

#include <cerrno>

namespace enginehost::engines::onnxruntime {

const char* const runtime_name = "libonnxruntime.so";
const char* const provider_name = "libonnxruntime_providers_cuda.so";

PathText path_for_runtime(const std::string& utf8) { return utf8; }

std::string beside(const std::string& file, const char* name) {
  const size_t slash = file.rfind('/');
  return (slash == std::string::npos ? "" : file.substr(0, slash + 1)) + name;
}

int why_unreadable(const char* path) { return access(path, R_OK) == 0 ? 0 : errno; }

std::filesystem::path make_private_folder() {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "enginehost-XXXXXX").native();
  if (error || mkdtemp(pattern.data()) == nullptr) return {};
  return pattern;
}

void* find_own_symbol(void* library, const std::string& file, const char* name) {
  void* symbol = dlsym(library, name);
  Dl_info where{};
  // dlsym also searches the library's dependencies.
  if (symbol == nullptr || dladdr(symbol, &where) == 0 || real_path(where.dli_fname) != file) return nullptr;
  return symbol;
}

}  // namespace enginehost::engines::onnxruntime
