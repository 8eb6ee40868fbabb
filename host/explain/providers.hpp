// Which package brings a well-known library: data, so that a missing library comes with the name to install.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace enginehost::explain {

// One library and where it comes from; empty members: not offered there, or not known for certain. Static
// data.
struct Provider {
  std::string_view file{};           // a whole SONAME or DLL name, or its beginning up to and with ".so"
  std::string_view what{};           // "CUDA runtime 12", "NVIDIA driver"
  std::string_view debian{};         // Debian and Ubuntu
  std::string_view conda{};          // channels conda-forge and nvidia; from their documents, not verified
  std::string_view package_index{};  // the usual Python package index
  std::string_view nvidia{};         // NVIDIA's own repositories, for apt and dnf alike
  std::string_view other{};  // what no package manager brings: a driver, the Visual C++ Redistributable
  // In the repositories of Fedora and RHEL, where a package is asked for by the name of the library; not
  // verified.
  bool fedora = false;
  bool comes_with_driver = false;  // installed with the NVIDIA driver; no package of libraries may bring it
};

// Every library that is known: NVIDIA's, then all others; longer names before those that are their beginning.
std::span<const Provider> all_providers();
std::span<const Provider> nvidia_libraries();
std::span<const Provider> other_libraries();

// For a SONAME, DLL or file name: "libcudart.so.12", "/x/libgomp.so.1", "MSVCP140.dll",
// "@rpath/libomp.dylib". nullptr for names it does not know.
const Provider* provider_of(std::string_view library);

// "CUDA runtime 12: Debian package …, conda package …, package index …", one sentence part; empty for unknown
// names.
std::string provider_text(std::string_view library);

}  // namespace enginehost::explain
