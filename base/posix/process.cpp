#include "base/process.hpp"

#include <dlfcn.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"

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

void fill_with_random_bytes(unsigned char* into, std::size_t size) {
  for (std::size_t got = 0; got < size;) {
    const ssize_t more = ::getrandom(into + got, size - got, 0);
    if (more > 0) got += static_cast<std::size_t>(more);
  }
}

std::string boot_id() { return read_kernel_file("/proc/sys/kernel/random/boot_id"); }

// Field 22 of /proc/PID/stat.
std::string start_time_of_process(std::int64_t process) {
  const std::string text = read_kernel_file("/proc/" + std::to_string(process) + "/stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  const auto fields = split(std::string_view(text).substr(std::min(text.size(), name_end + 2)), ' ');
  return fields.size() > 19 ? fields[19] : "";
}

std::string effective_user() { return std::to_string(::geteuid()); }

std::string executable_path() {
  char target[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", target, sizeof target);
  return {target, length > 0 ? static_cast<std::size_t>(length) : 0};
}

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
