// Packages that contain well-known libraries, so that a missing library is reported with the package to
// install.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace enginehost::explain {

// One library and its packages. An empty member: not offered there, or not known for certain. Static data.
struct Provider {
  std::string_view file{};           // a whole SONAME or DLL name, or its beginning up to ".so"
  std::string_view what{};           // "CUDA runtime 12", "NVIDIA driver"
  std::string_view conda{};          // channels conda-forge and nvidia; from their documents, not verified
  std::string_view package_index{};  // the usual Python package index
  std::string_view nvidia{};         // NVIDIA's own repositories, for apt and dnf alike
  std::string_view debian{};         // Debian and Ubuntu
  std::string_view other{};  // a source outside package managers: a driver, the Visual C++ Redistributable
  // In the repositories of Fedora and RHEL, where the library's name selects the package; not verified.
  bool fedora = false;
  bool conda_forge = false;  // `conda` was compared with the list of conda-forge
};

// All known libraries.
std::span<const Provider> all_providers();

// Returns the entry for a SONAME, DLL or file name: "libcudart.so.12", "/x/libgomp.so.1", "MSVCP140.dll",
// "@rpath/libomp.dylib". nullptr for an unknown name.
const Provider* provider_of(std::string_view library);

// Returns "CUDA runtime 12: Debian package …, conda package …, package index …", a part of a sentence; empty
// for an unknown name.
std::string provider_text(std::string_view library);

}  // namespace enginehost::explain
