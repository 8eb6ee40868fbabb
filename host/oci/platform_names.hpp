// The names that registries have for what we call os and arch: those of the Go language (GOOS, GOARCH).
#pragma once
#include <string>
#include <string_view>

namespace enginehost::oci {

struct PlatformName {
  std::string os, architecture, variant;
};

// ("linux", "x86_64") is linux/amd64, ("macos", "arm64") is darwin/arm64. Names without another form stay as
// they are.
PlatformName platform_name(std::string_view os, std::string_view arch);

}  // namespace enginehost::oci
