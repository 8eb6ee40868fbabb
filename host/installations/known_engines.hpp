// The engines that can be recognized, and by what: one row each.
#pragma once
#include <span>
#include <string_view>
#include <vector>

namespace enginehost::installations {

struct KnownEngine {
  std::string_view engine;
  std::vector<std::string_view> python_names;  // packages that bring it, as the index spells them
  std::vector<std::string_view> conda_names;
  std::string_view debian_prefix;  // "libtorch"; empty: none is known
  std::vector<std::string_view>
      package_folders;                           // below a folder of Python packages, where its libraries lie
  std::string_view version_file, version_name;   // a Python file below that, and what it assigns
  std::vector<std::string_view> main_libraries;  // file names without version; the first that is there counts
  std::vector<std::string_view> other_libraries;  // its own, opened with the main one or by it at run time
  std::vector<std::string_view> cuda_libraries;   // one of them there: compiled for CUDA
  std::vector<std::string_view> rocm_libraries;
  std::string_view abi_library,
      abi_symbol;  // whose exported name tells the C++ ABI; empty: the interface is C
};

std::span<const KnownEngine> known_engines();
const KnownEngine* find_engine(std::string_view engine);  // or nullptr

}  // namespace enginehost::installations
