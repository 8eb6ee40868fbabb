#include "engines/onnxruntime/library_search.hpp"

#include <algorithm>
#include <cwchar>

#include "engines/support/runtime_library.hpp"

namespace enginehost::engines::onnxruntime {
namespace {

namespace fs = std::filesystem;

void search(const fs::path& folder, int depth, std::vector<fs::path>& out) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code unknown;
    // File names are not case sensitive.
    if (_wcsicmp(path.filename().c_str(), L"onnxruntime.dll") == 0) {
      if (entry->is_regular_file(unknown)) out.push_back(path);
    } else if (depth > 0 && entry->is_directory(unknown) && !entry->is_symlink(unknown)) {
      folders.push_back(path);
    }
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& next : folders) search(next, depth - 1, out);
}

}  // namespace

std::vector<std::string> find_libraries(const std::string& root) {
  std::vector<fs::path> found;
  for (const char* likely : {"onnxruntime/capi", "lib", ""}) {
    const fs::path folder = path_of(root) / likely;
    search(folder, *likely == '\0' ? 4 : 0, found);
  }
  std::vector<std::string> out;
  for (fs::path& path : found) {
    const std::string text = text_of(path.make_preferred());
    if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
  }
  return out;
}

}  // namespace enginehost::engines::onnxruntime
