// Converts our os and arch to the names that registries use: those of the Go language (GOOS, GOARCH).
#pragma once
#include <string>
#include <string_view>

namespace enginehost::oci {

struct PlatformName {
  std::string os, architecture, variant;
};

// Returns linux/amd64 for ("linux", "x86_64") and darwin/arm64 for ("macos", "arm64"). Names without another
// form stay unchanged.
PlatformName platform_name(std::string_view os, std::string_view arch);

}  // namespace enginehost::oci
