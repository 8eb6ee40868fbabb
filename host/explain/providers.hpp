// Packages that contain well-known libraries, so that a missing library is reported with the package to
// install.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "host/vendor_facts/vendor_facts.hpp"

namespace enginehost::explain {

using Provider = vendor::Library;

// All known libraries, of the table that this process uses.
std::span<const Provider> all_providers();

// Returns the entry for a SONAME, DLL or file name: "libcudart.so.12", "/x/libgomp.so.1", "MSVCP140.dll",
// "@rpath/libomp.dylib". nullptr for an unknown name.
const Provider* provider_of(std::string_view library);

// Returns "CUDA runtime 12: Debian package …, conda package …, package index …", a part of a sentence; empty
// for an unknown name.
std::string provider_text(std::string_view library);

}  // namespace enginehost::explain
