// A machine that was recorded with engine-info --platform-json, as --platform FILE names it.
#pragma once
#include <string>

#include "base/result.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::commands {

// EH-P47, EH-M01, EH-M02: of a file that a person named.
Result<platform::Platform> recorded_platform(const std::string& file);

}  // namespace enginehost::commands
