#include "engines/onnxruntime/system.hpp"

#include <cerrno>

namespace enginehost::engines::onnxruntime {

const char* const runtime_name = "onnxruntime.dll";
const char* const provider_name = "onnxruntime_providers_cuda.dll";

PathText path_for_runtime(const std::string& utf8) { return path_of(utf8).make_preferred().native(); }

std::string beside(const std::string& file, const char* name) {
  return text_of(path_of(file).replace_filename(name));
}

int why_unreadable(const char* path) {
  constexpr int for_reading = 4;  // _waccess has no names for its modes
  return _waccess(path_of(path).c_str(), for_reading) == 0 ? 0 : errno;
}

std::filesystem::path make_private_folder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return {};
  const DWORD process = ::GetCurrentProcessId();
  for (int number = 0; number < 100; number++) {
    const std::filesystem::path own = folder / ("enginehost-" + std::to_string(process) + "-" +
                                                std::to_string(::GetTickCount64()) + std::to_string(number));
    // false without an error: it existed already.
    if (std::filesystem::create_directory(own, error)) return own;
    if (error) return {};
  }
  return {};
}

// GetProcAddress searches only this file; a function that it forwards to another file counts as its own.
void* find_own_symbol(void* library, const std::string&, const char* name) {
  return find_symbol(library, name);
}

}  // namespace enginehost::engines::onnxruntime
