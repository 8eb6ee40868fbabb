#include "engines/onnxruntime/library_search.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

namespace enginehost::engines::onnxruntime {
namespace {

// True for libonnxruntime.so, .so.1, .so.1.22.0, or macOS's libonnxruntime.1.22.0.dylib; not for
// libonnxruntime_providers_*.so.
bool is_runtime(const char* name) {
  constexpr char stem[] = "libonnxruntime.";
  if (std::strncmp(name, stem, sizeof stem - 1) != 0) return false;
  const char* rest = name + sizeof stem - 1;
  size_t length = std::strlen(rest);
  bool elf = std::strcmp(rest, "so") == 0 || std::strncmp(rest, "so.", 3) == 0;
  return elf || (length >= 5 && std::strcmp(rest + length - 5, "dylib") == 0);
}

void search(const std::string& folder, int depth, std::vector<std::string>& out) {
  DIR* open = opendir(folder.c_str());
  if (open == nullptr) return;
  std::vector<std::string> folders, files;
  while (const dirent* entry = readdir(open)) {
    if (entry->d_name[0] == '.') continue;
    std::string path = folder + "/" + entry->d_name;
    struct stat info;
    if (is_runtime(entry->d_name)) {
      if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) files.push_back(path);
    } else if (depth > 0 && lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      folders.push_back(path);
    }
  }
  closedir(open);
  std::sort(files.begin(), files.end());
  out.insert(out.end(), files.begin(), files.end());
  std::sort(folders.begin(), folders.end());
  for (const std::string& next : folders) search(next, depth - 1, out);
}

}  // namespace

std::vector<std::string> find_libraries(const std::string& root) {
  std::vector<std::string> found, out;
  for (const char* likely : {"/onnxruntime/capi", "/lib", ""})
    search(root + likely, *likely == '\0' ? 4 : 0, found);
  std::vector<std::pair<dev_t, ino_t>> seen;
  for (const std::string& path : found) {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) continue;
    std::pair<dev_t, ino_t> file(info.st_dev, info.st_ino);
    if (std::find(seen.begin(), seen.end(), file) != seen.end()) continue;
    seen.push_back(file);
    out.push_back(path);
  }
  return out;
}

}  // namespace enginehost::engines::onnxruntime
