#include <dlfcn.h>
#ifndef __APPLE__
#include <link.h>
#endif

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/files.hpp"
#include "base/process.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;

// Returns the folder of an absolute path. Plain text calls, because the first use of std::filesystem costs
// more than these, and every open runs them.
fs::path folder_of(std::string_view file) {
  const std::size_t slash = file.find_last_of('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? fs::path("/") : fs::path(file.substr(0, slash));
}

// Returns whether the address is in the program. The loader's name of the program is its start name, which
// may be found elsewhere ("tool", from PATH).
#ifdef __APPLE__
bool is_of_the_program(const void*) { return false; }  // dyld has the program's path
#else
bool is_of_the_program(const void* code) {
  const auto address = reinterpret_cast<ElfW(Addr)>(code);
  return ::dl_iterate_phdr(
             [](dl_phdr_info* program, std::size_t, void* wanted) {
               // The first object is the program: 1 if the address is in it, 2 if not.
               const ElfW(Addr) at = *static_cast<const ElfW(Addr)*>(wanted) - program->dlpi_addr;
               for (int i = 0; i < program->dlpi_phnum; ++i)
                 if (const auto& segment = program->dlpi_phdr[i]; segment.p_type == PT_LOAD &&
                                                                  at >= segment.p_vaddr &&
                                                                  at - segment.p_vaddr < segment.p_memsz)
                   return 1;
               return 2;
             },
             const_cast<ElfW(Addr)*>(&address)) == 1;
}
#endif

}  // namespace

std::string library_name() {
  const auto* const code = reinterpret_cast<const void*>(&library_name);
  Dl_info info{};
  if (is_of_the_program(code) || ::dladdr(code, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

fs::path executable_folder() { return folder_of(executable_path()); }

fs::path library_folder() {
  char real[PATH_MAX];
  const std::string name = library_name();
  if (name.empty()) return executable_folder();
  if (::realpath(name.c_str(), real) != nullptr) return folder_of(real);
  // Without readable links, use the loader's name.
  return name.front() == '/' ? folder_of(name) : executable_folder();
}

}  // namespace enginehost
