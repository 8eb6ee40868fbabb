// The engines that can be recognized and how, one row each.
#pragma once
#include <span>
#include <string_view>
#include <vector>

namespace enginehost::installations {

struct KnownEngine {
  std::string_view engine;
  std::vector<std::string_view> python_names;  // packages that bring it, as the package index spells them
  std::vector<std::string_view> conda_names;
  std::string_view debian_prefix;  // "libtorch"; empty: none is known
  std::vector<std::string_view>
      package_folders;  // below a folder of Python packages: the folders of its libraries
  std::string_view version_file, version_name;   // a Python file below that, and the name it assigns
  std::vector<std::string_view> main_libraries;  // file names without version; the first that exists counts
  std::vector<std::string_view>
      other_libraries;                           // its own, opened with the main library or by it at run time
  std::vector<std::string_view> cuda_libraries;  // if one of them exists, the engine was compiled for CUDA
  std::vector<std::string_view> rocm_libraries;
  std::string_view abi_library,
      abi_symbol;  // the library whose exported name shows the C++ ABI; empty: the interface is C
};

std::span<const KnownEngine> known_engines();
const KnownEngine* find_engine(std::string_view engine);  // or nullptr

}  // namespace enginehost::installations
