#include <dlfcn.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/files.hpp"
#include "base/process.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;

// Of an absolute path; plain calls, since these run at every open, where std::filesystem's first use costs
// more than they do.
fs::path folder_of(std::string_view file) {
  const std::size_t slash = file.find_last_of('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? fs::path("/") : fs::path(file.substr(0, slash));
}

}  // namespace

fs::path executable_folder() { return folder_of(executable_path()); }

fs::path library_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&library_folder), &info) == 0 || info.dli_fname == nullptr)
    return executable_folder();
  // The program itself is named as it was started ("./tool"); a library as the loader found it.
  char real[PATH_MAX];
  if (::realpath(info.dli_fname, real) == nullptr) return executable_folder();
  return folder_of(real);
}

}  // namespace enginehost
