// Which package brings a well-known library: data, so that a missing library comes with the name to install.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace enginehost::explain {

// Empty members: not offered there. Package-index names are those of the usual Python package index.
struct Provider {
  std::string what;  // "CUDA runtime 12", "NVIDIA driver (user-mode part)"
  std::string debian, conda, package_index;
  std::string vendor;              // what the vendor calls it, for what no package manager brings
  bool comes_with_driver = false;  // installed with the NVIDIA driver; no package of libraries may bring it
};

// For a SONAME or file name: "libcudart.so.12", "libgomp.so.1". Nothing for names it does not know.
std::optional<Provider> provider_of(std::string_view library);

// "CUDA runtime 12: Debian package …, conda …, package index …", one sentence part; empty for unknown names.
std::string provider_text(std::string_view library);

}  // namespace enginehost::explain
